// The rig's plumbing: ports 0..n-1 are the tunnels' TUNs, n..n+2 the raw sockets of 47, 4 and 41.
#include "tests/path/rig.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <doctest/doctest.h>

#include "router/tunnel/kinds.h"

namespace ringway::test {

namespace {

constexpr std::array kProtocols = {wire::IpProtocol::gre, wire::IpProtocol::ipip,
                                   wire::IpProtocol::ipv6};

std::size_t index_of(wire::IpProtocol protocol) {
  return static_cast<std::size_t>(std::find(kProtocols.begin(), kProtocols.end(), protocol) -
                                  kProtocols.begin());
}

}  // namespace

config::Tunnel tunnel_of(config::Kind kind, const std::string& name) {
  config::Tunnel tunnel;
  tunnel.name = name;
  tunnel.interface = name;
  tunnel.kind = kind;
  return tunnel;
}

wire::Ipv4Address local_end() {
  return wire::Ipv4Address{{10, 0, 0, 1}};
}

wire::Ipv4Address remote_end(std::size_t tunnel) {
  return wire::Ipv4Address::from_u32(wire::Ipv4Address{{10, 0, 0, 2}}.to_u32() +
                                     static_cast<std::uint32_t>(tunnel));
}

Rig::Rig(const std::vector<config::Tunnel>& tunnels)
    : pool_{std::move(netio::BufferPool::create(256, netio::kLargeSlotBytes)).value()},
      counters_{tunnels.size()},
      tunnel_count_{tunnels.size()},
      emitted_(tunnels.size() + kProtocols.size()) {
  for (std::size_t i = 0; i < tunnels.size(); ++i) {
    const auto id = static_cast<netio::TunnelId>(i);
    // An address in the configuration moves the end; HostName{} and monostate leave it in place.
    router::Ends ends{.local = local_end(), .remote = remote_end(i)};
    if (const auto* remote = std::get_if<wire::Ipv4Address>(&tunnels[i].remote);
        remote != nullptr && !remote->is_unspecified()) {
      ends.remote = *remote;
    }
    if (const auto* local = std::get_if<wire::Ipv4Address>(&tunnels[i].local)) {
      ends.local = *local;
    }
    auto tunnel = router::make_tunnel(tunnels[i], ends, 0x1000);
    for (const router::DemuxClaim& claim : tunnel->info().claims) {
      forwarding_.demux.add(claim, id);
    }
    forwarding_.ingress.push_back({.tunnel = id});
    forwarding_.tunnels.push_back(
        {.tunnel = std::move(tunnel),
         .overlay = port_of_host(i),
         .underlay = port_of_wire(router::protocol_of(tunnels[i].kind)),
         .overlay_mtu = tunnels[i].mtu.value_or(1500 - config::overhead_bytes(tunnels[i]))});
  }
  for (const wire::IpProtocol protocol : kProtocols) {
    forwarding_.ingress.push_back({.tunnel = netio::kNoTunnel, .protocol = protocol});
  }
}

Rig::~Rig() {
  CHECK(pool_->available() == pool_->slots());
  std::uint64_t dropped = 0;
  for (const auto& [reason, count] : drops()) {
    dropped += count;
  }
  CHECK((in_ == kUncounted || in_ == out_ + dropped));
}

void Rig::route(const std::string& text, std::size_t tunnel) {
  const auto prefix = wire::parse_prefix(text);
  REQUIRE(prefix.has_value());
  const auto id = static_cast<netio::TunnelId>(tunnel);
  if (const auto* v4 = std::get_if<wire::Ipv4Address>(&prefix->address)) {
    forwarding_.routes4.insert({*v4, prefix->length}, id);
  } else {
    forwarding_.routes6.insert({std::get<wire::Ipv6Address>(prefix->address), prefix->length}, id);
  }
}

netio::PortId Rig::port_of_host(std::size_t tunnel) const {
  return static_cast<netio::PortId>(tunnel);
}

netio::PortId Rig::port_of_wire(wire::IpProtocol protocol) const {
  return static_cast<netio::PortId>(tunnel_count_ + index_of(protocol));
}

netio::PacketPtr Rig::make(netio::PortId ingress, const PacketBytes& bytes) {
  netio::PacketPtr packet = pool_->allocate();
  REQUIRE(packet != nullptr);
  REQUIRE(bytes.size() <= packet->tailroom());
  if (!bytes.empty()) {
    std::memcpy(packet->area() + packet->begin, bytes.data(), bytes.size());
  }
  packet->length = static_cast<std::uint32_t>(bytes.size());
  packet->ingress = ingress;
  return packet;
}

void Rig::forward_all(netio::PortId ingress, const std::vector<PacketBytes>& packets) {
  netio::Batch batch;
  for (const PacketBytes& bytes : packets) {
    batch.push(make(ingress, bytes));
  }
  in_ += packets.size();
  router::forward(batch, path());
  CHECK(batch.empty());
}

void Rig::from_host(std::size_t tunnel, const std::vector<PacketBytes>& packets) {
  forward_all(port_of_host(tunnel), packets);
}

void Rig::from_wire(wire::IpProtocol protocol, const std::vector<PacketBytes>& packets) {
  forward_all(port_of_wire(protocol), packets);
}

std::vector<Emitted> Rig::to_host(std::size_t tunnel) {
  return std::exchange(emitted_[static_cast<std::size_t>(port_of_host(tunnel))], {});
}

std::vector<Emitted> Rig::to_wire(wire::IpProtocol protocol) {
  return std::exchange(emitted_[static_cast<std::size_t>(port_of_wire(protocol))], {});
}

void Rig::send(netio::PortId port, netio::Batch& batch) noexcept {
  CHECK_FALSE(batch.empty());
  out_ += batch.size();
  if (collect_) {
    for (const netio::Packet* packet : batch.packets()) {
      const auto bytes = packet->bytes();
      emitted_[static_cast<std::size_t>(port)].push_back(
          {.bytes = {bytes.begin(), bytes.end()},
           .gso_kind = packet->gso_kind,
           .gso_size = packet->gso_size,
           .checksum = packet->checksum,
           .checksum_start = static_cast<std::uint16_t>(packet->checksum_start - packet->begin),
           .checksum_offset = packet->checksum_offset});
    }
  }
  batch.recycle_all();
}

std::map<std::string, std::uint64_t> Rig::drops() const {
  std::map<std::string, std::uint64_t> found;
  const auto add = [&](const netio::DropCounters& counters) {
    for (std::size_t i = 0; i < netio::kDropCount; ++i) {
      const auto reason = static_cast<netio::Drop>(i);
      if (counters.value(reason) != 0) {
        found[std::string{name(reason)}] += counters.value(reason);
      }
    }
  };
  for (std::size_t i = 0; i < counters_.tunnel_count(); ++i) {
    add(counters_.tunnel(i).drops);
  }
  add(counters_.unclaimed);
  return found;
}

}  // namespace ringway::test
