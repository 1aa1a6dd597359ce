// The table. Rows stand in the order of FieldId; option words are those of `ip link`.
#include "config/fields.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "config/model.h"

namespace ringway::config {

namespace {

constexpr std::uint32_t kU32Max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kMtuMax = 65'515;  // 65535 less the outer IPv4 header; less for GRE

constexpr std::array<Field, kFieldCount> kFields = {{
    {.id = FieldId::version,
     .path = "version",
     .type = Type::number,
     .minimum = 1,
     .maximum = kU32Max,
     .is_required = true,
     .applies = Applies::daemon_restart,
     .doc = "Version of this format. Must be 1."},
    {.id = FieldId::daemon,
     .path = "daemon",
     .applies = Applies::live,
     .also = "options|global",
     .doc = "Settings of the daemon itself."},
    {.id = FieldId::defaults,
     .path = "defaults",
     .also = "default|common",
     .doc = "Values for all tunnels whose kind has the option and that do not set it."},
    {.id = FieldId::tunnels,
     .path = "tunnels",
     .is_required = true,
     .also = "tunnel|interfaces",
     .doc = "The tunnels by name."},
    {.id = FieldId::transit_routes,
     .path = "routes",
     .type = Type::routes,
     .also = "route",
     .doc = "Routes from tunnel to tunnel."},

    {.id = FieldId::engine,
     .path = "daemon.engine",
     .section = Section::daemon,
     .type = Type::choice,
     .words = "auto|io_uring|epoll",
     .fallback = "auto",
     .applies = Applies::daemon_restart,
     .doc = "How packets are read and written."},
    {.id = FieldId::log_level,
     .path = "daemon.log_level",
     .section = Section::daemon,
     .type = Type::choice,
     .words = "error|warning|info|debug",
     .fallback = "info",
     .also = "log|level|loglevel|verbosity",
     .doc = "The least important messages that are logged."},

    {.id = FieldId::type,
     .path = "tunnels.NAME.type",
     .section = Section::tunnel,
     .type = Type::choice,
     .words = "gre|ipip|sit",
     .is_required = true,
     .applies = Applies::tunnel_recreated,
     .also = "mode|kind",
     .doc = "The kind of tunnel."},
    {.id = FieldId::interface,
     .path = "tunnels.NAME.interface",
     .section = Section::tunnel,
     .type = Type::name,
     .applies = Applies::tunnel_recreated,
     .also = "ifname|name|device",
     .doc = "Name of the TUN interface, if not the tunnel's."},
    {.id = FieldId::local,
     .path = "tunnels.NAME.local",
     .section = Section::tunnel,
     .type = Type::local,
     .fallback = "any",
     .in_defaults = true,
     .also = "src|source|dev|bind",
     .doc = "Source of outer packets, and the destination they must have when received."},
    {.id = FieldId::remote,
     .path = "tunnels.NAME.remote",
     .section = Section::tunnel,
     .type = Type::remote,
     .is_required = true,
     .also = "dst|destination|peer|endpoint|gateway",
     .doc = "The other end of the tunnel."},
    {.id = FieldId::key,
     .path = "tunnels.NAME.key",
     .section = Section::tunnel,
     .type = Type::gre_key,
     .kinds = kGreOnly,
     .doc = "GRE key in both directions."},
    {.id = FieldId::ikey,
     .path = "tunnels.NAME.ikey",
     .section = Section::tunnel,
     .type = Type::gre_key,
     .kinds = kGreOnly,
     .also = "input_key|input-key|inputkey",
     .doc = "GRE key that received packets must carry."},
    {.id = FieldId::okey,
     .path = "tunnels.NAME.okey",
     .section = Section::tunnel,
     .type = Type::gre_key,
     .kinds = kGreOnly,
     .also = "output_key|output-key|outputkey",
     .doc = "GRE key that is sent."},
    {.id = FieldId::csum,
     .path = "tunnels.NAME.csum",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kGreOnly,
     .also = "checksum",
     .doc = "GRE checksum in both directions."},
    {.id = FieldId::icsum,
     .path = "tunnels.NAME.icsum",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kGreOnly,
     .doc = "Received packets must carry a GRE checksum."},
    {.id = FieldId::ocsum,
     .path = "tunnels.NAME.ocsum",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kGreOnly,
     .doc = "Sent packets carry a GRE checksum."},
    {.id = FieldId::strict_csum,
     .path = "tunnels.NAME.strict_csum",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kGreOnly,
     .doc = "Refuse a GRE checksum that icsum does not ask for."},
    {.id = FieldId::seq,
     .path = "tunnels.NAME.seq",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kGreOnly,
     .also = "sequence|serialize",
     .doc = "GRE sequence numbers in both directions."},
    {.id = FieldId::iseq,
     .path = "tunnels.NAME.iseq",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kGreOnly,
     .doc = "Received packets must carry rising sequence numbers."},
    {.id = FieldId::oseq,
     .path = "tunnels.NAME.oseq",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kGreOnly,
     .doc = "Sent packets carry sequence numbers."},
    {.id = FieldId::ttl,
     .path = "tunnels.NAME.ttl",
     .section = Section::tunnel,
     .type = Type::number,
     .minimum = 1,
     .maximum = 255,
     .words = "inherit",
     .fallback = "64",
     .unit = "hops",
     .in_defaults = true,
     .also = "hoplimit|hop_limit|hop-limit",
     .doc = "TTL of the outer header."},
    {.id = FieldId::tos,
     .path = "tunnels.NAME.tos",
     .section = Section::tunnel,
     .type = Type::number,
     .minimum = 0,
     .maximum = 255,
     .words = "inherit",
     .fallback = "inherit",
     .in_defaults = true,
     .also = "dsfield|tclass|dscp",
     .doc = "TOS byte of the outer header; its two lowest bits are made by ecn."},
    {.id = FieldId::ecn,
     .path = "tunnels.NAME.ecn",
     .section = Section::tunnel,
     .type = Type::choice,
     .words = "rfc6040|linux|off",
     .fallback = "rfc6040",
     .in_defaults = true,
     .doc = "How congestion marks are copied to the outer header."},
    {.id = FieldId::pmtudisc,
     .path = "tunnels.NAME.pmtudisc",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "true",
     .in_defaults = true,
     .also = "nopmtudisc|df|pmtu",
     .doc = "Set DF on every outer packet and follow the path MTU."},
    {.id = FieldId::ignore_df,
     .path = "tunnels.NAME.ignore_df",
     .section = Section::tunnel,
     .type = Type::boolean,
     .fallback = "false",
     .kinds = kIpv4Carriers,
     .in_defaults = true,
     .also = "ignoredf",
     .doc = "The inner DF bit does not set the outer one."},
    {.id = FieldId::mtu,
     .path = "tunnels.NAME.mtu",
     .section = Section::tunnel,
     .type = Type::number,
     .minimum = kMtuMin,
     .maximum = kMtuMax,
     .words = "auto",
     .fallback = "auto",
     .unit = "bytes",
     .in_defaults = true,
     .doc = "MTU of the interface."},
    {.id = FieldId::addresses,
     .path = "tunnels.NAME.addresses",
     .section = Section::tunnel,
     .type = Type::addresses,
     .also = "address|addr|ip",
     .doc = "Addresses of the interface."},
    {.id = FieldId::routes,
     .path = "tunnels.NAME.routes",
     .section = Section::tunnel,
     .type = Type::routes,
     .also = "route|allowed_ips|allowedips|networks",
     .doc = "Destinations behind the tunnel."},

    {.id = FieldId::route_to,
     .path = "tunnels.NAME.routes.to",
     .section = Section::route,
     .type = Type::prefix,
     .is_required = true,
     .also = "destination|dst|prefix",
     .doc = "Destination of the route."},
    {.id = FieldId::route_metric,
     .path = "tunnels.NAME.routes.metric",
     .section = Section::route,
     .type = Type::number,
     .minimum = 0,
     .maximum = kU32Max,
     .fallback = "0",
     .also = "priority|preference",
     .doc = "Metric in the host's table; 0 is the kernel's default."},

    {.id = FieldId::transit_to,
     .path = "routes.to",
     .section = Section::transit,
     .type = Type::prefix,
     .is_required = true,
     .also = "destination|dst|prefix",
     .doc = "Destination of the route."},
    {.id = FieldId::transit_via,
     .path = "routes.via",
     .section = Section::transit,
     .type = Type::name,
     .is_required = true,
     .also = "tunnel|dev|gateway|nexthop",
     .doc = "Tunnel that packets are sent on to."},
    {.id = FieldId::transit_metric,
     .path = "routes.metric",
     .section = Section::transit,
     .type = Type::number,
     .minimum = 0,
     .maximum = kU32Max,
     .fallback = "0",
     .also = "priority|preference",
     .doc = "Metric in the host's table; 0 is the kernel's default."},
}};

constexpr bool is_in_order() noexcept {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (static_cast<std::size_t>(kFields[i].id) != i) {
      return false;
    }
  }
  return true;
}
static_assert(is_in_order(), "rows must stand in the order of FieldId");

}  // namespace

std::string_view Field::name() const noexcept {
  return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

std::span<const Field, kFieldCount> fields() noexcept {
  return kFields;
}

const Field& field(FieldId id) noexcept {
  return kFields[static_cast<std::size_t>(id)];
}

const Field* find_field(Section section, std::string_view name) noexcept {
  const auto* const found = std::find_if(
      kFields.begin(), kFields.end(),
      [section, name](const Field& row) { return row.section == section && row.name() == name; });
  return found == kFields.end() ? nullptr : found;
}

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('|'), words.size());
    parts.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return parts;
}

std::string join_words(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    out += i == 0 ? "" : is_last ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::string expectation(const Field& field) {
  switch (field.type) {
    case Type::boolean:
      return "true or false";
    case Type::number:
      if (field.id == FieldId::version) {
        return "1";
      }
      return field.words.empty()
                 ? fmt::format("{}..{}", field.minimum, field.maximum)
                 : fmt::format("{}..{}, or {}", field.minimum, field.maximum, field.words);
    case Type::gre_key:
      return "0..4294967295, or 0x..., or a dotted quad";
    case Type::choice:
      return join_words(split_words(field.words));
    case Type::name:
      return field.section == Section::transit ? "the name of a tunnel"
                                               : "the name of an interface";
    case Type::local:
      return "an IPv4 address, the name of an interface, or any";
    case Type::remote:
      return "an IPv4 address or a host name";
    case Type::prefix:
      return "a prefix such as 10.0.0.0/8";
    case Type::addresses:
      return "a list such as [10.0.0.1/30, fd00::1/64]";
    case Type::routes:
      return field.section == Section::top ? "a list such as [{to: 10.0.0.0/8, via: NAME}]"
                                           : "a list such as [10.0.0.0/8, {to: ::/0, metric: 9}]";
    case Type::section:
      break;
  }
  return field.id == FieldId::tunnels ? "a map from names to tunnels" : "a map of keys and values";
}

std::string kinds_text(KindSet kinds) {
  std::string out;
  for (const Kind kind : {Kind::gre, Kind::ipip, Kind::sit}) {
    if ((kinds & kind_bit(kind)) != 0) {
      out += out.empty() ? "" : " and ";
      out += name(kind);
    }
  }
  return out;
}

}  // namespace ringway::config
