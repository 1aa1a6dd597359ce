// Checks within one tunnel, and of tunnels against each other. Routes are in loops.cc.
#include "config/validate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "config/codes.h"
#include "config/draft.h"
#include "config/fields.h"
#include "config/model.h"
#include "config/report.h"
#include "config/source.h"
#include "netio/wire/address.h"

namespace ringway::config {

namespace {

// A tunnel as written and as meant.
struct Pair {
  const TunnelDraft& draft;
  const Tunnel& tunnel;

  [[nodiscard]] const Slot& slot(FieldId id) const { return draft.slots[id]; }
  [[nodiscard]] bool are_sound(std::initializer_list<FieldId> ids) const {
    return std::all_of(ids.begin(), ids.end(),
                       [this](FieldId id) { return draft.slots[id].is_sound(); });
  }
  // Where a value stands, in the tunnel or in `defaults`; the tunnel's name if nowhere.
  [[nodiscard]] Span at(FieldId id) const {
    const Slot& written = draft.slots[id];
    return written.is_given() ? written.value->span : draft.key->span;
  }
  [[nodiscard]] const std::vector<PrefixItem>& items(FieldId id) const {
    static const std::vector<PrefixItem> none;
    const auto* list = draft.slots.get<std::vector<PrefixItem>>(id);
    return list == nullptr ? none : *list;
  }
};

std::string tunnel_text(const Tunnel& tunnel) {
  return "tunnel " + quoted(tunnel.name);
}

class Validator {
 public:
  Validator(const Draft& draft, const Config& config, Report& report)
      : draft_{draft}, config_{config}, report_{report} {}

  void run();

 private:
  [[nodiscard]] Pair pair(std::size_t index) const {
    return {draft_.tunnels[index], config_.tunnels[index]};
  }
  [[nodiscard]] std::size_t line_of(Span span) const {
    return report_.source().position(span.offset).line;
  }

  void check_overrides(const Pair& pair);
  void check_endpoints(const Pair& pair);
  void check_fragmenting(const Pair& pair);
  void check_hints(const Pair& pair);
  void check_families(const Pair& pair);
  void check_addresses(const Pair& pair);
  void check_mtu(const Pair& pair, std::optional<std::string> ipv6_use);
  void check_interfaces();
  void check_identities();
  void check_shared_addresses();
  void check_transit();
  [[nodiscard]] std::optional<std::string> ipv6_use(const Pair& pair) const;
  void refuse_family(const Tunnel& tunnel, Span where, std::string_view what,
                     const wire::IpPrefix& prefix);

  const Draft& draft_;
  const Config& config_;
  Report& report_;
};

void Validator::run() {
  for (std::size_t i = 0; i < draft_.tunnels.size(); ++i) {
    const Pair tunnel = pair(i);
    check_overrides(tunnel);
    check_endpoints(tunnel);
    check_fragmenting(tunnel);
    check_hints(tunnel);
    check_addresses(tunnel);
    if (tunnel.draft.kind) {
      check_families(tunnel);
      check_mtu(tunnel, ipv6_use(tunnel));
    }
  }
  check_interfaces();
  check_identities();
  check_shared_addresses();
  check_transit();
}

// `key` with both of ikey and okey would have no effect, which nobody can have meant.
void Validator::check_overrides(const Pair& pair) {
  struct Triple {
    FieldId both;
    FieldId in;
    FieldId out;
  };
  constexpr std::array kTriples = {Triple{FieldId::key, FieldId::ikey, FieldId::okey},
                                   Triple{FieldId::csum, FieldId::icsum, FieldId::ocsum},
                                   Triple{FieldId::seq, FieldId::iseq, FieldId::oseq}};
  for (const Triple& triple : kTriples) {
    const Slot& both = pair.slot(triple.both);
    if (both.is_given() && pair.slot(triple.in).is_given() && pair.slot(triple.out).is_given()) {
      report_
          .error(Code::overridden_twice, both.key->span,
                 fmt::format("'{}' has no effect in {}, since '{}' and '{}' are given",
                             field(triple.both).name(), tunnel_text(pair.tunnel),
                             field(triple.in).name(), field(triple.out).name()))
          .hint = "leave it out, or one of the other two";
    }
  }
}

void Validator::check_endpoints(const Pair& pair) {
  const auto* local = std::get_if<wire::Ipv4Address>(&pair.tunnel.local);
  const auto* remote = std::get_if<wire::Ipv4Address>(&pair.tunnel.remote);
  const bool has_remote = pair.slot(FieldId::remote).is_given();
  if (local != nullptr && remote != nullptr && has_remote && *local == *remote &&
      pair.are_sound({FieldId::remote})) {
    report_
        .error(Code::local_is_remote, pair.at(FieldId::remote),
               fmt::format("local and remote of {} are both {}", tunnel_text(pair.tunnel),
                           to_string(*local)))
        .hint = "'remote' is the other end's address";
  }
  const auto* name = std::get_if<InterfaceName>(&pair.tunnel.local);
  if (name != nullptr && name->name == pair.tunnel.interface) {
    report_
        .error(Code::unusable_local, pair.at(FieldId::local),
               fmt::format("'local' of {} is the tunnel's own interface {}",
                           tunnel_text(pair.tunnel), quoted(name->name)))
        .hint = "the interface that leads to the remote, such as eth0";
  }
  for (const PrefixItem& item : pair.items(FieldId::addresses)) {
    if (local != nullptr && item.prefix.address == wire::IpAddress{*local}) {
      report_
          .error(Code::unusable_local, pair.at(FieldId::local),
                 fmt::format("'local' of {} is an address inside the tunnel",
                             tunnel_text(pair.tunnel)))
          .hint = "an address of the interface that leads to the remote";
    }
  }
}

// The kernel refuses the pair as well (net/ipv4/ip_gre.c ipgre_netlink_parms): one says that outer
// packets are never fragmented, the other that they may be.
void Validator::check_fragmenting(const Pair& pair) {
  if (!pair.are_sound({FieldId::ignore_df, FieldId::pmtudisc}) || !pair.tunnel.ignore_df ||
      !pair.tunnel.pmtudisc) {
    return;
  }
  const Slot& pmtudisc = pair.slot(FieldId::pmtudisc);
  auto& error = report_.error(
      Code::ignore_df_with_pmtudisc, pair.at(FieldId::ignore_df),
      fmt::format("'ignore_df' needs 'pmtudisc: false' in {}", tunnel_text(pair.tunnel)));
  error.hint = pmtudisc.is_given()
                   ? fmt::format("pmtudisc is true in line {}", line_of(pmtudisc.value->span))
                   : "pmtudisc is true unless set";
}

// Not wrong, but not what it looks like.
void Validator::check_hints(const Pair& pair) {
  if (pair.tunnel.strict_csum && pair.tunnel.icsum &&
      pair.are_sound({FieldId::csum, FieldId::icsum})) {
    report_
        .warning(Code::strict_csum_idle, pair.at(FieldId::strict_csum),
                 fmt::format("'strict_csum' has no effect in {}, which asks for checksums",
                             tunnel_text(pair.tunnel)))
        .hint = "it is about tunnels whose icsum is false";
  }
  constexpr std::uint8_t kEcnBits = 3;  // RFC 3168 section 5
  if (!pair.tunnel.tos.inherit && (pair.tunnel.tos.value & kEcnBits) != 0) {
    report_
        .warning(Code::tos_ecn_bits, pair.at(FieldId::tos),
                 fmt::format("the two lowest bits of tos {} are not used", pair.tunnel.tos.value))
        .hint = fmt::format("'ecn' makes them; write {}", pair.tunnel.tos.value & ~kEcnBits);
  }
}

void Validator::refuse_family(const Tunnel& tunnel, Span where, std::string_view what,
                              const wire::IpPrefix& prefix) {
  const bool takes_ipv4 = tunnel.kind != Kind::sit;
  const bool takes_ipv6 = tunnel.kind != Kind::ipip;
  if (prefix.is_ipv4() ? takes_ipv4 : takes_ipv6) {
    return;
  }
  report_
      .error(Code::family_not_carried, where,
             fmt::format("{} {} does not fit {}: {} carries {} only", what, to_string(prefix),
                         tunnel_text(tunnel), name(tunnel.kind), takes_ipv4 ? "IPv4" : "IPv6"))
      .hint = prefix.is_ipv4() ? "type gre or ipip carries IPv4" : "type gre or sit carries IPv6";
}

void Validator::check_families(const Pair& pair) {
  for (const PrefixItem& item : pair.items(FieldId::addresses)) {
    refuse_family(pair.tunnel, item.where, "address", item.prefix);
  }
  for (const PrefixItem& item : pair.items(FieldId::routes)) {
    refuse_family(pair.tunnel, item.where, "route", item.prefix);
  }
}

void Validator::check_addresses(const Pair& pair) {
  const auto& items = pair.items(FieldId::addresses);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const wire::IpPrefix& prefix = items[i].prefix;
    for (std::size_t j = 0; j < i; ++j) {
      if (items[j].prefix.address == prefix.address) {
        report_
            .error(Code::address_twice, items[i].where,
                   fmt::format("address {} stands twice in {}", to_string(prefix.address),
                               tunnel_text(pair.tunnel)))
            .hint = fmt::format("first in line {}", line_of(items[j].where));
        break;
      }
    }
    // On links of two addresses there is no address of the network itself (RFC 3021, RFC 6164).
    const int host_bits = (prefix.is_ipv4() ? 32 : 128) - prefix.length;
    if (host_bits > 1 && network_of(prefix) == prefix) {
      report_
          .warning(Code::network_as_address, items[i].where,
                   fmt::format("{} is the network, not an address in it", to_string(prefix)))
          .hint = "the interface's own address is wanted here";
    }
  }
}

// What needs the tunnel to carry IPv6, in words; empty if nothing does.
std::optional<std::string> Validator::ipv6_use(const Pair& pair) const {
  if (pair.draft.kind == Kind::sit) {
    return "sit carries IPv6";
  }
  for (const wire::IpPrefix& address : pair.tunnel.addresses) {
    if (!address.is_ipv4()) {
      return fmt::format("it has the address {}", to_string(address));
    }
  }
  for (const Route& route : pair.tunnel.routes) {
    if (!route.to.is_ipv4()) {
      return fmt::format("it has the route {}", to_string(route.to));
    }
  }
  for (const TransitRoute& route : config_.routes) {
    if (route.via == pair.tunnel.name && !route.to.is_ipv4()) {
      return fmt::format("the route {} goes through it", to_string(route.to));
    }
  }
  return std::nullopt;
}

// net/ipv4/ip_tunnel.c __ip_tunnel_change_mtu: 68 to 65535 less the headers. Every link that
// carries IPv6 must pass 1280 bytes (RFC 8200 section 5).
void Validator::check_mtu(const Pair& pair, std::optional<std::string> ipv6_use) {
  if (!pair.tunnel.mtu || !pair.are_sound({FieldId::key, FieldId::okey, FieldId::csum,
                                           FieldId::ocsum, FieldId::seq, FieldId::oseq})) {
    return;
  }
  const std::uint32_t mtu = *pair.tunnel.mtu;
  const std::uint32_t overhead = overhead_bytes(pair.tunnel);
  constexpr std::uint32_t kIpv4TotalMax = 65'535;
  if (mtu > kIpv4TotalMax - overhead) {
    report_
        .error(Code::mtu_out_of_range, pair.at(FieldId::mtu),
               fmt::format("mtu {} of {} is too large: outer headers need {} of {} bytes", mtu,
                           tunnel_text(pair.tunnel), overhead, kIpv4TotalMax))
        .hint = fmt::format("at most {}", kIpv4TotalMax - overhead);
  }
  if (ipv6_use && mtu < kMtuMinIpv6) {
    report_
        .error(Code::mtu_below_ipv6, pair.at(FieldId::mtu),
               fmt::format("mtu {} of {} is too small for IPv6, and {}", mtu,
                           tunnel_text(pair.tunnel), *ipv6_use))
        .hint = fmt::format("at least {}", kMtuMinIpv6);
  }
}

void Validator::check_interfaces() {
  std::unordered_map<std::string_view, std::size_t> owners;
  for (std::size_t i = 0; i < draft_.tunnels.size(); ++i) {
    const Pair ours = pair(i);
    if (!ours.are_sound({FieldId::interface})) {
      continue;
    }
    const auto [first, is_new] = owners.emplace(ours.tunnel.interface, i);
    if (is_new) {
      continue;
    }
    const Pair theirs = pair(first->second);
    report_
        .error(
            Code::interface_taken, ours.at(FieldId::interface),
            fmt::format("interface {} of {} belongs to {} already", quoted(ours.tunnel.interface),
                        tunnel_text(ours.tunnel), tunnel_text(theirs.tunnel)))
        .hint = fmt::format("see line {}", line_of(theirs.at(FieldId::interface)));
  }
}

// Host names are the same however they are spelt.
std::string endpoint_text(const Remote& remote) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&remote)) {
    return to_string(*address);
  }
  std::string name = std::get<HostName>(remote).name;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.ends_with('.')) {
    name.pop_back();
  }
  return name;
}

std::string endpoint_text(const Local& local) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&local)) {
    return to_string(*address);
  }
  const auto* interface = std::get_if<InterfaceName>(&local);
  return interface == nullptr ? "any" : interface->name;
}

// A received packet must belong to one tunnel: the kernel's EEXIST (net/ipv4/ip_tunnel.c
// ip_tunnel_find). No key and key 0 are two identities (RFC 2890 section 2.1).
void Validator::check_identities() {
  std::unordered_map<std::string, std::size_t> owners;
  for (std::size_t i = 0; i < draft_.tunnels.size(); ++i) {
    const Pair ours = pair(i);
    if (!ours.draft.kind || !ours.slot(FieldId::remote).is_given() ||
        !ours.are_sound({FieldId::local, FieldId::remote, FieldId::key, FieldId::ikey})) {
      continue;
    }
    const std::string key = ours.tunnel.ikey ? fmt::format("key {}", *ours.tunnel.ikey)
                            : ours.draft.kind == Kind::gre ? "no key"
                                                           : "";
    const std::string identity =
        fmt::format("type {}, local {}, remote {}{}{}", name(ours.tunnel.kind),
                    endpoint_text(ours.tunnel.local), endpoint_text(ours.tunnel.remote),
                    key.empty() ? "" : ", ", key);
    const auto [first, is_new] = owners.emplace(identity, i);
    if (is_new) {
      continue;
    }
    const Pair theirs = pair(first->second);
    report_
        .error(Code::same_identity, ours.draft.key->span,
               fmt::format("{} receives the same packets as {}: {}", tunnel_text(ours.tunnel),
                           tunnel_text(theirs.tunnel), identity))
        .hint = ours.draft.kind == Kind::gre ? "give them different keys or ends"
                                             : "give them different ends";
  }
}

// The same address on several unnumbered links is usual (host prefixes, link-local addresses). On
// two networks it is most likely a copy that was not adapted, but the kernel takes it.
void Validator::check_shared_addresses() {
  std::map<std::string, std::size_t> owners;
  for (std::size_t i = 0; i < draft_.tunnels.size(); ++i) {
    const Pair ours = pair(i);
    for (const PrefixItem& item : ours.items(FieldId::addresses)) {
      const auto* ipv6 = std::get_if<wire::Ipv6Address>(&item.prefix.address);
      const bool is_host = item.prefix.length == (item.prefix.is_ipv4() ? 32 : 128);
      if (is_host || (ipv6 != nullptr && ipv6->is_link_local())) {
        continue;
      }
      const auto [first, is_new] = owners.emplace(to_string(item.prefix.address), i);
      if (is_new || first->second == i) {
        continue;
      }
      report_
          .warning(Code::address_shared, item.where,
                   fmt::format("address {} of {} is also an address of {}",
                               to_string(item.prefix.address), tunnel_text(ours.tunnel),
                               tunnel_text(config_.tunnels[first->second])))
          .hint = "each tunnel is a network of its own; a shared address needs /32 or /128";
    }
  }
}

void Validator::check_transit() {
  std::unordered_map<std::string_view, const TunnelDraft*> known;
  std::vector<std::string_view> names;
  for (const TunnelDraft& tunnel : draft_.tunnels) {
    known.emplace(tunnel.name, &tunnel);
    names.push_back(tunnel.name);
  }
  for (const PrefixItem& item : draft_.transit) {
    const auto found = known.find(item.via);
    if (found == known.end()) {
      const std::string_view near = nearest(item.via, names);
      report_
          .error(Code::unknown_tunnel, item.via_at,
                 fmt::format("no tunnel {} for the route {}", quoted(item.via),
                             to_string(item.prefix)))
          .hint = near.empty() ? std::string{} : fmt::format("did you mean {}?", quoted(near));
      continue;
    }
    if (found->second->kind) {
      const auto index = static_cast<std::size_t>(found->second - draft_.tunnels.data());
      refuse_family(config_.tunnels[index], item.where, "route", item.prefix);
    }
  }
}

}  // namespace

void validate(const Draft& draft, const Config& config, Report& report) {
  Validator{draft, config, report}.run();
  validate_routes(draft, config, report);
}

}  // namespace ringway::config
