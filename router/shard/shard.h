// Shard: one thread, its reactor, its packet memory, its forwarding state. Shares nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "netio/base/result.h"
#include "netio/device/raw_socket.h"
#include "netio/device/tun_device.h"
#include "netio/open.h"
#include "netio/port.h"
#include "router/path/counters.h"
#include "router/path/forwarding.h"

namespace ringway::router {

// What a shard is made of. Ports get their ids in this order: the TUN devices first, then the
// sockets.
struct ShardPlan {
  netio::EngineChoice engine = netio::EngineChoice::automatic;
  std::vector<netio::TunDevice> tuns;
  std::vector<netio::RawSocket> sockets;
};

// Owned and called by the control thread; everything behind it runs on the shard's own thread.
class Shard {
 public:
  // Starts the thread and returns when its ports are ready, or with the reason why they are not.
  [[nodiscard]] static Result<std::unique_ptr<Shard>> start(ShardPlan plan);

  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;
  // Stops and joins.
  ~Shard();
  // Only start() can make a State.
  struct State;
  explicit Shard(std::unique_ptr<State> state);

  // Gives the shard a new forwarding state; it takes over between two batches.
  void publish(std::unique_ptr<Forwarding> forwarding);
  // States that the shard no longer uses come back here, to be freed by their maker.
  [[nodiscard]] std::unique_ptr<Forwarding> take_retired();
  // Ends the thread: what is in flight is finished or counted. Safe to call twice.
  void stop();

  [[nodiscard]] const netio::EngineReport& engine() const noexcept;
  // By PortId. Counters may be read at any time until stop(); then the ports are gone.
  [[nodiscard]] const std::vector<const netio::Port*>& ports() const noexcept;
  [[nodiscard]] const PathCounters& counters() const noexcept;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ringway::router
