// A raw socket port over the loopback interface, on every engine.
#include <chrono>
#include <cstdint>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include <doctest/doctest.h>

#include "netio/device/raw_socket.h"
#include "tests/platform/lab.h"
#include "tests/support/pool.h"

namespace ringway::test {
namespace {

using netio::Drop;
using wire::IpProtocol;

PacketBytes outer(IpProtocol protocol, const char* destination, const PacketBytes& payload) {
  return packet()
      .ipv4("127.0.0.1", destination,
            {.id = 7, .df = true, .protocol = static_cast<std::uint8_t>(protocol)})
      .raw(payload);
}

TEST_CASE("datagrams of each protocol come and go with their outer header, all and in order") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    for (const IpProtocol protocol : {IpProtocol::gre, IpProtocol::ipip, IpProtocol::ipv6}) {
      CAPTURE(engine.name);
      const Namespace space;
      Rig rig{engine};
      netio::Port& raw = rig.raw(protocol);
      std::uint64_t total = 0;
      for (const std::uint32_t count : {1U, 2U, 31U, 32U, 33U, 64U, 65U, 1000U}) {
        CAPTURE(count);
        total += count;
        std::vector<PacketBytes> packets;
        for (std::uint32_t i = 0; i < count; ++i) {
          packets.push_back(outer(protocol, "127.0.0.2", numbered(i, 200)));
        }
        rig.send(raw, packets);
        CHECK(rig.collect(raw, count) == packets);
        CHECK(raw.counters().tx_packets.value() == total);
        CHECK(raw.counters().tx_bytes.value() == total * 220);
        CHECK(raw.counters().rx_packets.value() == total);
        CHECK(raw.counters().rx_bytes.value() == total * 220);
        CHECK(raw.counters().drops.total() == 0);
        CHECK(raw.counters().rx_faults.value() == 0);
      }
    }
  }
}

TEST_CASE("the kernel fills in total length and header checksum, and leaves the rest") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& raw = rig.raw(IpProtocol::gre);
    const wire::Ipv4Address none{};
    const PacketBytes sent =
        packet()
            .ipv4(
                none, "127.0.0.2",
                {.ttl = 3, .tos = 0xb9, .id = 9, .protocol = 47, .total_length = 0, .checksum = 0})
            .payload(50);
    const PacketBytes expected =
        packet()
            .ipv4("127.0.0.1", "127.0.0.2", {.ttl = 3, .tos = 0xb9, .id = 9, .protocol = 47})
            .payload(50);
    rig.send(raw, {sent});
    CHECK(rig.collect(raw, 1) == one(expected));
  }
}

TEST_CASE("a batch of datagrams is one doorbell") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& raw = rig.raw(IpProtocol::gre);
    rig.settle();
    rig.send(raw,
             std::vector<PacketBytes>(64, outer(IpProtocol::gre, "127.0.0.2", PacketBytes(9))));
    CHECK(raw.counters().tx_doorbells.value() == 1);
    CHECK(rig.collect(raw, 64).size() == 64);
  }
}

TEST_CASE("the largest datagram there can be arrives whole, also in fragments") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    set_mtu("lo", 65535);
    Rig rig{engine};
    netio::Port& raw = rig.raw(IpProtocol::ipip);
    const PacketBytes whole = outer(IpProtocol::ipip, "127.0.0.2", numbered(1, 65515));
    rig.send(raw, {whole});
    CHECK(rig.collect(raw, 1) == one(whole));

    // The kernel cuts this one, and puts it together again.
    set_mtu("lo", 1500);
    const Fd sender = raw_socket(4);
    send_to(sender, "127.0.0.2", 0, numbered(2, 60000));
    const std::vector<PacketBytes> got = rig.collect(raw, 1);
    REQUIRE(got.size() == 1);
    CHECK(PacketBytes{got[0].begin() + 20, got[0].end()} == numbered(2, 60000));
  }
}

TEST_CASE("a datagram that cannot leave is dropped with the reason, and the others leave") {
  if (!can_run()) {
    return;
  }
  const PacketBytes small(20);
  struct Row {
    std::string name;
    const char* destination;
    std::size_t bytes;
    Drop reason;
  };
  const std::vector<Row> rows{
      {"larger than the MTU of the way", "10.9.0.2", 2000, Drop::too_big},
      {"no route", "203.0.113.1", 20, Drop::remote_unreachable},
      {"a broadcast address without leave to broadcast", "127.255.255.255", 20, Drop::refused},
  };
  for (const EngineRow& engine : engines()) {
    for (const Row& row : rows) {
      CAPTURE(engine.name);
      CAPTURE(row.name);
      const Namespace space;
      Rig rig{engine};
      (void)rig.tun("rw0");
      netio::Port& raw = rig.raw(IpProtocol::gre);
      const PacketBytes good = outer(IpProtocol::gre, "127.0.0.2", small);
      const PacketBytes bad =
          packet()
              .ipv4(wire::Ipv4Address{}, row.destination, {.id = 1, .protocol = 47})
              .payload(row.bytes);
      rig.send(raw, {good, bad, good, bad, bad, good});
      CHECK(raw.counters().drops.value(row.reason) == 3);
      CHECK(raw.counters().drops.total() == 3);
      CHECK(raw.counters().tx_packets.value() == 3);
      CHECK(rig.collect(raw, 3) == std::vector(3, good));
    }
  }
}

TEST_CASE("a packet too short for its outer header goes nowhere") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& raw = rig.raw(IpProtocol::gre);
    rig.send(raw, {PacketBytes(19, 0x45)});
    CHECK(raw.counters().drops.value(Drop::write_failed) == 1);
    CHECK(raw.counters().drops.total() == 1);
  }
}

TEST_CASE("a burst larger than all buffers waits in the kernel") {
  if (!can_run()) {
    return;
  }
  constexpr std::uint32_t kCount = 2000;
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine, 80};
    netio::Port& raw = rig.raw(IpProtocol::gre);
    const Fd sender = raw_socket(47);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      send_to(sender, "127.0.0.2", 0, numbered(i, 100));
    }
    const std::vector<PacketBytes> got = rig.collect(raw, kCount);
    REQUIRE(got.size() == kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      CHECK(PacketBytes{got[i].begin() + 20, got[i].end()} == numbered(i, 100));
    }
  }
}

// ICMP "protocol unreachable" messages that lie in the socket.
std::size_t protocol_unreachables(const Fd& icmp) {
  std::size_t count = 0;
  for (const PacketBytes& message : read_all(icmp)) {
    count += message.size() > 21 && message[20] == 3 && message[21] == 2 ? 1 : 0;
  }
  return count;
}

TEST_CASE("a full receive buffer does not tell the peer that the protocol is unknown") {
  if (!can_run()) {
    return;
  }
  const Namespace space;
  const Fd icmp = raw_socket(IPPROTO_ICMP);
  const Fd sender = raw_socket(255);  // hears nothing
  const int on = 1;
  REQUIRE(::setsockopt(sender.get(), IPPROTO_IP, IP_HDRINCL, &on, sizeof on) == 0);
  // 30 MB: more than a receive buffer of ours holds.
  const auto flood = [&sender](int protocol) {
    const PacketBytes big = packet()
                                .ipv4("127.0.0.1", "127.0.0.2",
                                      {.id = 1, .protocol = static_cast<std::uint8_t>(protocol)})
                                .payload(60000);
    for (int i = 0; i < 500; ++i) {
      send_to(sender, "127.0.0.2", 0, big);
    }
  };
  {
    const Fd lonely{::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 47)};
    flood(47);
    if (protocol_unreachables(icmp) == 0) {
      MESSAGE("this kernel says nothing of the kind even without a sink");
    }
  }
  auto ours = netio::RawSocket::open(IpProtocol::gre);
  REQUIRE(ours.ok());
  flood(47);
  CHECK(protocol_unreachables(icmp) == 0);
}

}  // namespace
}  // namespace ringway::test
