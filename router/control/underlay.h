// Underlay: what the host's routes say about a tunnel's way to its remote: MTU, and loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model.h"
#include "router/control/netlink.h"

namespace ringway::router {

// The MTU of an interface, and how it came about.
struct MtuChoice {
  std::uint32_t mtu = 0;
  bool automatic = true;
  std::string reason;   // "eth0 1500 - 24"; for status
  std::string warning;  // empty, or a sentence about what will not work
};

// True if packets of this family may travel through a tunnel of this kind.
[[nodiscard]] bool carries_ipv4(config::Kind kind) noexcept;
[[nodiscard]] bool carries_ipv6(config::Kind kind) noexcept;

// The configured MTU, or what is left of the path's (`path` is nothing if there is no route) when
// the tunnel's headers are off. Never less than IPv6 needs where the tunnel is used for IPv6:
// `routes` are those that lead into it.
[[nodiscard]] MtuChoice choose_mtu(const config::Tunnel& tunnel,
                                   const std::vector<config::Route>& routes,
                                   const std::optional<RemotePath>& path);

// `carrier[i]` is the tunnel through whose interface tunnel i's outer packets leave, if any.
// Returns the tunnels of a circle, in order, or nothing: one tunnel within another is legitimate, a
// circle makes each packet grow for ever (RFC 2003 section 3.2).
[[nodiscard]] std::vector<std::size_t> find_loop(
    const std::vector<std::optional<std::size_t>>& carrier);

}  // namespace ringway::router
