// What holds for every packet: there and back is the identity, and the path allocates nothing.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "netio/packet/batch.h"
#include "router/path/forward.h"
#include "router/tunnel/kinds.h"
#include "tests/path/rig.h"
#include "tests/support/builder.h"

namespace {
std::uint64_t allocations = 0;
}  // namespace

// Every operator new of this program counts.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  std::abort();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace ringway::test {
namespace {

using config::Kind;

// Every combination of GRE options, and the two kinds without any.
std::vector<config::Tunnel> all_variants() {
  std::vector<config::Tunnel> variants;
  for (int bits = 0; bits < 8; ++bits) {
    config::Tunnel tunnel = tunnel_of(Kind::gre);
    tunnel.icsum = tunnel.ocsum = (bits & 1) != 0;
    tunnel.iseq = tunnel.oseq = (bits & 2) != 0;
    if ((bits & 4) != 0) {
      tunnel.ikey = tunnel.okey = 0xfeedbeef;
    }
    variants.push_back(tunnel);
  }
  variants.push_back(tunnel_of(Kind::ipip));
  variants.push_back(tunnel_of(Kind::sit));
  return variants;
}

bool carries(Kind kind, int family) {
  return kind == Kind::gre || (kind == Kind::ipip ? family == 4 : family == 6);
}

TEST_CASE("decapsulate after encapsulate is the identity") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (const config::Tunnel& variant : all_variants()) {
    // The far end: the same options, the addresses swapped.
    config::Tunnel far = variant;
    far.local = remote_end(0);
    far.remote = local_end();
    Rig here{{variant}};
    Rig there{{far}};
    const wire::IpProtocol protocol = router::protocol_of(variant.kind);
    for (const int family : {4, 6}) {
      if (!carries(variant.kind, family)) {
        continue;
      }
      std::vector<std::size_t> lengths = {0, 1, 2, 3, 7, 8, 1399, 1400, 1401, 9000, 65'400};
      for (int i = 0; i < 20; ++i) {
        lengths.push_back(random() % 65'400);
      }
      for (const std::size_t length : lengths) {
        CAPTURE(length);
        const auto tos = static_cast<std::uint8_t>(random());
        const PacketBytes inner =
            family == 4
                ? packet().ipv4("172.16.0.1", "172.16.0.2", {.tos = tos}).udp().payload(length)
                : packet().ipv6("fd00::1", "fd00::2", {.traffic_class = tos}).udp().payload(length);
        here.from_host(0, {inner});
        const auto outer = here.to_wire(protocol);
        REQUIRE(outer.size() == 1);
        there.from_wire(protocol, {outer[0].bytes});
        const auto back = there.to_host(0);
        REQUIRE(back.size() == 1);
        CHECK(back[0].bytes == inner);
      }
    }
  }
}

TEST_CASE("any bytes are carried, delivered or dropped, never lost and never read past their end") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  Rig rig{all_variants()};
  rig.route("0.0.0.0/1", 8);
  const std::vector<PacketBytes> seeds = {
      packet().ipv4("10.0.0.2", "10.0.0.1").gre().ipv4("1.2.3.4", "5.6.7.8").udp().payload(30),
      packet()
          .ipv4("10.0.0.4", "10.0.0.1")
          .gre({.key = 1, .csum = true, .sequence = 9})
          .ipv6("fd00::1", "fd00::2")
          .tcp()
          .payload(30),
      packet().ipv4("10.0.0.10", "10.0.0.1").ipv4("1.2.3.4", "200.6.7.8").udp().payload(30),
      packet().ipv4("10.0.0.11", "10.0.0.1").ipv6("fd00::1", "fd00::2").udp().payload(30)};
  for (int i = 0; i < 20'000; ++i) {
    PacketBytes bytes = seeds[random() % seeds.size()];
    for (std::uint32_t edits = random() % 4; edits > 0; --edits) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    bytes.resize(random() % 3 == 0 ? random() % (bytes.size() + 1) : bytes.size());
    switch (random() % 4) {
      case 0:
        rig.from_host(random() % 10, {bytes});
        break;
      case 1:
        rig.from_wire(wire::IpProtocol::gre, {bytes});
        break;
      case 2:
        rig.from_wire(wire::IpProtocol::ipip, {bytes});
        break;
      default:
        rig.from_wire(wire::IpProtocol::ipv6, {bytes});
    }
  }
}  // ~Rig checks: in = out + drops, and the pool is whole

TEST_CASE("the path allocates nothing") {
  for (const config::Tunnel& variant : all_variants()) {
    Rig rig{{variant, tunnel_of(Kind::gre, "next")}};
    rig.route("172.16.9.0/24", 1);
    rig.collect(false);
    const wire::IpProtocol protocol = router::protocol_of(variant.kind);
    const int family = variant.kind == Kind::sit ? 6 : 4;
    const PacketBytes inner = family == 4
                                  ? packet().ipv4("172.16.0.1", "172.16.9.2").udp().payload(150)
                                  : packet().ipv6("fd00::1", "fd00::2").udp().payload(150);
    const PacketBytes outer =
        variant.kind == Kind::gre
            ? packet()
                  .ipv4("10.0.0.2", "10.0.0.1")
                  .gre({.key = variant.ikey,
                        .csum = variant.icsum,
                        .sequence = variant.iseq ? std::optional{7U} : std::nullopt,
                        .protocol = 0x0800})
                  .raw(inner)
            : packet()
                  .ipv4("10.0.0.2", "10.0.0.1", {.protocol = static_cast<std::uint8_t>(protocol)})
                  .raw(inner);
    const PacketBytes rubbish = packet().ipv4("10.9.9.9", "10.0.0.1").gre().raw(inner);
    struct Turn {
      netio::PortId port;
      const PacketBytes& bytes;
    };
    for (const Turn& turn :
         {Turn{rig.port_of_host(0), inner}, Turn{rig.port_of_wire(protocol), outer},
          Turn{rig.port_of_wire(wire::IpProtocol::gre), rubbish}}) {
      netio::Batch batch;
      while (!batch.full()) {
        batch.push(rig.make(turn.port, turn.bytes));
      }
      const std::uint64_t out_before = rig.packets_out();
      const std::uint64_t before = allocations;
      router::forward(batch, rig.path());
      CHECK(allocations == before);
      if (&turn.bytes != &rubbish) {
        // Repeated sequence numbers are refused but for the first.
        CHECK(rig.packets_out() - out_before ==
              (variant.iseq && &turn.bytes == &outer ? 1 : netio::kBatchCapacity));
      }
    }
    rig.forget_conservation();
  }
}

}  // namespace
}  // namespace ringway::test
