// Forwarding: everything a shard must know to forward, as one state that is swapped as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "netio/packet/packet.h"
#include "netio/wire/protocols.h"
#include "router/path/demux.h"
#include "router/path/lpm.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

// What a port carries, by PortId.
struct Ingress {
  // Overlay: a tunnel's TUN. The host has routed what comes from it into that tunnel.
  netio::TunnelId tunnel = netio::kNoTunnel;
  // Underlay: a raw socket of this protocol (tunnel is kNoTunnel).
  wire::IpProtocol protocol{};
};

// A tunnel and its two sides, by TunnelId.
struct TunnelSlot {
  std::unique_ptr<Tunnel> tunnel;
  netio::PortId overlay = netio::kNoPort;   // its TUN
  netio::PortId underlay = netio::kNoPort;  // the raw socket of its protocol
  std::uint32_t overlay_mtu = 1500;         // of the TUN, as control set it
};

// Built by control, moved to a shard, swapped between two batches, sent back to be freed.
struct Forwarding {
  std::uint64_t generation = 0;
  std::vector<Ingress> ingress;
  std::vector<TunnelSlot> tunnels;
  Demux demux;
  // Transit routes: where a packet that came out of a tunnel goes on without the host.
  Lpm<wire::Ipv4Address, netio::TunnelId> routes4;
  Lpm<wire::Ipv6Address, netio::TunnelId> routes6;
};

}  // namespace ringway::router
