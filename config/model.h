// What a configuration means, after every check: plain structs, defaults in place, comparable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "netio/wire/address.h"

namespace ringway::config {

// Limits with a name. More is a configuration error.
inline constexpr std::size_t kTunnelsMax = 1024;
inline constexpr std::size_t kRoutesMax = 100'000;    // of one tunnel, or of the top level
inline constexpr std::size_t kAddressesMax = 64;      // of one tunnel
inline constexpr std::size_t kInterfaceNameMax = 15;  // IFNAMSIZ - 1
inline constexpr std::size_t kTunnelNameMax = 63;     // more than 15 needs `interface`
inline constexpr std::uint32_t kMtuMin = 68;          // RFC 791
inline constexpr std::uint32_t kMtuMinIpv6 = 1280;    // RFC 8200 section 5

enum class Engine : std::uint8_t { automatic, io_uring, epoll };
enum class LogLevel : std::uint8_t { error, warning, info, debug };

struct Daemon {
  Engine engine = Engine::automatic;
  LogLevel log_level = LogLevel::info;
  friend bool operator==(const Daemon&, const Daemon&) = default;
};

enum class Kind : std::uint8_t { gre, ipip, sit };

// An interface whose first IPv4 address is meant.
struct InterfaceName {
  std::string name;
  friend bool operator==(const InterfaceName&, const InterfaceName&) = default;
};
struct HostName {
  std::string name;
  friend bool operator==(const HostName&, const HostName&) = default;
};

// monostate: the source that the host's routing picks for each packet.
using Local = std::variant<std::monostate, wire::Ipv4Address, InterfaceName>;
using Remote = std::variant<wire::Ipv4Address, HostName>;

// How the ECN bits of the outer header are made (semantics: RFC 6040 section 4.1 and 4.3).
enum class Ecn : std::uint8_t {
  rfc6040,  // copied, CE included
  linux,    // copied, CE becomes ECT(0), as Linux tunnels do (RFC 3168 full functionality)
  off,      // always Not-ECT: RFC 6040 compatibility mode
};

// The outer TOS byte: fixed, or the inner one's DSCP. ECN is made by `ecn` in both cases.
struct Tos {
  bool inherit = true;
  std::uint8_t value = 0;  // upper six bits used when !inherit
  friend bool operator==(const Tos&, const Tos&) = default;
};

struct Route {
  wire::IpPrefix to;         // host bits cleared
  std::uint32_t metric = 0;  // 0: the kernel's default (0 for IPv4, 1024 for IPv6)
  friend bool operator==(const Route&, const Route&) = default;
};

struct Tunnel {
  std::string name;
  std::string interface;  // the TUN's name; the tunnel's own unless given
  Kind kind = Kind::gre;
  Local local;
  Remote remote;
  std::optional<std::uint32_t> ikey;  // gre: key that received packets must carry
  std::optional<std::uint32_t> okey;  // gre: key that is sent
  bool icsum = false;
  bool ocsum = false;
  bool strict_csum = false;  // refuse a GRE checksum that icsum does not ask for
  bool iseq = false;
  bool oseq = false;
  std::uint8_t ttl = 64;  // 0: inherit the inner TTL or hop limit
  Tos tos;
  Ecn ecn = Ecn::rfc6040;
  bool pmtudisc = true;              // outer DF always set
  bool ignore_df = false;            // inner DF does not set outer DF; needs pmtudisc off
  std::optional<std::uint32_t> mtu;  // of the interface; none: path MTU less overhead
  std::vector<wire::IpPrefix> addresses;
  std::vector<Route> routes;  // installed in the host: these destinations lie behind the tunnel
  friend bool operator==(const Tunnel&, const Tunnel&) = default;
};

// A route of Ringway's own: packets that arrive through a tunnel and match go straight on to the
// next tunnel. It is installed in the host as well, so that the host's own packets follow it.
struct TransitRoute {
  wire::IpPrefix to;
  std::string via;  // name of a tunnel
  std::uint32_t metric = 0;
  friend bool operator==(const TransitRoute&, const TransitRoute&) = default;
};

struct Config {
  Daemon daemon;
  std::vector<Tunnel> tunnels;  // in the file's order; names and interfaces are unique
  std::vector<TransitRoute> routes;
  friend bool operator==(const Config&, const Config&) = default;
};

// "gre", "ipip", "sit".
[[nodiscard]] const char* name(Kind kind) noexcept;
// Bytes that the tunnel puts in front of an inner packet over IPv4: 20 and the GRE header.
[[nodiscard]] std::uint32_t overhead_bytes(const Tunnel& tunnel) noexcept;

}  // namespace ringway::config
