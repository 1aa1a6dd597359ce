// Netlink: the host's interfaces, addresses and routes, read and changed (rtnetlink(7)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/wire/address.h"
#include "router/control/netlink_socket.h"

namespace ringway::router {

// The protocol number on our routes ("proto 217" in `ip route`), so that a user can tell them apart
// and list them: `ip route show proto 217`. Not used by anybody in iproute2's rt_protos.
inline constexpr std::uint8_t kRouteProtocol = 217;

// An interface as a target of requests: the index counts, the name is for messages.
struct Interface {
  std::uint32_t index = 0;
  std::string name;
};

struct Link {
  Interface interface;
  std::uint32_t mtu = 0;
  std::uint32_t queue_length = 0;  // packets ("txqueuelen")
  bool up = false;                 // administratively
  std::uint64_t tx_dropped = 0;    // packets that the host could not hand over (queue full)
};

struct InterfaceAddress {
  std::uint32_t interface_index = 0;
  wire::IpPrefix prefix;  // host bits kept
  bool secondary = false;
  bool host_scope = false;  // valid on this host only, as those of lo
};

// A unicast route of the main table.
struct HostRoute {
  config::Route route;  // the metric as the kernel has it: 1024 for an IPv6 route without one
  std::uint8_t protocol = 0;
};

// How the host reaches an address.
struct RemotePath {
  std::uint32_t interface_index = 0;
  std::string interface_name;
  std::uint32_t mtu =
      0;               // of the route where it has one (also a learnt path MTU), else of the link
  bool local = false;  // the address is the host's own
};

// What others have put on an interface, as the kernel's own messages (the way of `ip route save`).
struct SavedInterface {
  std::vector<std::vector<std::uint8_t>> addresses;
  std::vector<std::vector<std::uint8_t>> routes;  // of all tables; those through a gateway last
};

// The metric under which the kernel files a route (0 means 1024 for IPv6: IP6_RT_PRIO_USER).
[[nodiscard]] std::uint32_t kernel_metric(const config::Route& route) noexcept;

// Acts in the network namespace of the thread that opened it. Control thread only. Every call waits
// for the kernel's answer; changes are done when it returns.
class Netlink {
 public:
  [[nodiscard]] static Result<Netlink> open();

  // Nothing if there is no such interface.
  [[nodiscard]] Result<std::optional<Link>> link(const std::string& name);
  [[nodiscard]] Result<std::optional<Link>> link(std::uint32_t index);
  Result<void> set_mtu(const Interface& interface, std::uint32_t mtu);
  Result<void> set_queue_length(const Interface& interface, std::uint32_t packets);
  Result<void> set_up(const Interface& interface, bool up);
  // No link-local address is made by the kernel from now on (IN6_ADDR_GEN_MODE_NONE).
  Result<void> stop_ipv6_link_local(const Interface& interface);
  // For an interface that we made: the kernel removes its addresses and routes with it.
  Result<void> remove_link(const Interface& interface);

  // Of all interfaces if `interface_index` is 0.
  [[nodiscard]] Result<std::vector<InterfaceAddress>> addresses(std::uint32_t interface_index);
  Result<void> add_address(const Interface& interface, const wire::IpPrefix& address);
  Result<void> remove_address(const Interface& interface, const wire::IpPrefix& address);

  [[nodiscard]] Result<std::vector<HostRoute>> routes(std::uint32_t interface_index);
  // Fails with EEXIST if there is a route of this prefix and metric, through any interface.
  Result<void> add_route(const Interface& interface, const config::Route& route);
  Result<void> remove_route(const Interface& interface, const config::Route& route);

  // The kernel takes more away than one asks for: removing the last IPv4 address of an interface
  // flushes its routes (fib_disable_ip), taking it down flushes its IPv6 addresses as well
  // (addrconf_ifdown). restore() puts back what is missing and leaves the rest alone.
  [[nodiscard]] Result<SavedInterface> save(const Interface& interface);
  Result<void> restore(const Interface& interface, const SavedInterface& saved);

  // Nothing if the host has no route. `source` (may be unspecified) selects by policy rules.
  [[nodiscard]] Result<std::optional<RemotePath>> path_to(const wire::Ipv4Address& remote,
                                                          const wire::Ipv4Address& source);

 private:
  explicit Netlink(NetlinkSocket socket) : socket_{std::move(socket)} {}
  [[nodiscard]] Result<std::optional<Link>> find_link(NetlinkRequest& request,
                                                      const std::string& subject);
  Result<void> dump_addresses(std::uint8_t family, std::uint32_t interface_index,
                              std::vector<InterfaceAddress>& out);
  Result<void> dump_routes(std::uint8_t family, std::uint32_t interface_index,
                           std::vector<HostRoute>& out);

  Result<void> put_back(const Interface& interface, const char* name,
                        const std::vector<std::uint8_t>& message);

  NetlinkSocket socket_;
};

}  // namespace ringway::router
