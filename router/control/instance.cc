// Start, step by step; each step is undone by the destructor of what it made.
#include "router/control/instance.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <pthread.h>

#include <fmt/format.h>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/device/raw_socket.h"
#include "netio/device/tun_device.h"
#include "netio/wire/address.h"
#include "netio/wire/protocols.h"
#include "router/control/host_interface.h"
#include "router/control/log.h"
#include "router/control/netlink.h"
#include "router/control/plan.h"
#include "router/control/resolve.h"
#include "router/control/status.h"
#include "router/control/underlay.h"
#include "router/path/counters.h"
#include "router/path/forwarding.h"
#include "router/shard/shard.h"
#include "router/tunnel/kinds.h"

namespace ringway::router {

namespace {

// A thread inherits its maker's signal mask: signals are for the control thread alone.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

Error loop_error(const config::Config& config, const std::vector<Ends>& ends,
                 const std::vector<std::size_t>& loop) {
  const std::string& name = config.tunnels[loop.front()].name;
  const std::string remote = wire::to_string(ends[loop.front()].remote);
  std::string way;
  for (const std::size_t index : loop) {
    way += "'" + config.tunnels[index].name + "' -> ";
  }
  return {"route check", 0, "start tunnel '" + name + "'",
          "the host's route to its remote " + remote + " leads into a loop: " + way + "'" + name +
              "'; every packet would be wrapped again and again",
          "add a route for the remote past the tunnel (ip route add " + remote +
              "/32 via GATEWAY dev INTERFACE), or take the covering address or route away"};
}

}  // namespace

Result<Instance::Underlay> Instance::open_underlay(const config::Config& config, Netlink& netlink) {
  Underlay out;
  auto ends = resolve_ends(netlink, config);
  if (!ends) {
    return std::move(ends.error());
  }
  out.ends = std::move(ends).value();
  for (const wire::IpProtocol protocol : needed_protocols(config)) {
    auto socket = netio::RawSocket::open(protocol);
    if (!socket) {
      return std::move(socket.error());
    }
    out.sockets.push_back(std::move(socket).value());
  }
  return out;
}

Result<std::unique_ptr<Instance>> Instance::start(const config::Config& config, Underlay underlay,
                                                  Netlink& netlink, const Log& log) {
  // The constructor is private to keep half-made instances inside.
  std::unique_ptr<Instance> instance{new Instance{config, std::move(underlay.ends), netlink, log}};
  auto done = instance->bring_up(std::move(underlay.sockets));
  if (!done) {
    return std::move(done.error());
  }
  return instance;
}

Result<void> Instance::bring_up(std::vector<netio::RawSocket> sockets) {
  auto forwarding = make_forwarding(config_, ends_, &random_identification);
  if (!forwarding) {
    return std::move(forwarding.error());
  }
  if (auto done = warn_about_ends(); !done) {
    return done;
  }
  if (auto done = choose_mtus(); !done) {
    return done;
  }
  ShardPlan plan;
  plan.engine = engine_choice(config_.daemon.engine);
  plan.sockets = std::move(sockets);
  if (auto done = open_tuns(plan); !done) {
    return done;
  }
  if (auto done = set_up_host(plan); !done) {
    return done;
  }
  if (auto done = check_carriers(); !done) {
    return done;
  }
  for (std::size_t i = 0; i < mtus_.size(); ++i) {
    forwarding.value()->tunnels[i].overlay_mtu = mtus_[i].mtu;
  }
  const SignalsBlocked blocked;
  auto shard = Shard::start(std::move(plan));
  if (!shard) {
    return std::move(shard.error());
  }
  shard_ = std::move(shard).value();
  shard_->publish(std::move(forwarding).value());
  return {};
}

// A local end that the host does not have (yet) is allowed, as with the kernel's tunnels, but in
// most files it is a mistake.
Result<void> Instance::warn_about_ends() {
  auto addresses = netlink_->addresses(0);
  if (!addresses) {
    return std::move(addresses.error());
  }
  const auto is_ours = [&](const wire::Ipv4Address& address) {
    return std::any_of(
        addresses.value().begin(), addresses.value().end(), [&](const InterfaceAddress& one) {
          return one.prefix.is_ipv4() && std::get<wire::Ipv4Address>(one.prefix.address) == address;
        });
  };
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const Ends& ends = ends_[i];
    const std::string& name = config_.tunnels[i].name;
    if (!ends.local.is_unspecified() && !is_ours(ends.local) && !ends.local.is_loopback()) {
      log_->warning(fmt::format(
          "local {} of tunnel '{}' is no address of this host: nothing will arrive until it is",
          wire::to_string(ends.local), name));
    }
    if (is_ours(ends.remote)) {
      log_->warning(fmt::format("remote {} of tunnel '{}' is an address of this host itself",
                                wire::to_string(ends.remote), name));
    }
  }
  return {};
}

Result<std::vector<std::optional<RemotePath>>> Instance::look_up_paths() {
  std::vector<std::optional<RemotePath>> out;
  for (const Ends& ends : ends_) {
    auto path = netlink_->path_to(ends.remote, ends.local);
    if (!path) {
      return std::move(path.error());
    }
    out.push_back(path.value());
  }
  return out;
}

Result<void> Instance::choose_mtus() {
  auto paths = look_up_paths();
  if (!paths) {
    return std::move(paths.error());
  }
  for (std::size_t i = 0; i < config_.tunnels.size(); ++i) {
    mtus_.push_back(choose_mtu(config_.tunnels[i], host_routes(config_, i), paths.value()[i]));
    if (!mtus_.back().warning.empty()) {
      log_->warning(mtus_.back().warning);
    }
  }
  return {};
}

Result<void> Instance::open_tuns(ShardPlan& plan) const {
  for (std::size_t i = 0; i < config_.tunnels.size(); ++i) {
    auto tun = netio::TunDevice::open({config_.tunnels[i].interface, mtus_[i].mtu});
    if (!tun) {
      return std::move(tun.error());
    }
    plan.tuns.push_back(std::move(tun).value());
  }
  return {};
}

Result<void> Instance::set_up_host(const ShardPlan& plan) {
  for (std::size_t i = 0; i < plan.tuns.size(); ++i) {
    const config::Tunnel& tunnel = config_.tunnels[i];
    auto host = HostInterface::apply(*netlink_, *log_,
                                     {.name = plan.tuns[i].name(),
                                      .existed = plan.tuns[i].existed(),
                                      .mtu = mtus_[i].mtu,
                                      .carries_ipv6 = carries_ipv6(tunnel.kind),
                                      .addresses = tunnel.addresses,
                                      .routes = host_routes(config_, i)});
    if (!host) {
      return std::move(host.error());
    }
    hosts_.push_back(std::move(host).value());
  }
  return {};
}

std::vector<std::optional<std::size_t>> Instance::carriers(
    const std::vector<std::optional<RemotePath>>& paths) const {
  std::vector<std::optional<std::size_t>> out;
  for (const std::optional<RemotePath>& path : paths) {
    const auto found = std::find_if(hosts_.begin(), hosts_.end(), [&](const HostInterface& host) {
      return path && host.interface().index == path->interface_index;
    });
    out.push_back(found == hosts_.end() ? std::nullopt
                                        : std::optional{static_cast<std::size_t>(
                                              std::distance(hosts_.begin(), found))});
  }
  return out;
}

// Now that all routes are in place: which tunnel is carried by which? Circles are refused; a tunnel
// within a tunnel has a shorter path than the one seen before.
Result<void> Instance::check_carriers() {
  for (std::size_t depth = 0; depth <= config_.tunnels.size(); ++depth) {
    auto paths = look_up_paths();
    if (!paths) {
      return std::move(paths.error());
    }
    const std::vector<std::size_t> loop = find_loop(carriers(paths.value()));
    if (!loop.empty()) {
      return loop_error(config_, ends_, loop);
    }
    auto changed = lower_nested_mtus(paths.value());
    if (!changed) {
      return std::move(changed.error());
    }
    if (!changed.value()) {
      break;
    }
  }
  return {};
}

// Only downwards: receive buffers were sized for the first choice.
Result<bool> Instance::lower_nested_mtus(const std::vector<std::optional<RemotePath>>& paths) {
  bool changed = false;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    MtuChoice choice = choose_mtu(config_.tunnels[i], host_routes(config_, i), paths[i]);
    if (!choice.automatic || choice.mtu >= mtus_[i].mtu) {
      continue;
    }
    if (auto done = hosts_[i].lower_mtu(choice.mtu); !done) {
      return std::move(done.error());
    }
    mtus_[i] = std::move(choice);
    changed = true;
  }
  return changed;
}

void Instance::stop() noexcept {
  try {
    if (shard_ != nullptr) {
      shard_->stop();
      shard_.reset();
    }
  } catch (const std::exception& exception) {  // a thread that cannot be joined
    log_->warning(exception.what());
  }
  // The last one first, as a stack would.
  while (!hosts_.empty()) {
    hosts_.pop_back();
  }
}

void Instance::describe(Snapshot& snapshot) {
  snapshot.engine = shard_->engine();
  snapshot.tunnels.clear();
  for (std::size_t i = 0; i < config_.tunnels.size(); ++i) {
    snapshot.tunnels.push_back(describe_tunnel(i));
  }
  add_path_notes(snapshot.tunnels);
  // Drops before ports, for the reason that read_ports() gives.
  snapshot.unclaimed = read_drops(shard_->counters().unclaimed);
  for (std::size_t i = 0; i < snapshot.tunnels.size(); ++i) {
    const TunnelCounters& counters = shard_->counters().tunnel(i);
    TunnelStatus& tunnel = snapshot.tunnels[i];
    tunnel.drops = read_drops(counters.drops);
    tunnel.rx_packets = counters.rx_packets.value();
    tunnel.rx_bytes = counters.rx_bytes.value();
    tunnel.tx_packets = counters.tx_packets.value();
    tunnel.tx_bytes = counters.tx_bytes.value();
    tunnel.forwarded = counters.forwarded.value();
  }
  snapshot.ports = read_ports(shard_->ports());
}

TunnelStatus Instance::describe_tunnel(std::size_t index) {
  const Interface& interface = hosts_[index].interface();
  TunnelStatus out;
  out.config = config_.tunnels[index];
  out.ends = ends_[index];
  out.interface_index = interface.index;
  out.mtu_choice = mtus_[index];
  const auto link = netlink_->link(interface.index);
  if (!link) {
    out.notes.push_back({link.error().text(), ""});
    return out;
  }
  if (!link.value()) {
    out.notes.push_back({"interface '" + interface.name + "' has been removed",
                         "restart ringway to make it again"});
    return out;
  }
  out.up = link.value()->up;
  out.mtu = link.value()->mtu;
  out.host_drops = link.value()->tx_dropped;
  if (!out.up) {
    const std::string& name = link.value()->interface.name;
    out.notes.push_back({"interface '" + name + "' is down", "sudo ip link set " + name + " up"});
  }
  return out;
}

void Instance::add_path_notes(std::vector<TunnelStatus>& tunnels) {
  const auto paths = look_up_paths();
  if (!paths) {
    log_->warning(paths.error().text());
    return;
  }
  const std::vector<std::size_t> loop = find_loop(carriers(paths.value()));
  for (std::size_t i = 0; i < tunnels.size(); ++i) {
    TunnelStatus& tunnel = tunnels[i];
    const std::string remote = wire::to_string(tunnel.ends.remote);
    if (std::find(loop.begin(), loop.end(), i) != loop.end()) {
      tunnel.notes.push_back(
          {"the route to the remote leads back into the tunnel (loop)", "ip route get " + remote});
      continue;
    }
    if (!paths.value()[i]) {
      tunnel.notes.push_back({"no route to the remote", "ip route get " + remote});
      continue;
    }
    const RemotePath& path = *paths.value()[i];
    const std::uint32_t overhead = config::overhead_bytes(tunnel.config);
    if (tunnel.up && tunnel.mtu + overhead > path.mtu) {
      const std::uint32_t room = path.mtu > overhead ? path.mtu - overhead : 0;
      tunnel.notes.push_back(
          {fmt::format("mtu {} is more than {} {} leaves: {}", tunnel.mtu, path.interface_name,
                       path.mtu, room),
           fmt::format("sudo ip link set {} mtu {}", tunnel.config.interface, room)});
    }
  }
}

}  // namespace ringway::router
