// Sums of header lengths, and a walk along "is carried by".
#include "router/control/underlay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/model.h"
#include "netio/wire/address.h"
#include "router/control/netlink.h"

namespace ringway::router {

namespace {

constexpr std::uint32_t kUsualMtu = 1500;           // Ethernet
constexpr std::uint32_t kIpPacketBytesMax = 65535;  // lo has an MTU of 65536

bool used_for_ipv6(const config::Tunnel& tunnel, const std::vector<config::Route>& routes) {
  const auto is_ipv6 = [](const wire::IpPrefix& prefix) { return !prefix.is_ipv4(); };
  return tunnel.kind == config::Kind::sit ||
         std::any_of(tunnel.addresses.begin(), tunnel.addresses.end(), is_ipv6) ||
         std::any_of(routes.begin(), routes.end(),
                     [&](const config::Route& route) { return is_ipv6(route.to); });
}

// What the outer headers leave of `path_mtu`, which may be nothing at all.
std::uint32_t room(std::uint32_t path_mtu, std::uint32_t overhead) {
  const std::uint32_t bytes = std::min(path_mtu, kIpPacketBytesMax);
  return bytes > overhead ? bytes - overhead : 0;
}

MtuChoice explicit_mtu(const config::Tunnel& tunnel, const std::optional<RemotePath>& path) {
  const std::uint32_t overhead = config::overhead_bytes(tunnel);
  MtuChoice choice{*tunnel.mtu, false, "configured", ""};
  if (path && choice.mtu > room(path->mtu, overhead)) {
    choice.warning = fmt::format(
        "mtu {} of tunnel '{}' is more than the way to its remote takes whole: {} {} - {} = {}",
        choice.mtu, tunnel.name, path->interface_name, path->mtu, overhead,
        room(path->mtu, overhead));
  }
  return choice;
}

}  // namespace

bool carries_ipv4(config::Kind kind) noexcept {
  return kind != config::Kind::sit;
}
bool carries_ipv6(config::Kind kind) noexcept {
  return kind != config::Kind::ipip;
}

MtuChoice choose_mtu(const config::Tunnel& tunnel, const std::vector<config::Route>& routes,
                     const std::optional<RemotePath>& path) {
  if (tunnel.mtu) {
    return explicit_mtu(tunnel, path);
  }
  const std::uint32_t overhead = config::overhead_bytes(tunnel);
  MtuChoice choice;
  if (path) {
    choice.mtu = room(path->mtu, overhead);
    choice.reason = fmt::format("{} {} - {}", path->interface_name, path->mtu, overhead);
  } else {
    choice.mtu = room(kUsualMtu, overhead);
    choice.reason = fmt::format("no route to the remote: {} - {}", kUsualMtu, overhead);
    choice.warning = fmt::format("no route to the remote of tunnel '{}' yet: mtu {} is a guess",
                                 tunnel.name, choice.mtu);
  }
  const std::uint32_t least = used_for_ipv6(tunnel, routes) ? config::kMtuMinIpv6 : config::kMtuMin;
  if (choice.mtu < least) {
    choice.warning = fmt::format(
        "the way to the remote of tunnel '{}' leaves only {} bytes ({}), but an interface needs "
        "{}: larger packets will be fragmented or lost",
        tunnel.name, choice.mtu, choice.reason, least);
    choice.reason += fmt::format(", at least {}", least);
    choice.mtu = least;
  }
  return choice;
}

std::vector<std::size_t> find_loop(const std::vector<std::optional<std::size_t>>& carrier) {
  for (std::size_t start = 0; start < carrier.size(); ++start) {
    std::vector<std::size_t> way{start};
    // A circle that begins elsewhere is found when its own member is the start.
    while (way.size() <= carrier.size() && carrier[way.back()]) {
      const std::size_t next = *carrier[way.back()];
      if (next == start) {
        return way;
      }
      way.push_back(next);
    }
  }
  return {};
}

}  // namespace ringway::router
