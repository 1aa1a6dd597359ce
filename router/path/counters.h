// What the path counts: per tunnel, and what no tunnel can be blamed for.
#pragma once

#include <cstddef>
#include <memory>

#include "netio/packet/counters.h"
#include "netio/packet/drop.h"

namespace ringway::router {

// Inner packets and bytes, as an interface counts them.
struct TunnelCounters {
  netio::Counter rx_packets;  // came out of the tunnel
  netio::Counter rx_bytes;
  netio::Counter tx_packets;  // went into the tunnel
  netio::Counter tx_bytes;
  netio::Counter forwarded;  // of rx: went straight on into another tunnel
  netio::DropCounters drops;
};

// Written by the shard, read by control. Sized once.
class PathCounters {
 public:
  explicit PathCounters(std::size_t tunnels)
      : tunnels_{std::make_unique<TunnelCounters[]>(tunnels)}, count_{tunnels} {}

  [[nodiscard]] TunnelCounters& tunnel(std::size_t index) noexcept { return tunnels_[index]; }
  [[nodiscard]] const TunnelCounters& tunnel(std::size_t index) const noexcept {
    return tunnels_[index];
  }
  [[nodiscard]] std::size_t tunnel_count() const noexcept { return count_; }

  netio::DropCounters unclaimed;  // outer packets that led to no tunnel

 private:
  std::unique_ptr<TunnelCounters[]> tunnels_;
  std::size_t count_;
};

}  // namespace ringway::router
