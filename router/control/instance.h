// Instance: one configuration, running: its interfaces, its sockets, its shard.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/model.h"
#include "netio/base/result.h"
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
  // Opens and sets up everything, or nothing: a failure leaves the host as it was. Returns when
  // traffic flows. `ends` come from resolve_ends(); `netlink` and `log` outlive the instance.
  [[nodiscard]] static Result<std::unique_ptr<Instance>> start(const config::Config& config,
                                                               std::vector<Ends> ends,
                                                               Netlink& netlink, const Log& log);

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

  Result<void> bring_up();
  Result<void> choose_mtus();
  Result<void> warn_about_ends();
  Result<ShardPlan> open_devices() const;
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
