// getaddrinfo, and the addresses of an interface.
#include "router/control/resolve.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/wire/address.h"
#include "router/control/netlink.h"
#include "router/tunnel/kinds.h"

namespace ringway::router {

namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// Looks a name up; returns getaddrinfo's code.
int look_up(const std::string& name, int family, Addresses& out) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_DGRAM;  // one answer per address instead of one per socket type
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (code == 0) {
    out.reset(list);
  }
  return code;
}

Error lookup_failed(const std::string& name, const std::string& tunnel, int code) {
  Error error{"getaddrinfo", code == EAI_SYSTEM ? errno : 0,
              "find the address of '" + name + "', the remote of tunnel '" + tunnel + "'", "", ""};
  if (code == EAI_AGAIN) {
    error.why = "no name server answered";
    error.fix = "check the network and /etc/resolv.conf, or give the address itself as 'remote'";
    return error;
  }
  Addresses ipv6;
  if (look_up(name, AF_INET6, ipv6) == 0) {
    error.why = "the name has IPv6 addresses only, and tunnels run over IPv4";
    error.fix = "give an IPv4 address, or a name that has one";
    return error;
  }
  error.why = std::string{::gai_strerror(code)};
  error.fix = "check the spelling: getent ahostsv4 " + name;
  return error;
}

}  // namespace

Result<wire::Ipv4Address> resolve_local(Netlink& netlink, const config::Local& local,
                                        const std::string& tunnel) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&local)) {
    return *address;
  }
  const auto* name = std::get_if<config::InterfaceName>(&local);
  if (name == nullptr) {
    return wire::Ipv4Address{};
  }
  const std::string subject =
      "use interface '" + name->name + "' as the local end of tunnel '" + tunnel + "'";
  auto link = netlink.link(name->name);
  if (!link) {
    return std::move(link.error());
  }
  if (!link.value()) {
    return Error{"RTM_GETLINK", ENODEV, subject,
                 "there is no such interface in this network namespace",
                 "list interfaces with: ip link; or leave 'local' out to use the routed source"};
  }
  auto addresses = netlink.addresses(link.value()->interface.index);
  if (!addresses) {
    return std::move(addresses.error());
  }
  const auto found = std::find_if(
      addresses.value().begin(), addresses.value().end(),
      [](const InterfaceAddress& one) { return one.prefix.is_ipv4() && !one.secondary; });
  if (found == addresses.value().end()) {
    return Error{"RTM_GETADDR", EADDRNOTAVAIL, subject, "it has no IPv4 address",
                 "give it one, name another interface, or leave 'local' out"};
  }
  return std::get<wire::Ipv4Address>(found->prefix.address);
}

Result<wire::Ipv4Address> resolve_remote(const config::Remote& remote, const std::string& tunnel) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&remote)) {
    return *address;
  }
  const std::string& name = std::get<config::HostName>(remote).name;
  Addresses list;
  const int code = look_up(name, AF_INET, list);
  if (code != 0) {
    return lookup_failed(name, tunnel, code);
  }
  sockaddr_in socket_address{};
  std::memcpy(&socket_address, list->ai_addr, sizeof(socket_address));
  wire::Ipv4Address address;
  std::memcpy(address.bytes.data(), &socket_address.sin_addr, address.bytes.size());
  return address;
}

Result<std::vector<Ends>> resolve_ends(Netlink& netlink, const config::Config& config) {
  std::vector<Ends> out;
  for (const config::Tunnel& tunnel : config.tunnels) {
    auto local = resolve_local(netlink, tunnel.local, tunnel.name);
    if (!local) {
      return std::move(local.error());
    }
    auto remote = resolve_remote(tunnel.remote, tunnel.name);
    if (!remote) {
      return std::move(remote.error());
    }
    out.push_back({local.value(), remote.value()});
  }
  return out;
}

}  // namespace ringway::router
