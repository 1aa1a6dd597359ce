// Tunnel: what a kind does to packets. The single open point of the packet path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "netio/base/clock.h"
#include "netio/packet/batch.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/wire/address.h"
#include "netio/wire/protocols.h"

namespace ringway::router {

// Which outer packets a tunnel wants: remote and local as the packet's source and destination
// (unspecified: any), and the GRE key rule (none: the packet must carry no key).
struct DemuxClaim {
  wire::IpProtocol protocol{};
  wire::Ipv4Address local;
  wire::Ipv4Address remote;
  std::optional<std::uint32_t> key;
};

// Whether packets of one tunnel may be sent by several shards at once.
enum class Ordering : std::uint8_t {
  per_flow,    // yes: nothing ties one flow to another
  per_tunnel,  // no: output sequence numbers leave strictly in order, through one home shard
};

struct TunnelInfo {
  std::string name;
  std::uint32_t overhead_bytes = 0;
  Ordering ordering = Ordering::per_flow;
  std::vector<DemuxClaim> claims;
};

// Where a tunnel puts its packets. The path gives it room for at least the run it passes.
struct Outbox {
  netio::Batch& underlay;  // whole outer packets, to be sent to their remote
  netio::Batch& overlay;   // inner packets that came out of the tunnel, l3 at begin
  netio::DropCounters& drops;

  void drop(netio::Packet* packet, netio::Drop reason) noexcept {
    drops.count(reason);
    netio::recycle(packet);
  }
};

// One instance per shard: its state is private to it. Called once per run, never per packet; places
// every packet of the run in the outbox exactly once.
class Tunnel {
 public:
  explicit Tunnel(TunnelInfo info) : info_{std::move(info)} {}
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  virtual ~Tunnel() = default;

  // Inner packets, parsed (l3, l4 set, lengths consistent), become outer packets.
  virtual void encapsulate(netio::Run run, Outbox& out) noexcept = 0;
  // Outer packets, parsed (l3 at the outer IPv4 header, l4 behind it) and claimed by this tunnel,
  // become inner packets. What comes out is a whole valid IP packet.
  virtual void decapsulate(netio::Run run, Outbox& out) noexcept = 0;

  [[nodiscard]] const TunnelInfo& info() const noexcept { return info_; }

 private:
  TunnelInfo info_;
};

}  // namespace ringway::router
