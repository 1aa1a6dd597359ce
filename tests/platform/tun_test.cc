// A TUN port against the kernel's own IP stack, on every engine.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/platform/lab.h"
#include "tests/support/pool.h"

namespace ringway::test {
namespace {

using netio::Drop;

constexpr std::uint16_t kPort = 7001;

// What a neighbour on the TUN sends to the host, and what the host sends to it.
PacketBytes to_host(const PacketBytes& payload) {
  return packet().ipv4("10.9.0.2", "10.9.0.1", {.id = 1}).udp(kPort, kPort).raw(payload);
}

std::vector<PacketBytes> numbered_series(std::uint32_t count, std::size_t bytes) {
  std::vector<PacketBytes> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    out.push_back(numbered(i, bytes));
  }
  return out;
}

// The packet as the kernel must have made it: DF and id are its own choice, the rest is not.
void check_from_host(const PacketBytes& got, const PacketBytes& payload) {
  REQUIRE(got.size() >= 28);
  const auto id = static_cast<std::uint16_t>(got[4] << 8 | got[5]);
  const bool df = (got[6] & 0x40) != 0;
  const PacketBytes expected =
      packet().ipv4("10.9.0.1", "10.9.0.2", {.id = id, .df = df}).udp(kPort, kPort).raw(payload);
  CHECK(got == expected);
}

TEST_CASE("packets written to a TUN reach a socket, all and in order") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    const Fd socket = udp_socket("10.9.0.1", kPort);
    std::uint64_t total = 0;
    for (const std::uint32_t count : {1U, 2U, 63U, 64U, 65U, 128U, 129U, 1000U}) {
      CAPTURE(count);
      total += count;
      const std::vector<PacketBytes> payloads = numbered_series(count, 200);
      std::vector<PacketBytes> packets;
      for (const PacketBytes& payload : payloads) {
        packets.push_back(to_host(payload));
      }
      rig.send(tun, packets);
      CHECK(read_all(socket) == payloads);
      CHECK(tun.counters().tx_packets.value() == total);
      CHECK(tun.counters().tx_bytes.value() == total * 228);
      CHECK(tun.counters().drops.total() == 0);
    }
  }
}

TEST_CASE("packets routed to a TUN are received whole, all and in order") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    const Fd socket = udp_socket("10.9.0.1", kPort);
    std::uint64_t total = 0;
    for (const std::uint32_t count : {1U, 2U, 31U, 32U, 33U, 64U, 65U, 1000U}) {
      CAPTURE(count);
      total += count;
      const std::vector<PacketBytes> payloads = numbered_series(count, 200);
      for (const PacketBytes& payload : payloads) {
        send_to(socket, "10.9.0.2", kPort, payload);
      }
      const std::vector<PacketBytes> got = rig.collect(tun, count);
      REQUIRE(got.size() == count);
      for (std::uint32_t i = 0; i < count; ++i) {
        check_from_host(got[i], payloads[i]);
      }
      CHECK(tun.counters().rx_packets.value() == total);
      CHECK(tun.counters().rx_bytes.value() == total * 228);
      CHECK(tun.counters().rx_faults.value() == 0);
    }
  }
}

TEST_CASE("a TUN carries packets of every length that its MTU allows") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    for (const std::uint32_t mtu : {1280U, 1500U, 1896U, 1897U, 9000U, 65535U}) {
      CAPTURE(engine.name);
      CAPTURE(mtu);
      const Namespace space;
      Rig rig{engine};
      netio::Port& tun = rig.tun("rw0", mtu);
      const Fd socket = udp_socket("10.9.0.1", kPort);
      for (const std::size_t length : {std::size_t{29}, std::size_t{1280}, std::size_t{mtu}}) {
        // A UDP payload of four bytes at least, to be numbered.
        const PacketBytes payload = numbered(1, std::max(length, std::size_t{32}) - 28);
        send_to(socket, "10.9.0.2", kPort, payload);
        const std::vector<PacketBytes> got = rig.collect(tun, 1);
        REQUIRE(got.size() == 1);
        check_from_host(got[0], payload);
        rig.send(tun, {to_host(payload)});
        CHECK(read_all(socket) == one(payload));
      }
    }
  }
}

TEST_CASE("a batch is one doorbell where the engine has such a thing") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const bool uring = !engine.name.starts_with("epoll");
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    rig.settle();
    const Fd socket = udp_socket("10.9.0.1", kPort);
    std::vector<PacketBytes> packets(64, to_host(numbered(0, 200)));
    rig.send(tun, packets);
    CHECK(tun.counters().tx_doorbells.value() == (uring ? 1 : 64));
    rig.send(tun, packets);
    CHECK(tun.counters().tx_doorbells.value() == (uring ? 2 : 128));
  }
}

TEST_CASE("a TUN that is down takes nothing, and says so") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    set_up("rw0", false);
    rig.send(tun, {to_host(numbered(0, 20)), to_host(numbered(1, 20))});
    CHECK(tun.counters().drops.value(Drop::interface_down) == 2);
    CHECK(tun.counters().drops.total() == 2);
    set_up("rw0", true);
    rig.send(tun, {to_host(numbered(0, 20))});
    CHECK(tun.counters().tx_packets.value() == 1);
  }
}

TEST_CASE("what the kernel refuses is counted as write_failed") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    // Neither IPv4 nor IPv6: EINVAL (drivers/net/tun.c tun_get_user).
    rig.send(tun, {to_host(numbered(0, 20)), PacketBytes(40, 0x00), to_host(numbered(1, 20))});
    CHECK(tun.counters().drops.value(Drop::write_failed) == 1);
    CHECK(tun.counters().drops.total() == 1);
    CHECK(tun.counters().tx_packets.value() == 2);
  }
}

// Waits and receives for `span`. Returns the number of turns that took.
int turns_in(Rig& rig, netio::Port& port, Duration span) {
  int turns = 0;
  for (const Instant end = monotonic_now() + span; monotonic_now() < end; ++turns) {
    rig.reactor().wait(end - monotonic_now());
    netio::Batch batch;
    (void)port.receive(batch);
  }
  return turns;
}

TEST_CASE("what was just sent does not wake us up") {
  if (!can_run()) {
    return;
  }
  constexpr int kRounds = 40;
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    const Fd socket = udp_socket("10.9.0.1", kPort);
    rig.settle();
    int turns = 0;
    for (int round = 0; round < kRounds; ++round) {
      netio::Batch batch;
      batch.push(to_packet(rig.small(), to_host(numbered(0, 20))));
      tun.transmit(batch, netio::More::no);
      turns += turns_in(rig, tun, std::chrono::milliseconds{2});
    }
    // One each, and a few for signals. An engine that hears of every write would need two.
    CHECK(turns < kRounds + kRounds / 2);
    CHECK(tun.counters().tx_packets.value() == kRounds);
  }
}

TEST_CASE("an interface deleted under load leaves the port quiet, not spinning") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    const Fd socket = udp_socket("10.9.0.1", kPort);
    for (std::uint32_t i = 0; i < 300; ++i) {
      send_to(socket, "10.9.0.2", kPort, numbered(i, 200));
    }
    CHECK(rig.collect(tun, 100).size() >= 100);
    delete_interface("rw0");
    // Rests of 10, 20, 40, 80, 160 ms lie between the reads that fail. A spin would be 100,000.
    const int turns = turns_in(rig, tun, std::chrono::milliseconds{300});
    CHECK(turns <= 25);
    CHECK(tun.counters().rx_faults.value() >= 1);
    CHECK(tun.counters().rx_faults.value() <= 8);
    rig.send(tun, {to_host(numbered(0, 20))});
    CHECK(tun.counters().drops.value(Drop::interface_down) == 1);
  }
}

TEST_CASE("a port without free buffers waits for them, loses nothing and does not spin") {
  if (!can_run()) {
    return;
  }
  constexpr std::uint32_t kSlots = 96;
  constexpr std::uint32_t kCount = 400;
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine, kSlots};
    netio::Port& tun = rig.tun("rw0");
    const Fd socket = udp_socket("10.9.0.1", kPort);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      send_to(socket, "10.9.0.2", kPort, numbered(i, 200));
    }
    std::uint32_t next = 0;
    {
      // Somebody holds on to all that comes.
      netio::Batch held[2];
      for (int turn = 0; turn < 20; ++turn) {
        rig.reactor().wait(std::chrono::milliseconds{5});
        (void)tun.receive(held[held[0].full() ? 1 : 0]);
      }
      for (netio::Batch& batch : held) {
        for (const netio::Packet* packet : batch.packets()) {
          check_from_host(to_bytes(*packet), numbered(next++, 200));
        }
      }
      CHECK(next == kSlots);
      CHECK(rig.small().available() == 0);
      CHECK(turns_in(rig, tun, std::chrono::milliseconds{50}) <= 60);
    }
    for (const PacketBytes& got : rig.collect(tun, kCount - next)) {
      check_from_host(got, numbered(next++, 200));
    }
    CHECK(next == kCount);
    CHECK(tun.counters().rx_faults.value() == 0);
  }
}

TEST_CASE("closing the reactor ends the interface at once, and its name is free") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    for (int cycle = 0; cycle < 30; ++cycle) {
      CAPTURE(cycle);
      Rig rig{engine};
      netio::Port& tun = rig.tun("rw0");
      const Fd socket = udp_socket("10.9.0.1", kPort);
      for (std::uint32_t i = 0; i < 200; ++i) {
        send_to(socket, "10.9.0.2", kPort, numbered(i, 200));
      }
      (void)rig.collect(tun, 1);  // and leaves the rest where it is
      netio::Batch batch;
      batch.push(to_packet(rig.small(), to_host(numbered(0, 20))));
      tun.transmit(batch, netio::More::yes);  // and never waits again
      rig.close();
      CHECK_FALSE(exists("rw0"));
    }
  }
}

TEST_CASE("several ports of a reactor do not mix their packets") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& first = rig.tun("rw0");
    netio::Port& second = rig.tun("rw1");
    set_address("rw1", "10.8.0.1", "255.255.255.0");
    const Fd socket = udp_socket("0.0.0.0", kPort);
    for (std::uint32_t i = 0; i < 100; ++i) {
      send_to(socket, "10.9.0.2", kPort, numbered(i, 100));
      send_to(socket, "10.8.0.2", kPort, numbered(1000 + i, 100));
    }
    const std::vector<PacketBytes> at_first = rig.collect(first, 100);
    const std::vector<PacketBytes> at_second = rig.collect(second, 100);
    REQUIRE(at_first.size() == 100);
    REQUIRE(at_second.size() == 100);
    for (std::uint32_t i = 0; i < 100; ++i) {
      CHECK(PacketBytes{at_first[i].begin() + 28, at_first[i].end()} == numbered(i, 100));
      CHECK(PacketBytes{at_second[i].begin() + 28, at_second[i].end()} == numbered(1000 + i, 100));
    }
  }
}

TEST_CASE("receiving and sending allocates nothing") {
  if (!can_run()) {
    return;
  }
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    netio::Port& tun = rig.tun("rw0");
    netio::Port& raw = rig.raw(wire::IpProtocol::ipip);
    const Fd socket = udp_socket("10.9.0.1", kPort);
    const PacketBytes payload = numbered(0, 200);
    const PacketBytes inner = to_host(payload);
    const PacketBytes outer = packet().ipv4("127.0.0.1", "127.0.0.2", {.id = 1}).raw(inner);
    const auto round = [&] {
      send_to(socket, "10.9.0.2", kPort, payload);
      rig.reactor().wait(std::chrono::milliseconds{100});
      netio::Batch received;
      (void)tun.receive(received);
      (void)raw.receive(received);
      netio::Batch sent;
      sent.push(to_packet(rig.small(), inner));
      tun.transmit(sent, netio::More::yes);
      sent.push(to_packet(rig.small(), outer));
      raw.transmit(sent, netio::More::yes);
      raw.flush();
    };
    round();  // starts what starts once
    const std::uint64_t before = allocations();
    for (int i = 0; i < 200; ++i) {
      round();
    }
    CHECK(allocations() == before);
    CHECK(tun.counters().rx_packets.value() > 100);
    CHECK(tun.counters().tx_packets.value() > 100);
  }
}

}  // namespace
}  // namespace ringway::test
