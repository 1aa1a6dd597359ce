// The one table of everything that can be written into a configuration file.
//
// Reader, checks, suggestions and the manual page all follow it. A new option is one row here and
// its meaning in build.cc; whatever is not in the table is an unknown key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/model.h"

namespace ringway::config {

// The map that a key stands in.
enum class Section : std::uint8_t {
  top,
  daemon,
  tunnel,   // tunnels.NAME; those rows with `in_defaults` may stand in `defaults` too
  route,    // an item of tunnels.NAME.routes
  transit,  // an item of the top level's routes
};

enum class Type : std::uint8_t {
  section,    // a map with rows of its own, or the map of tunnels
  boolean,    // true, false
  number,     // minimum to maximum, decimal
  gre_key,    // decimal, 0x hexadecimal, or dotted quad
  choice,     // one of `words`
  name,       // of an interface
  local,      // IPv4 address, interface, or `any`
  remote,     // IPv4 address or host name
  prefix,     // 10.0.0.0/8
  addresses,  // list of prefixes, host bits kept
  routes,     // list of prefixes or maps
};

// When a change takes effect.
enum class Applies : std::uint8_t {
  live,              // at once, no packet of another tunnel is touched
  tunnel_recreated,  // the tunnel's interface is removed and made again
  daemon_restart,
};

// Which kinds have an option, as bits: 1 << Kind.
using KindSet = std::uint8_t;
[[nodiscard]] constexpr KindSet kind_bit(Kind kind) noexcept {
  return static_cast<KindSet>(1U << static_cast<unsigned>(kind));
}
inline constexpr KindSet kGreOnly = kind_bit(Kind::gre);
inline constexpr KindSet kIpv4Carriers = kind_bit(Kind::gre) | kind_bit(Kind::ipip);
inline constexpr KindSet kAllKinds = kIpv4Carriers | kind_bit(Kind::sit);

// In the order of the table.
enum class FieldId : std::uint8_t {
  version,
  daemon,
  defaults,
  tunnels,
  transit_routes,
  engine,
  log_level,
  type,
  interface,
  local,
  remote,
  key,
  ikey,
  okey,
  csum,
  icsum,
  ocsum,
  strict_csum,
  seq,
  iseq,
  oseq,
  ttl,
  tos,
  ecn,
  pmtudisc,
  ignore_df,
  mtu,
  addresses,
  routes,
  route_to,
  route_metric,
  transit_to,
  transit_via,
  transit_metric,
};
inline constexpr std::size_t kFieldCount = 34;

struct Field {
  // NOLINTBEGIN(readability-redundant-member-init): GCC 12 warns of rows that leave out members
  // without an initializer.
  FieldId id{};
  std::string_view path{};  // "tunnels.NAME.ttl"
  Section section = Section::top;
  Type type = Type::section;
  std::uint32_t minimum = 0;  // of numbers
  std::uint32_t maximum = 0;
  std::string_view words{};     // of choices: "gre|ipip|sit"; of numbers: a word instead of one
  std::string_view fallback{};  // what holds if the key is absent, as it would be written
  std::string_view unit{};
  KindSet kinds = kAllKinds;
  bool is_required = false;
  bool in_defaults = false;
  Applies applies = Applies::live;
  std::string_view also{};  // what other tools call it: "checksum|sum"
  std::string_view doc{};
  // NOLINTEND(readability-redundant-member-init)

  // The last part of the path: what is written in the file.
  [[nodiscard]] std::string_view name() const noexcept;
};

[[nodiscard]] std::span<const Field, kFieldCount> fields() noexcept;
[[nodiscard]] const Field& field(FieldId id) noexcept;

// The row for a key in a section; null if there is none. `in_defaults` narrows a tunnel's rows to
// those that `defaults` may hold.
[[nodiscard]] const Field* find_field(Section section, std::string_view name) noexcept;

// "a|b|c" in its parts.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view words);
// "gre, ipip or sit".
[[nodiscard]] std::string join_words(const std::vector<std::string_view>& words);
// What may stand there, for a hint: "1..255, or inherit".
[[nodiscard]] std::string expectation(const Field& field);
// "gre" or "gre and ipip".
[[nodiscard]] std::string kinds_text(KindSet kinds);

}  // namespace ringway::config
