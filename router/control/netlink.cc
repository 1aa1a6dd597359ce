// Each request of rtnetlink that we need, as the kernel documents it (rtnetlink(7),
// net/core/rtnetlink.c, net/ipv4/devinet.c, net/ipv4/fib_frontend.c and their IPv6 brothers).
#include "router/control/netlink.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <libmnl/libmnl.h>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/wire/address.h"
#include "router/control/netlink_socket.h"

namespace ringway::router {

namespace {

constexpr std::array<std::uint8_t, 2> kFamilies{AF_INET, AF_INET6};
constexpr std::uint32_t kIpv6DefaultMetric = 1024;  // IP6_RT_PRIO_USER, linux/ipv6_route.h

std::uint8_t family_of(const wire::IpPrefix& prefix) {
  return prefix.is_ipv4() ? AF_INET : AF_INET6;
}

std::span<const std::uint8_t> bytes_of(const wire::IpPrefix& prefix) {
  return std::visit(
      [](const auto& address) -> std::span<const std::uint8_t> { return address.bytes; },
      prefix.address);
}

// An address attribute of the given family; the unspecified address if absent (a default route has
// no RTA_DST).
std::optional<wire::IpAddress> read_address(const NetlinkAttributes& attributes, std::uint16_t type,
                                            std::uint8_t family) {
  if (family == AF_INET) {
    wire::Ipv4Address address;
    if (attributes.find(type) == nullptr || attributes.bytes(type, address.bytes)) {
      return address;
    }
  } else if (family == AF_INET6) {
    wire::Ipv6Address address;
    if (attributes.find(type) == nullptr || attributes.bytes(type, address.bytes)) {
      return address;
    }
  }
  return std::nullopt;
}

std::string quoted(const Interface& interface) {
  return "'" + interface.name + "'";
}

// The remedy for what an ordinary user may not do: the same change as a command for root.
void hint_permission(Result<void>& result, const std::string& command) {
  if (!result && result.error().number == EPERM) {  // EACCES has other causes
    Error& error = result.error();
    if (error.why.empty()) {
      error.why = "changing interfaces needs CAP_NET_ADMIN in this network namespace";
    }
    error.fix = "sudo ip " + command +
                "   (once, for a prepared interface), or run as the system " + "service";
  }
}

ifinfomsg& put_link_header(NetlinkRequest& request, std::uint32_t index) {
  auto& header = request.put_header<ifinfomsg>();
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = static_cast<int>(index);
  return header;
}

Link read_link(const nlmsghdr& message) {
  const auto& header = *static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(&message));
  const NetlinkAttributes attributes{message, sizeof(ifinfomsg), IFLA_MAX};
  Link link;
  link.interface.index = static_cast<std::uint32_t>(header.ifi_index);
  link.interface.name = attributes.string(IFLA_IFNAME);
  link.mtu = attributes.u32(IFLA_MTU, 0);
  link.queue_length = attributes.u32(IFLA_TXQLEN, 0);
  link.up = (header.ifi_flags & IFF_UP) != 0;
  if (const nlattr* const statistics = attributes.find(IFLA_STATS64)) {
    // Kernels differ in how many counters there are; those that we know come first.
    rtnl_link_stats64 counters{};
    std::memcpy(&counters, mnl_attr_get_payload(statistics),
                std::min<std::size_t>(sizeof(counters), mnl_attr_get_payload_len(statistics)));
    link.tx_dropped = counters.tx_dropped;
  }
  return link;
}

std::optional<InterfaceAddress> read_interface_address(const nlmsghdr& message) {
  const auto& header = *static_cast<const ifaddrmsg*>(mnl_nlmsg_get_payload(&message));
  const NetlinkAttributes attributes{message, sizeof(ifaddrmsg), IFA_MAX};
  // On point-to-point links IFA_ADDRESS is the peer; IFA_LOCAL, where present, is the interface's.
  const std::uint16_t type = attributes.find(IFA_LOCAL) != nullptr ? IFA_LOCAL : IFA_ADDRESS;
  const auto address = read_address(attributes, type, header.ifa_family);
  if (!address || attributes.find(type) == nullptr) {
    return std::nullopt;
  }
  InterfaceAddress out;
  out.interface_index = header.ifa_index;
  out.prefix = {*address, header.ifa_prefixlen};
  out.secondary = (attributes.u32(IFA_FLAGS, header.ifa_flags) & IFA_F_SECONDARY) != 0;
  out.host_scope = header.ifa_scope == RT_SCOPE_HOST;
  return out;
}

// Nothing if the route is none that we compare ours with.
std::optional<HostRoute> read_route(const nlmsghdr& message, std::uint32_t interface_index) {
  const auto& header = *static_cast<const rtmsg*>(mnl_nlmsg_get_payload(&message));
  const NetlinkAttributes attributes{message, sizeof(rtmsg), RTA_MAX};
  const auto address = read_address(attributes, RTA_DST, header.rtm_family);
  if (!address || header.rtm_type != RTN_UNICAST ||
      attributes.u32(RTA_TABLE, header.rtm_table) != RT_TABLE_MAIN ||
      attributes.u32(RTA_OIF, 0) != interface_index) {
    return std::nullopt;
  }
  return HostRoute{{{*address, header.rtm_dst_len}, attributes.u32(RTA_PRIORITY, 0)},
                   header.rtm_protocol};
}

std::vector<std::uint8_t> copy_of(const nlmsghdr& message) {
  const auto* const bytes = static_cast<const std::uint8_t*>(static_cast<const void*>(&message));
  return {bytes, bytes + message.nlmsg_len};
}

// A route that somebody made, ready to be made again: without what the kernel notes in dumps only.
std::optional<std::vector<std::uint8_t>> foreign_route(const nlmsghdr& message,
                                                       std::uint32_t interface_index) {
  const auto& header = *static_cast<const rtmsg*>(mnl_nlmsg_get_payload(&message));
  const NetlinkAttributes attributes{message, sizeof(rtmsg), RTA_MAX};
  if (header.rtm_type != RTN_UNICAST || header.rtm_protocol == RTPROT_KERNEL ||
      attributes.u32(RTA_OIF, 0) != interface_index) {
    return std::nullopt;
  }
  std::vector<std::uint8_t> out = copy_of(message);
  auto& copied = *static_cast<rtmsg*>(
      mnl_nlmsg_get_payload(static_cast<const nlmsghdr*>(static_cast<const void*>(out.data()))));
  copied.rtm_flags &= RTNH_F_ONLINK;  // RTNH_F_LINKDOWN and the like are refused (fib_get_nhs)
  return out;
}

bool has_gateway(const std::vector<std::uint8_t>& message) {
  const auto& header = *static_cast<const nlmsghdr*>(static_cast<const void*>(message.data()));
  const NetlinkAttributes attributes{header, sizeof(rtmsg), RTA_MAX};
  return attributes.find(RTA_GATEWAY) != nullptr || attributes.find(RTA_VIA) != nullptr;
}

// Errors of a look-up that say "no route", not "no answer" (fib_props in net/ipv4/fib_semantics.c:
// unreachable, prohibit and blackhole routes).
bool means_no_route(int error_number) {
  return error_number == ENETUNREACH || error_number == EHOSTUNREACH || error_number == EACCES ||
         error_number == EINVAL;
}

void put_address(NetlinkRequest& request, const Interface& interface,
                 const wire::IpPrefix& address) {
  auto& header = request.put_header<ifaddrmsg>();
  header.ifa_family = family_of(address);
  header.ifa_prefixlen = address.length;
  header.ifa_index = interface.index;
  header.ifa_scope = RT_SCOPE_UNIVERSE;
  request.put_bytes(IFA_LOCAL, bytes_of(address));
  request.put_bytes(IFA_ADDRESS, bytes_of(address));
  if (!address.is_ipv4()) {
    // Nobody else is on a tunnel's interface: duplicate address detection would only delay use.
    request.put_u32(IFA_FLAGS, IFA_F_NODAD);
  }
}

void put_route(NetlinkRequest& request, const Interface& interface, const config::Route& route) {
  auto& header = request.put_header<rtmsg>();
  header.rtm_family = family_of(route.to);
  header.rtm_dst_len = route.to.length;
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = kRouteProtocol;
  // No next hop on a point-to-point link. IPv6 has no scopes and ignores the field.
  header.rtm_scope = RT_SCOPE_LINK;
  header.rtm_type = RTN_UNICAST;
  if (route.to.length != 0) {
    request.put_bytes(RTA_DST, bytes_of(route.to));
  }
  request.put_u32(RTA_OIF, interface.index);
  request.put_u32(RTA_PRIORITY, kernel_metric(route));
}

std::string with_metric(const config::Route& route) {
  return wire::to_string(route.to) +
         (route.metric == 0 ? "" : " metric " + std::to_string(route.metric));
}

// "ip" or "ip -6", for hints.
std::string ip_for(const wire::IpPrefix& prefix) {
  return prefix.is_ipv4() ? "" : "-6 ";
}

}  // namespace

std::uint32_t kernel_metric(const config::Route& route) noexcept {
  return route.metric == 0 && !route.to.is_ipv4() ? kIpv6DefaultMetric : route.metric;
}

Result<Netlink> Netlink::open() {
  auto socket = NetlinkSocket::open();
  if (!socket) {
    return std::move(socket.error());
  }
  return Netlink{std::move(socket).value()};
}

Result<std::optional<Link>> Netlink::find_link(NetlinkRequest& request,
                                               const std::string& subject) {
  std::optional<Link> found;
  auto done = socket_.transact(request, subject, [&found](const nlmsghdr& message) {
    if (message.nlmsg_type == RTM_NEWLINK) {
      found = read_link(message);
    }
  });
  if (!done && done.error().number != ENODEV) {
    return std::move(done.error());
  }
  return found;
}

Result<std::optional<Link>> Netlink::link(const std::string& name) {
  NetlinkRequest request{"RTM_GETLINK", RTM_GETLINK, 0};
  put_link_header(request, 0);
  request.put_string(IFLA_IFNAME, name);
  return find_link(request, "look up interface '" + name + "'");
}

Result<std::optional<Link>> Netlink::link(std::uint32_t index) {
  NetlinkRequest request{"RTM_GETLINK", RTM_GETLINK, 0};
  put_link_header(request, index);
  return find_link(request, "look up the interface of index " + std::to_string(index));
}

Result<void> Netlink::set_mtu(const Interface& interface, std::uint32_t mtu) {
  NetlinkRequest request{"RTM_NEWLINK", RTM_NEWLINK, 0};
  put_link_header(request, interface.index);
  request.put_u32(IFLA_MTU, mtu);
  auto done = socket_.transact(
      request, "set the MTU of " + quoted(interface) + " to " + std::to_string(mtu));
  hint_permission(done, "link set " + interface.name + " mtu " + std::to_string(mtu));
  return done;
}

Result<void> Netlink::set_queue_length(const Interface& interface, std::uint32_t packets) {
  NetlinkRequest request{"RTM_NEWLINK", RTM_NEWLINK, 0};
  put_link_header(request, interface.index);
  request.put_u32(IFLA_TXQLEN, packets);
  auto done = socket_.transact(
      request, "set the queue length of " + quoted(interface) + " to " + std::to_string(packets));
  hint_permission(done, "link set " + interface.name + " txqueuelen " + std::to_string(packets));
  return done;
}

Result<void> Netlink::set_up(const Interface& interface, bool up) {
  const std::string word = up ? "up" : "down";
  NetlinkRequest request{"RTM_NEWLINK", RTM_NEWLINK, 0};
  auto& header = put_link_header(request, interface.index);
  header.ifi_change = IFF_UP;
  header.ifi_flags = up ? IFF_UP : 0;
  auto done = socket_.transact(request, "set " + quoted(interface) + " " + word);
  hint_permission(done, "link set " + interface.name + " " + word);
  return done;
}

Result<void> Netlink::stop_ipv6_link_local(const Interface& interface) {
  NetlinkRequest request{"RTM_NEWLINK", RTM_NEWLINK, 0};
  put_link_header(request, interface.index);
  nlattr* const families = request.begin_nest(IFLA_AF_SPEC);
  nlattr* const ipv6 = request.begin_nest(AF_INET6);
  request.put_u8(IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
  request.end_nest(ipv6);
  request.end_nest(families);
  return socket_.transact(request, "switch off IPv6 link-local addresses of " + quoted(interface));
}

Result<void> Netlink::remove_link(const Interface& interface) {
  NetlinkRequest request{"RTM_DELLINK", RTM_DELLINK, 0};
  put_link_header(request, interface.index);
  auto done = socket_.transact(request, "remove interface " + quoted(interface));
  hint_permission(done, "link delete " + interface.name);
  return done;
}

Result<void> Netlink::dump_addresses(std::uint8_t family, std::uint32_t interface_index,
                                     std::vector<InterfaceAddress>& out) {
  NetlinkRequest request{"RTM_GETADDR", RTM_GETADDR, NLM_F_DUMP};
  auto& header = request.put_header<ifaddrmsg>();
  header.ifa_family = family;
  header.ifa_index = interface_index;
  return socket_.transact(request, "list addresses", [&](const nlmsghdr& message) {
    const auto address = read_interface_address(message);
    // A kernel without IPv6 answers with the addresses of all families; an old one with those of
    // all interfaces.
    if (message.nlmsg_type == RTM_NEWADDR && address &&
        address->prefix.is_ipv4() == (family == AF_INET) &&
        (interface_index == 0 || address->interface_index == interface_index)) {
      out.push_back(*address);
    }
  });
}

Result<std::vector<InterfaceAddress>> Netlink::addresses(std::uint32_t interface_index) {
  std::vector<InterfaceAddress> out;
  for (const std::uint8_t family : kFamilies) {
    auto done = dump_addresses(family, interface_index, out);
    if (!done) {
      return std::move(done.error());
    }
  }
  return out;
}

Result<void> Netlink::add_address(const Interface& interface, const wire::IpPrefix& address) {
  NetlinkRequest request{"RTM_NEWADDR", RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL};
  put_address(request, interface, address);
  const std::string text = wire::to_string(address);
  auto done = socket_.transact(request, "add address " + text + " to " + quoted(interface));
  hint_permission(done, "address add " + text + " dev " + interface.name);
  if (!done && !address.is_ipv4() && done.error().number != EPERM &&
      done.error().number != EEXIST && done.error().why.empty()) {
    // The kernel has no words for it (net/ipv6/addrconf.c inet6_addr_add, addrconf_add_dev).
    done.error().why = fmt::format(
        "IPv6 is not to be had on this interface: its mtu is below {}, or IPv6 is switched off",
        config::kMtuMinIpv6);
    done.error().fix = fmt::format(
        "see: ip link show {0}; sysctl net.ipv6.conf.{0}.disable_ipv6; or leave IPv6 addresses out",
        interface.name);
  }
  return done;
}

Result<void> Netlink::remove_address(const Interface& interface, const wire::IpPrefix& address) {
  NetlinkRequest request{"RTM_DELADDR", RTM_DELADDR, 0};
  put_address(request, interface, address);
  return socket_.transact(
      request, "remove address " + wire::to_string(address) + " from " + quoted(interface));
}

Result<void> Netlink::dump_routes(std::uint8_t family, std::uint32_t interface_index,
                                  std::vector<HostRoute>& out) {
  NetlinkRequest request{"RTM_GETROUTE", RTM_GETROUTE, NLM_F_DUMP};
  auto& header = request.put_header<rtmsg>();
  header.rtm_family = family;
  // The kernel filters (NETLINK_GET_STRICT_CHK): a gateway may hold a million other routes.
  request.put_u32(RTA_TABLE, RT_TABLE_MAIN);
  request.put_u32(RTA_OIF, interface_index);
  auto done = socket_.transact(request, "list routes", [&](const nlmsghdr& message) {
    const auto route = read_route(message, interface_index);
    if (message.nlmsg_type == RTM_NEWROUTE && route &&
        route->route.to.is_ipv4() == (family == AF_INET)) {
      out.push_back(*route);
    }
  });
  if (!done && (done.error().number == ENOENT || done.error().number == EOPNOTSUPP)) {
    return {};  // the family has no main table yet, or is not built in: no routes
  }
  return done;
}

Result<std::vector<HostRoute>> Netlink::routes(std::uint32_t interface_index) {
  std::vector<HostRoute> out;
  for (const std::uint8_t family : kFamilies) {
    auto done = dump_routes(family, interface_index, out);
    if (!done) {
      return std::move(done.error());
    }
  }
  return out;
}

Result<void> Netlink::add_route(const Interface& interface, const config::Route& route) {
  NetlinkRequest request{"RTM_NEWROUTE", RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL};
  put_route(request, interface, route);
  const std::string text = with_metric(route);
  auto done = socket_.transact(request, "add route " + text + " through " + quoted(interface));
  hint_permission(done, ip_for(route.to) + "route add " + text + " dev " + interface.name);
  if (!done && done.error().number == EEXIST) {
    done.error().why = "this host has another route of the same prefix and metric";
    done.error().fix = "give the route another metric ({to: " + wire::to_string(route.to) +
                       ", metric: 500}; lower wins), or remove the other: ip " + ip_for(route.to) +
                       "route show " + wire::to_string(route.to);
  }
  return done;
}

Result<void> Netlink::remove_route(const Interface& interface, const config::Route& route) {
  NetlinkRequest request{"RTM_DELROUTE", RTM_DELROUTE, 0};
  put_route(request, interface, route);
  return socket_.transact(request,
                          "remove route " + with_metric(route) + " through " + quoted(interface));
}

Result<SavedInterface> Netlink::save(const Interface& interface) {
  SavedInterface out;
  const std::string subject = "list what is on " + quoted(interface);
  for (const std::uint8_t family : kFamilies) {
    NetlinkRequest addresses{"RTM_GETADDR", RTM_GETADDR, NLM_F_DUMP};
    auto& address = addresses.put_header<ifaddrmsg>();
    address.ifa_family = family;
    address.ifa_index = interface.index;
    auto done = socket_.transact(addresses, subject, [&](const nlmsghdr& message) {
      const auto& header = *static_cast<const ifaddrmsg*>(mnl_nlmsg_get_payload(&message));
      if (header.ifa_family == family && header.ifa_index == interface.index) {
        out.addresses.push_back(copy_of(message));
      }
    });
    if (!done) {
      return std::move(done.error());
    }
    NetlinkRequest routes{"RTM_GETROUTE", RTM_GETROUTE, NLM_F_DUMP};
    routes.put_header<rtmsg>().rtm_family = family;
    routes.put_u32(RTA_OIF, interface.index);
    done = socket_.transact(routes, subject, [&](const nlmsghdr& message) {
      if (auto route = foreign_route(message, interface.index)) {
        out.routes.push_back(std::move(*route));
      }
    });
    if (!done && done.error().number != EOPNOTSUPP) {  // a kernel without this family
      return std::move(done.error());
    }
  }
  std::stable_partition(out.routes.begin(), out.routes.end(),
                        [](const auto& route) { return !has_gateway(route); });
  return out;
}

Result<void> Netlink::put_back(const Interface& interface, const char* name,
                               const std::vector<std::uint8_t>& message) {
  const std::string subject = "put back what was on " + quoted(interface);
  if (!NetlinkRequest::fits(message)) {
    return Error{name, EMSGSIZE, subject, "", ""};
  }
  NetlinkRequest request{name, message, NLM_F_CREATE | NLM_F_EXCL};
  auto done = socket_.transact(request, subject);
  if (!done && done.error().number == EEXIST) {
    return {};
  }
  return done;
}

Result<void> Netlink::restore(const Interface& interface, const SavedInterface& saved) {
  Result<void> first;
  const auto keep = [&first](Result<void> done) {
    if (first.ok() && !done.ok()) {
      first = std::move(done);
    }
  };
  for (const auto& address : saved.addresses) {
    keep(put_back(interface, "RTM_NEWADDR", address));
  }
  for (const auto& route : saved.routes) {
    keep(put_back(interface, "RTM_NEWROUTE", route));
  }
  return first;
}

Result<std::optional<RemotePath>> Netlink::path_to(const wire::Ipv4Address& remote,
                                                   const wire::Ipv4Address& source) {
  NetlinkRequest request{"RTM_GETROUTE", RTM_GETROUTE, 0};
  auto& header = request.put_header<rtmsg>();
  header.rtm_family = AF_INET;
  header.rtm_dst_len = 32;
  request.put_bytes(RTA_DST, remote.bytes);
  if (!source.is_unspecified()) {
    header.rtm_src_len = 32;
    request.put_bytes(RTA_SRC, source.bytes);
  }
  RemotePath path;
  auto done = socket_.transact(
      request, "look up the route to " + wire::to_string(remote), [&path](const nlmsghdr& message) {
        const auto& route = *static_cast<const rtmsg*>(mnl_nlmsg_get_payload(&message));
        const NetlinkAttributes attributes{message, sizeof(rtmsg), RTA_MAX};
        path.local = route.rtm_type == RTN_LOCAL;
        path.interface_index = attributes.u32(RTA_OIF, 0);
        if (const nlattr* const metrics = attributes.find(RTA_METRICS)) {
          path.mtu = NetlinkAttributes{*metrics, RTAX_MAX}.u32(RTAX_MTU, 0);
        }
      });
  if (!done && means_no_route(done.error().number)) {
    // An address that is not (yet) the host's is no valid source for a look-up: ask without.
    return source.is_unspecified() ? Result<std::optional<RemotePath>>{std::nullopt}
                                   : path_to(remote, {});
  }
  if (!done) {
    return std::move(done.error());
  }
  auto egress = link(path.interface_index);
  if (!egress) {
    return std::move(egress.error());
  }
  if (!egress.value()) {
    return std::optional<RemotePath>{};
  }
  path.interface_name = egress.value()->interface.name;
  if (path.mtu == 0) {
    path.mtu = egress.value()->mtu;
  }
  return std::optional{path};
}

}  // namespace ringway::router
