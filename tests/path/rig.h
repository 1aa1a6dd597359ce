// Rig: a router without ports. Packets go in by port, and come out by port or as a drop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/model.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/drop.h"
#include "netio/wire/address.h"
#include "router/path/counters.h"
#include "router/path/egress.h"
#include "router/path/forward.h"
#include "router/path/forwarding.h"
#include "tests/support/builder.h"

namespace ringway::test {

// What came out: the bytes, and what the packet said about itself.
struct Emitted {
  PacketBytes bytes;
  netio::GsoKind gso_kind = netio::GsoKind::none;
  std::uint16_t gso_size = 0;
  netio::ChecksumState checksum = netio::ChecksumState::unknown;
  std::uint16_t checksum_start = 0;  // from the first byte of the packet
  std::uint16_t checksum_offset = 0;
};

// A tunnel with everything at its default but what most tests want apart: a fixed remote and local.
[[nodiscard]] config::Tunnel tunnel_of(config::Kind kind, const std::string& name = "t0");

// Where the rig's tunnels end: 10.0.0.1 here, 10.0.0.2 + n there.
[[nodiscard]] wire::Ipv4Address local_end();
[[nodiscard]] wire::Ipv4Address remote_end(std::size_t tunnel);

class Rig final : public router::Egress {
 public:
  // The tunnels get the ids 0, 1, ... in this order. Outer ids start at 0x1000.
  explicit Rig(const std::vector<config::Tunnel>& tunnels);
  ~Rig() override;  // checks that every packet has come home

  // A transit route into a tunnel.
  void route(const std::string& prefix, std::size_t tunnel);

  // As if the tunnel's TUN had delivered these (at most 64).
  void from_host(std::size_t tunnel, const std::vector<PacketBytes>& packets);
  // As if the raw socket of the protocol had.
  void from_wire(wire::IpProtocol protocol, const std::vector<PacketBytes>& packets);

  // What has come out since the last call, in order.
  [[nodiscard]] std::vector<Emitted> to_host(std::size_t tunnel);
  [[nodiscard]] std::vector<Emitted> to_wire(wire::IpProtocol protocol);

  // Drops by name since the start, all tunnels and unclaimed together: {"loop", 1}.
  [[nodiscard]] std::map<std::string, std::uint64_t> drops() const;
  [[nodiscard]] std::uint64_t packets_in() const { return in_; }
  [[nodiscard]] std::uint64_t packets_out() const { return out_; }
  [[nodiscard]] const router::TunnelCounters& counters(std::size_t tunnel) const {
    return counters_.tunnel(tunnel);
  }
  [[nodiscard]] const router::PathCounters& all_counters() const { return counters_; }

  // For tests that run batches of their own.
  [[nodiscard]] netio::BufferPool& pool() { return *pool_; }
  [[nodiscard]] router::Path path() {
    return {.forwarding = forwarding_, .counters = counters_, .egress = *this};
  }
  [[nodiscard]] netio::PortId port_of_host(std::size_t tunnel) const;
  [[nodiscard]] netio::PortId port_of_wire(wire::IpProtocol protocol) const;
  [[nodiscard]] netio::PacketPtr make(netio::PortId ingress, const PacketBytes& bytes);
  // For tests that count packets by themselves.
  void forget_conservation() { in_ = kUncounted; }
  // With false, packets that come out are counted and recycled, and nothing is allocated.
  void collect(bool on) { collect_ = on; }

  void send(netio::PortId port, netio::Batch& batch) noexcept override;

 private:
  static constexpr std::uint64_t kUncounted = ~std::uint64_t{0};

  void forward_all(netio::PortId ingress, const std::vector<PacketBytes>& packets);

  std::unique_ptr<netio::BufferPool> pool_;
  router::PathCounters counters_;
  router::Forwarding forwarding_;
  std::size_t tunnel_count_;
  std::vector<std::vector<Emitted>> emitted_;  // by port
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
  bool collect_ = true;
};

}  // namespace ringway::test
