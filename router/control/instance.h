// Instance: one configuration, running: its interfaces, its sockets, its shard.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/device/raw_socket.h"
#include "netio/open.h"
#include "router/control/host_interface.h"
#include "router/control/log.h"
#include "router/control/netlink.h"
#include "router/control/status.h"
#include "router/control/underlay.h"
#include "router/shard/shard.h"
#include "router/tunnel/kinds.h"

namespace ringway::router {

// Owns everything that a configuration brought into being. Control thread only.
class Instance {
 public:
  // Where an instance begins: what does not change the host.
  struct Underlay {
    std::vector<Ends> ends;                 // by tunnel
    std::vector<netio::RawSocket> sockets;  // by needed_protocols()
  };
  // Resolves names, which may take long, and opens sockets, which shows whether we may.
  [[nodiscard]] static Result<Underlay> open_underlay(const config::Config& config,
                                                      Netlink& netlink);

  // Opens and sets up the rest, or nothing: a failure leaves the host as it was. Returns when
  // traffic flows. `netlink` and `log` outlive the instance.
  [[nodiscard]] static Result<std::unique_ptr<Instance>> start(const config::Config& config,
                                                               Underlay underlay, Netlink& netlink,
                                                               const Log& log);

  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() { stop(); }

  // Ends the shard, then takes back what was changed in the host. Safe to call twice.
  void stop() noexcept;

  // Fills in engine, tunnels, ports and drops. Precondition: not stopped.
  void describe(Snapshot& snapshot);

  [[nodiscard]] const netio::EngineReport& engine() const noexcept { return shard_->engine(); }

 private:
  Instance(const config::Config& config, std::vector<Ends> ends, Netlink& netlink, const Log& log)
      : config_{config}, ends_{std::move(ends)}, netlink_{&netlink}, log_{&log} {}

  Result<void> bring_up(std::vector<netio::RawSocket> sockets);
  Result<void> choose_mtus();
  Result<void> warn_about_ends();
  Result<void> open_tuns(ShardPlan& plan) const;
  Result<void> set_up_host(const ShardPlan& plan);
  Result<void> check_carriers();
  Result<bool> lower_nested_mtus(const std::vector<std::optional<RemotePath>>& paths);

  [[nodiscard]] Result<std::vector<std::optional<RemotePath>>> look_up_paths();
  // By tunnel: the one of ours that the path leads through.
  [[nodiscard]] std::vector<std::optional<std::size_t>> carriers(
      const std::vector<std::optional<RemotePath>>& paths) const;
  [[nodiscard]] TunnelStatus describe_tunnel(std::size_t index);
  void add_path_notes(std::vector<TunnelStatus>& tunnels);

  config::Config config_;
  std::vector<Ends> ends_;
  Netlink* netlink_;
  const Log* log_;
  std::vector<MtuChoice> mtus_;
  // In this order: the shard ends before the interfaces are taken back.
  std::vector<HostInterface> hosts_;
  std::unique_ptr<Shard> shard_;
};

}  // namespace ringway::router
