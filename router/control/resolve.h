// Resolve: the ends of a tunnel, from names and interfaces to addresses.
#pragma once

#include <string>
#include <vector>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/wire/address.h"
#include "router/control/netlink.h"
#include "router/tunnel/kinds.h"

namespace ringway::router {

// The address, the first IPv4 address of the interface, or unspecified. `tunnel` is for messages.
[[nodiscard]] Result<wire::Ipv4Address> resolve_local(Netlink& netlink, const config::Local& local,
                                                      const std::string& tunnel);

// The address, or the first IPv4 address of the host name. Asks the system's resolver, which may
// take as long as its own time-outs (resolv.conf(5): 10 seconds as a rule).
[[nodiscard]] Result<wire::Ipv4Address> resolve_remote(const config::Remote& remote,
                                                       const std::string& tunnel);

// The ends of all tunnels, in their order.
[[nodiscard]] Result<std::vector<Ends>> resolve_ends(Netlink& netlink,
                                                     const config::Config& config);

}  // namespace ringway::router
