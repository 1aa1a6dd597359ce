// Demux: which tunnel an outer packet belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "netio/packet/packet.h"
#include "netio/wire/address.h"
#include "netio/wire/protocols.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

// What decides, read from one outer packet.
struct OuterFlow {
  wire::IpProtocol protocol{};
  wire::Ipv4Address source;       // the peer
  wire::Ipv4Address destination;  // us
  std::optional<std::uint32_t> key;
};

// Linux's order of specificity (net/ipv4/ip_tunnel.c ip_tunnel_lookup): both addresses, then the
// remote alone, then the local alone, then neither. The key must match in each: a claim without key
// wants a packet without key, so that "no key" and "key 0" are two tunnels.
//
// A hash table of open addressing, built once: at most four probes a packet, however many tunnels.
class Demux {
 public:
  // Not for the packet path. A second equal claim replaces the first.
  void add(const DemuxClaim& claim, netio::TunnelId tunnel);
  // kNoTunnel if nobody claims the packet.
  [[nodiscard]] netio::TunnelId lookup(const OuterFlow& flow) const noexcept;

 private:
  struct Entry {
    DemuxClaim claim;
    netio::TunnelId tunnel = netio::kNoTunnel;
    bool used = false;
  };
  [[nodiscard]] std::size_t find(const DemuxClaim& claim) const noexcept;
  void grow();

  std::vector<Entry> table_ = std::vector<Entry>(8);  // a power of two, at most half full
  std::size_t used_ = 0;
  // Which of the four forms occur at all, so that the usual case (both addresses given) costs one
  // probe.
  bool any_local_ = false;
  bool any_remote_ = false;
};

}  // namespace ringway::router
