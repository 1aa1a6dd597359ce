// FaultyPort loses, repeats, reorders, damages and refuses; and accounts for every packet.
#include "netio/memory/faulty_port.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "netio/memory/memory_port.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/port.h"
#include "tests/support/pool.h"
#include "tests/support/random.h"

namespace ringway {

using netio::Batch;
using netio::Drop;
using netio::Faults;
using netio::FaultyPort;
using netio::MemoryPort;
using netio::More;
using netio::PacketPtr;

namespace {

constexpr netio::PortId kPort{3};
constexpr std::uint32_t kPackets = 1000;

// What came out of a faulty port, and what it says about that.
struct Outcome {
  std::vector<std::uint32_t> numbers;
  std::size_t damaged = 0;  // bits that are not as they were sent
  netio::FaultCounts counts;
};

std::size_t different_bits(const netio::Packet& packet, netio::BufferPool& pool) {
  const PacketPtr right = test::numbered_packet(pool, test::number_of(packet));
  std::size_t bits = 0;
  for (std::size_t i = 0; i < packet.length; ++i) {
    bits += static_cast<std::size_t>(__builtin_popcount(packet.bytes()[i] ^ right->bytes()[i]));
  }
  return bits;
}

// Sends kPackets through the wire in pieces, and checks the sums on the way.
Outcome receive_all(const Faults& faults, std::uint64_t seed) {
  const auto pool = test::make_pool(512);
  MemoryPort inner{kPort, {.name = "inner"}};
  FaultyPort port{inner, faults, seed};
  Outcome outcome;
  std::uint64_t handed_on = 0;
  for (std::uint32_t sent = 0; sent < kPackets || inner.waiting() + port.held() > 0;) {
    for (std::uint32_t i = 0; i < 1 + sent % 90 && sent < kPackets; ++i) {
      inner.inject(test::numbered_packet(*pool, sent++));
    }
    for (bool may_have_more = true; may_have_more;) {
      Batch batch;
      const std::size_t count = port.receive(batch);
      REQUIRE(count == batch.size());
      handed_on += count;
      may_have_more = batch.full();
      for (const netio::Packet* packet : batch.packets()) {
        REQUIRE(packet->ingress == kPort);
        outcome.numbers.push_back(test::number_of(*packet));
        outcome.damaged += different_bits(*packet, *pool);
      }
      outcome.counts = port.faults();
      REQUIRE(inner.counters().rx_packets.value() + outcome.counts.duplicated ==
              port.counters().rx_packets.value() + outcome.counts.lost + port.held());
      REQUIRE(port.counters().rx_packets.value() == handed_on);
    }
    // Fewer than there was room for means that the inner port has no more either.
    REQUIRE(inner.waiting() == 0);
  }
  REQUIRE(pool->available() == 512);
  return outcome;
}

}  // namespace

TEST_CASE("without faults everything arrives once, whole and in order") {
  CAPTURE(test::seed());
  const Outcome outcome = receive_all({}, test::seed());
  REQUIRE(outcome.numbers.size() == kPackets);
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    CHECK(outcome.numbers[i] == i);
  }
  CHECK(outcome.damaged == 0);
}

TEST_CASE("lost packets are missing and the others in order") {
  CAPTURE(test::seed());
  const Outcome outcome = receive_all({.lose = 200}, test::seed());
  CHECK(outcome.counts.lost > 120);
  CHECK(outcome.counts.lost < 280);
  CHECK(outcome.numbers.size() == kPackets - outcome.counts.lost);
  CHECK(std::is_sorted(outcome.numbers.begin(), outcome.numbers.end()));
  CHECK(receive_all({.lose = 1000}, test::seed()).numbers.empty());
}

TEST_CASE("repeated packets follow themselves") {
  CAPTURE(test::seed());
  const Outcome outcome = receive_all({.duplicate = 200}, test::seed());
  CHECK(outcome.counts.duplicated > 120);
  CHECK(outcome.counts.duplicated < 280);
  CHECK(outcome.numbers.size() == kPackets + outcome.counts.duplicated);
  CHECK(std::is_sorted(outcome.numbers.begin(), outcome.numbers.end()));
  CHECK(outcome.damaged == 0);
}

TEST_CASE("reordered packets arrive behind their successor, and all arrive") {
  CAPTURE(test::seed());
  Outcome outcome = receive_all({.reorder = 200}, test::seed());
  CHECK(outcome.counts.reordered > 100);
  std::size_t inversions = 0;
  for (std::size_t i = 1; i < outcome.numbers.size(); ++i) {
    inversions += outcome.numbers[i] < outcome.numbers[i - 1] ? 1 : 0;
  }
  CHECK(inversions == outcome.counts.reordered);
  std::sort(outcome.numbers.begin(), outcome.numbers.end());
  REQUIRE(outcome.numbers.size() == kPackets);
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    CHECK(outcome.numbers[i] == i);
  }
}

TEST_CASE("a packet that waits to be overtaken is not forgotten when nobody comes") {
  const auto pool = test::make_pool();
  MemoryPort inner{kPort, {.name = "inner"}};
  FaultyPort port{inner, {.reorder = 1000}, test::seed()};
  inner.inject(test::numbered_packet(*pool, 7));
  Batch batch;
  CHECK(port.receive(batch) + port.receive(batch) == 1);
  CHECK(test::number_of(batch[0]) == 7);
  CHECK(port.held() == 0);
  CHECK(port.faults().reordered == 0);
}

TEST_CASE("damaged packets have one bit wrong") {
  CAPTURE(test::seed());
  const Outcome outcome = receive_all({.corrupt = 200}, test::seed());
  CHECK(outcome.counts.corrupted > 120);
  CHECK(outcome.counts.corrupted < 280);
  CHECK(outcome.numbers.size() == kPackets);
  // A bit of the number itself makes it another number's packet and cannot be counted here.
  CHECK(outcome.damaged <= outcome.counts.corrupted);
  CHECK(outcome.damaged > outcome.counts.corrupted * 8 / 10);
}

TEST_CASE("all faults at once, and the same again for the same seed") {
  const Faults faults{.lose = 50, .duplicate = 50, .reorder = 50, .corrupt = 50};
  for (std::uint64_t seed = test::seed(); seed < test::seed() + 8; ++seed) {
    CAPTURE(seed);
    const Outcome first = receive_all(faults, seed);
    CHECK(first.numbers == receive_all(faults, seed).numbers);
    CHECK(first.numbers != receive_all(faults, seed + 1).numbers);
  }
}

TEST_CASE("a packet is repeated only if the pool has a slot for it") {
  const auto pool = test::make_pool(3);
  MemoryPort inner{kPort, {.name = "inner"}};
  FaultyPort port{inner, {.duplicate = 1000}, test::seed()};
  inner.inject(test::numbered_packet(*pool, 0));
  inner.inject(test::numbered_packet(*pool, 1));
  Batch batch;
  CHECK(port.receive(batch) == 3);
  CHECK(port.faults().duplicated == 1);
  CHECK(test::number_of(batch[1]) == 0);
  CHECK(test::number_of(batch[2]) == 1);
}

TEST_CASE("refused packets are counted as queue_full, and the inner port's drops are ours") {
  CAPTURE(test::seed());
  const auto pool = test::make_pool(512);
  MemoryPort inner{kPort, {.name = "inner"}, 100};
  FaultyPort port{inner, {.refuse = 200}, test::seed()};
  std::uint64_t sent = 0;
  for (int round = 0; round < 5; ++round) {
    Batch batch;
    for (std::uint32_t i = 0; i < 40; ++i) {
      batch.push(test::numbered_packet(*pool, i));
      ++sent;
    }
    port.transmit(batch, round % 2 == 0 ? More::yes : More::no);
    CHECK(batch.empty());
  }
  CHECK(port.counters().tx_packets.value() + port.counters().drops.total() + inner.held_back() ==
        sent);
  port.flush();
  const netio::PortCounters& counters = port.counters();
  CHECK(counters.tx_packets.value() + counters.drops.total() == sent);
  CHECK(port.faults().refused > 10);
  CHECK(port.faults().refused < 80);
  CHECK(inner.counters().drops.value(Drop::queue_full) > 0);
  CHECK(counters.drops.value(Drop::queue_full) ==
        port.faults().refused + inner.counters().drops.value(Drop::queue_full));
  CHECK(counters.tx_packets.value() == inner.transmitted());
  CHECK(counters.tx_bytes.value() == inner.transmitted() * 100);
  CHECK(counters.tx_doorbells.value() == inner.counters().tx_doorbells.value());
}

}  // namespace ringway
