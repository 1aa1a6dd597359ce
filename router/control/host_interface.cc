// The steps to the wanted state, each remembered for the way back.
#include "router/control/host_interface.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "config/model.h"
#include "netio/base/fd.h"
#include "netio/base/result.h"
#include "netio/wire/address.h"
#include "router/control/log.h"
#include "router/control/netlink.h"

namespace ringway::router {

namespace {

bool has_address(const std::vector<InterfaceAddress>& present, const wire::IpPrefix& address) {
  return std::any_of(present.begin(), present.end(),
                     [&](const InterfaceAddress& one) { return one.prefix == address; });
}

// What tells routes of one interface and table apart.
using RouteKey = std::tuple<wire::IpAddress, std::uint8_t, std::uint32_t>;

RouteKey key_of(const config::Route& route) {
  return {route.to.address, route.to.length, kernel_metric(route)};
}

// Whoever took it away before us did our work: an interface, address or route that is gone.
bool is_gone(const Error& error) {
  return error.number == ENODEV || error.number == ENOENT || error.number == ESRCH ||
         error.number == EADDRNOTAVAIL;
}

// net.ipv6.conf.NAME.disable_ipv6 (Documentation/networking/ip-sysctl.rst) has no netlink message.
bool disable_ipv6_by_sysctl(const std::string& name) {
  const std::string path = "/proc/sys/net/ipv6/conf/" + name + "/disable_ipv6";
  const Fd file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  return file.valid() && ::write(file.get(), "1", 1) == 1;
}

}  // namespace

HostInterface::HostInterface(HostInterface&& other) noexcept
    : netlink_{other.netlink_},
      log_{other.log_},
      interface_{std::move(other.interface_)},
      existed_{other.existed_},
      active_{std::exchange(other.active_, false)},
      changes_{std::move(other.changes_)},
      foreign_{std::move(other.foreign_)} {}

Result<HostInterface> HostInterface::apply(Netlink& netlink, const Log& log,
                                           const WantedInterface& wanted) {
  auto link = netlink.link(wanted.name);
  if (!link) {
    return std::move(link.error());
  }
  if (!link.value()) {
    return Error{"RTM_GETLINK", ENODEV, "set up interface '" + wanted.name + "'",
                 "it went away while we were starting",
                 "look for another program that manages this interface"};
  }
  HostInterface host{netlink, log, link.value()->interface, wanted.existed};
  if (wanted.existed) {
    auto saved = netlink.save(host.interface_);
    if (!saved) {
      return std::move(saved.error());
    }
    host.foreign_ = std::move(saved).value();
  }
  auto done = host.bring(wanted, *link.value());
  if (!done) {
    return std::move(done.error());  // `host` takes back what was done so far
  }
  return host;
}

// MTU first: IPv6 is refused below 1280. Routes last: they need an interface that is up.
Result<void> HostInterface::bring(const WantedInterface& wanted, const Link& link) {
  auto present = netlink_->addresses(interface_.index);
  if (!present) {
    return std::move(present.error());
  }
  if (auto done = bring_mtu(wanted.mtu, link.mtu); !done) {
    return done;
  }
  bring_queue_length(link.queue_length);
  if (!wanted.carries_ipv6 && !existed_) {
    silence_ipv6();
  }
  if (auto done = bring_addresses(wanted.addresses, present.value()); !done) {
    return done;
  }
  if (!link.up) {
    if (auto done = bring_up(); !done) {
      return done;
    }
  }
  return bring_routes(wanted.routes);
}

Result<void> HostInterface::bring_mtu(std::uint32_t wanted, std::uint32_t present) {
  if (wanted == present) {
    return {};
  }
  auto done = netlink_->set_mtu(interface_, wanted);
  if (done) {
    changes_.emplace_back(MtuChanged{present});
  }
  return done;
}

Result<void> HostInterface::lower_mtu(std::uint32_t mtu) {
  auto link = netlink_->link(interface_.index);
  if (!link) {
    return std::move(link.error());
  }
  return link.value() ? bring_mtu(mtu, link.value()->mtu) : Result<void>{};
}

// A short queue costs packets in bursts but breaks nothing: no reason to refuse to start.
void HostInterface::bring_queue_length(std::uint32_t present) {
  if (present >= kQueueLengthMin) {
    return;
  }
  const auto done = netlink_->set_queue_length(interface_, kQueueLengthMin);
  if (done) {
    changes_.emplace_back(QueueLengthChanged{present});
  } else {
    log_->warning(done.error().text());
  }
}

// Into a tunnel that carries IPv4 only the kernel would send router solicitations and MLD reports
// of its own. Without a link-local address it still sends MLD reports from "::" on a forwarding
// host (observed on Linux 6.18: ff02::2 and others), so IPv6 is switched off for the interface
// altogether. Where /proc/sys is read-only (containers) the address mode is the next best.
void HostInterface::silence_ipv6() {
  if (disable_ipv6_by_sysctl(interface_.name)) {
    return;
  }
  const auto done = netlink_->stop_ipv6_link_local(interface_);
  if (!done) {
    log_->debug(done.error().text());
  }
}

Result<void> HostInterface::bring_addresses(const std::vector<wire::IpPrefix>& wanted,
                                            const std::vector<InterfaceAddress>& present) {
  for (const wire::IpPrefix& address : wanted) {
    if (has_address(present, address)) {
      continue;
    }
    auto done = netlink_->add_address(interface_, address);
    if (!done) {
      return done;
    }
    changes_.emplace_back(AddressAdded{address});
  }
  return {};
}

Result<void> HostInterface::bring_up() {
  auto done = netlink_->set_up(interface_, true);
  if (done) {
    changes_.emplace_back(SetUp{});
  }
  return done;
}

Result<void> HostInterface::bring_routes(const std::vector<config::Route>& wanted) {
  if (wanted.empty()) {
    return {};
  }
  auto present = netlink_->routes(interface_.index);
  if (!present) {
    return std::move(present.error());
  }
  std::set<RouteKey> there;  // a file may have kRoutesMax of them
  for (const HostRoute& one : present.value()) {
    there.insert(key_of(one.route));
  }
  for (const config::Route& route : wanted) {
    if (there.count(key_of(route)) != 0) {
      continue;
    }
    auto done = netlink_->add_route(interface_, route);
    if (!done) {
      return done;
    }
    changes_.emplace_back(RouteAdded{route});
  }
  return {};
}

Result<void> HostInterface::take_back(const Change& change) {
  if (const auto* mtu = std::get_if<MtuChanged>(&change)) {
    return netlink_->set_mtu(interface_, mtu->before);
  }
  if (const auto* queue = std::get_if<QueueLengthChanged>(&change)) {
    return netlink_->set_queue_length(interface_, queue->before);
  }
  if (std::holds_alternative<SetUp>(change)) {
    return netlink_->set_up(interface_, false);
  }
  if (const auto* address = std::get_if<AddressAdded>(&change)) {
    return netlink_->remove_address(interface_, address->address);
  }
  return netlink_->remove_route(interface_, std::get<RouteAdded>(change).route);
}

void HostInterface::undo_changes() {
  if (!existed_) {
    // Ours: it ends with its last descriptor, and all it carried with it. The kernel may be late
    // to notice (reads in flight hold the file), so do not wait for that.
    const auto done = netlink_->remove_link(interface_);
    if (!done && !is_gone(done.error())) {
      log_->warning(done.error().text());
    }
    return;
  }
  if (changes_.empty()) {
    return;  // perhaps without any right to change something
  }
  const auto report = [this](const Result<void>& done) {
    if (!done && !is_gone(done.error())) {
      log_->warning(done.error().text());
    }
  };
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    report(take_back(*change));
  }
  report(netlink_->restore(interface_, foreign_));
}

void HostInterface::undo() noexcept {
  if (!std::exchange(active_, false)) {
    return;
  }
  try {
    undo_changes();
  } catch (const std::exception& exception) {  // out of memory; the rest of the clean-up goes on
    static_cast<void>(exception);
  }
  changes_.clear();
}

}  // namespace ringway::router
