// Hostile outer packets against the whole path. The first byte chooses the socket they came from;
// the rest is the datagram. Whatever comes out must be a whole IP packet, and every packet must end
// somewhere exactly once.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "config/model.h"
#include "netio/base/assert.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/parse.h"
#include "router/path/forward.h"
#include "router/tunnel/kinds.h"

namespace {

using namespace ringway;

constexpr std::size_t kTunnels = 6;

class CheckingEgress final : public router::Egress {
 public:
  void send(netio::PortId /*port*/, netio::Batch& batch) noexcept override {
    for (netio::Packet* packet : batch.packets()) {
      const std::uint32_t length = packet->length;
      ASSERT(!netio::parse_ip(*packet).has_value());
      ASSERT(packet->length == length);
    }
    sent += batch.size();
    batch.recycle_all();
  }
  std::uint64_t sent = 0;
};

// Plain gre, gre with every check on, with a key, ipip, sit, and a wildcard local.
std::vector<config::Tunnel> tunnels() {
  std::vector<config::Tunnel> made(kTunnels);
  made[1].icsum = made[1].iseq = made[1].strict_csum = true;
  made[2].ikey = 7;
  made[3].kind = config::Kind::ipip;
  made[4].kind = config::Kind::sit;
  made[5].ikey = 0;
  return made;
}

struct Router {
  Router() : counters{kTunnels} {
    const std::vector<config::Tunnel> configured = tunnels();
    for (std::size_t i = 0; i < kTunnels; ++i) {
      const auto id = static_cast<netio::TunnelId>(i);
      const wire::Ipv4Address local{{10, 0, 0, 1}};
      const wire::Ipv4Address remote{{10, 0, 0, static_cast<std::uint8_t>(i == 1 ? 3 : 2)}};
      auto tunnel = router::make_tunnel(
          configured[i], {.local = i == 5 ? wire::Ipv4Address{} : local, .remote = remote}, 0);
      for (const auto& claim : tunnel->info().claims) {
        forwarding.demux.add(claim, id);
      }
      forwarding.tunnels.push_back({.tunnel = std::move(tunnel),
                                    .overlay = static_cast<netio::PortId>(i),
                                    .underlay = static_cast<netio::PortId>(kTunnels),
                                    .overlay_mtu = 1476});
      forwarding.ingress.push_back({.tunnel = id});
    }
    for (const auto protocol :
         {wire::IpProtocol::gre, wire::IpProtocol::ipip, wire::IpProtocol::ipv6}) {
      forwarding.ingress.push_back({.tunnel = netio::kNoTunnel, .protocol = protocol});
    }
    forwarding.routes4.insert({{{10, 1, 0, 0}}, 16}, netio::TunnelId{3});
    forwarding.routes6.insert({{{0xfd}}, 8}, netio::TunnelId{4});
    auto created = netio::BufferPool::create(4, netio::kLargeSlotBytes);
    ASSERT(created.ok());
    pool = std::move(created).value();
  }

  std::unique_ptr<netio::BufferPool> pool;
  router::PathCounters counters;
  router::Forwarding forwarding;
  CheckingEgress egress;

  [[nodiscard]] std::uint64_t drops() const {
    std::uint64_t total = counters.unclaimed.total();
    for (std::size_t i = 0; i < kTunnels; ++i) {
      total += counters.tunnel(i).drops.total();
    }
    return total;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Router router;
  if (size == 0) {
    return 0;
  }
  netio::PacketPtr packet = router.pool->allocate();
  ASSERT(packet != nullptr);
  if (size - 1 > packet->tailroom()) {
    return 0;
  }
  std::memcpy(packet->area() + packet->begin, data + 1, size - 1);
  packet->length = static_cast<std::uint32_t>(size - 1);
  // 0..5 as if from a TUN, 6..8 as if from a raw socket.
  packet->ingress = static_cast<netio::PortId>(data[0] % router.forwarding.ingress.size());
  const std::uint64_t before = router.egress.sent + router.drops();
  netio::Batch batch;
  batch.push(std::move(packet));
  router::forward(
      batch,
      {.forwarding = router.forwarding, .counters = router.counters, .egress = router.egress});
  ASSERT(router.egress.sent + router.drops() == before + 1);
  ASSERT(router.pool->available() == router.pool->slots());
  return 0;
}
