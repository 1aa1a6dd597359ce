// The meaning of every option: what a key sets in the model.
#include "config/build.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/draft.h"
#include "config/fields.h"
#include "config/model.h"
#include "config/scalar.h"

namespace ringway::config {

namespace {

template <class T>
void assign(T& target, const Slots& slots, FieldId id) {
  if (const T* value = slots.get<T>(id)) {
    target = *value;
  }
}

template <class E>
void assign_choice(E& target, const Slots& slots, FieldId id) {
  if (const auto* index = slots.get<Number>(id)) {
    target = static_cast<E>(index->value);  // words stand in the order of the enum
  }
}

void assign_key(std::optional<std::uint32_t>& target, const Slots& slots, FieldId id) {
  if (const auto* key = slots.get<Number>(id)) {
    target = key->value;
  }
}

// `key`, `csum` and `seq` mean both directions; the keys with i and o in front override one.
void build_gre(Tunnel& tunnel, const Slots& slots) {
  for (const FieldId id : {FieldId::key, FieldId::ikey}) {
    assign_key(tunnel.ikey, slots, id);
  }
  for (const FieldId id : {FieldId::key, FieldId::okey}) {
    assign_key(tunnel.okey, slots, id);
  }
  for (const FieldId id : {FieldId::csum, FieldId::icsum}) {
    assign(tunnel.icsum, slots, id);
  }
  for (const FieldId id : {FieldId::csum, FieldId::ocsum}) {
    assign(tunnel.ocsum, slots, id);
  }
  for (const FieldId id : {FieldId::seq, FieldId::iseq}) {
    assign(tunnel.iseq, slots, id);
  }
  for (const FieldId id : {FieldId::seq, FieldId::oseq}) {
    assign(tunnel.oseq, slots, id);
  }
  assign(tunnel.strict_csum, slots, FieldId::strict_csum);
}

void build_outer(Tunnel& tunnel, const Slots& slots) {
  if (const auto* ttl = slots.get<Number>(FieldId::ttl)) {
    tunnel.ttl = static_cast<std::uint8_t>(ttl->value);  // 0 for the word inherit
  }
  if (const auto* tos = slots.get<Number>(FieldId::tos)) {
    tunnel.tos = {.inherit = tos->is_word, .value = static_cast<std::uint8_t>(tos->value)};
  }
  assign_choice(tunnel.ecn, slots, FieldId::ecn);
  assign(tunnel.pmtudisc, slots, FieldId::pmtudisc);
  assign(tunnel.ignore_df, slots, FieldId::ignore_df);
}

Tunnel build_tunnel(const TunnelDraft& draft) {
  const Slots& slots = draft.slots;
  Tunnel tunnel;
  tunnel.name = draft.name;
  tunnel.interface = draft.name;
  tunnel.kind = draft.kind.value_or(Kind::gre);
  assign(tunnel.interface, slots, FieldId::interface);
  assign(tunnel.local, slots, FieldId::local);
  assign(tunnel.remote, slots, FieldId::remote);
  build_gre(tunnel, slots);
  build_outer(tunnel, slots);
  if (const auto* mtu = slots.get<Number>(FieldId::mtu); mtu != nullptr && !mtu->is_word) {
    tunnel.mtu = mtu->value;
  }
  if (const auto* addresses = slots.get<std::vector<PrefixItem>>(FieldId::addresses)) {
    for (const PrefixItem& item : *addresses) {
      tunnel.addresses.push_back(item.prefix);
    }
  }
  if (const auto* routes = slots.get<std::vector<PrefixItem>>(FieldId::routes)) {
    for (const PrefixItem& item : *routes) {
      tunnel.routes.push_back({.to = item.prefix, .metric = item.metric});
    }
  }
  return tunnel;
}

}  // namespace

Config build_config(const Draft& draft) {
  Config config;
  assign_choice(config.daemon.engine, draft.settings, FieldId::engine);
  assign_choice(config.daemon.log_level, draft.settings, FieldId::log_level);
  config.tunnels.reserve(draft.tunnels.size());
  for (const TunnelDraft& tunnel : draft.tunnels) {
    config.tunnels.push_back(build_tunnel(tunnel));
  }
  for (const PrefixItem& item : draft.transit) {
    config.routes.push_back({.to = item.prefix, .via = item.via, .metric = item.metric});
  }
  return config;
}

}  // namespace ringway::config
