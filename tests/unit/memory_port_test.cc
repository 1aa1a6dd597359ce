// MemoryPort keeps the contract of port.h, and shows what More and flush do.
#include "netio/memory/memory_port.h"

#include <cstdint>

#include <doctest/doctest.h>

#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/port.h"
#include "tests/support/builder.h"
#include "tests/support/death.h"
#include "tests/support/pool.h"

namespace ringway {

using netio::Batch;
using netio::Drop;
using netio::MemoryPort;
using netio::More;
using netio::PacketPtr;
using test::PacketBytes;

namespace {

constexpr netio::PortId kPort{3};

std::uint64_t placed(const netio::Port& port) {
  return port.counters().tx_packets.value() + port.counters().drops.total();
}

}  // namespace

TEST_CASE("memory port: what is injected is received in order, marked and counted") {
  const auto pool = test::make_pool(200);
  MemoryPort port{kPort, {.name = "test"}};
  for (std::uint32_t i = 0; i < 100; ++i) {
    port.inject(test::numbered_packet(*pool, i));
  }
  Batch batch;
  batch.push(pool->allocate());  // a batch that is not empty keeps what it has
  CHECK(port.receive(batch) == 63);
  CHECK(batch.full());
  CHECK(port.receive(batch) == 0);
  for (std::uint32_t i = 0; i < 63; ++i) {
    CHECK(test::number_of(batch[i + 1]) == i);
    CHECK(batch[i + 1].ingress == kPort);
  }
  batch.recycle_all();
  CHECK(port.receive(batch) == 37);
  CHECK(test::number_of(batch[0]) == 63);
  CHECK(port.waiting() == 0);
  batch.recycle_all();
  CHECK(port.receive(batch) == 0);
  CHECK(port.counters().rx_packets.value() == 100);
  CHECK(port.counters().rx_bytes.value() == 10'000);
  CHECK(port.counters().rx_doorbells.value() == 2);
  CHECK(pool->available() == 200);
}

TEST_CASE("memory port: More::yes holds back, flush and More::no let go, each with one doorbell") {
  const auto pool = test::make_pool();
  MemoryPort port{kPort, {.name = "test"}};
  Batch batch;
  batch.push(test::numbered_packet(*pool, 0));
  batch.push(test::numbered_packet(*pool, 1));
  port.transmit(batch, More::yes);
  CHECK(batch.empty());
  CHECK(port.held_back() == 2);
  CHECK(port.take_transmitted() == nullptr);
  CHECK(port.counters().tx_packets.value() == 0);
  port.flush();
  CHECK(port.held_back() == 0);
  CHECK(port.transmitted() == 2);
  port.flush();
  CHECK(port.counters().tx_doorbells.value() == 1);
  batch.push(test::numbered_packet(*pool, 2));
  port.transmit(batch, More::yes);
  batch.push(test::numbered_packet(*pool, 3));
  port.transmit(batch, More::no);
  CHECK(port.counters().tx_doorbells.value() == 2);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const PacketPtr packet = port.take_transmitted();
    REQUIRE(packet != nullptr);
    CHECK(test::number_of(*packet) == i);
  }
  CHECK(port.take_transmitted() == nullptr);
  CHECK(port.counters().tx_packets.value() == 4);
  CHECK(port.counters().tx_bytes.value() == 400);
  CHECK(port.counters().drops.total() == 0);
}

TEST_CASE("memory port: what does not fit is dropped, counted and recycled") {
  const auto pool = test::make_pool();
  {
    MemoryPort port{kPort, {.name = "test", .mtu = 100}, 5};
    Batch batch;
    for (std::uint32_t i = 0; i < 8; ++i) {
      batch.push(test::numbered_packet(*pool, i));
    }
    batch.push(test::to_packet(*pool, PacketBytes(101)));
    port.transmit(batch, More::no);
    CHECK(batch.empty());
    CHECK(port.transmitted() == 5);
    CHECK(port.counters().drops.value(Drop::queue_full) == 3);
    CHECK(port.counters().drops.value(Drop::too_big) == 1);
    batch.push(test::numbered_packet(*pool, 9));
    port.transmit(batch, More::no);
    CHECK(port.counters().drops.value(Drop::queue_full) == 4);
    CHECK(placed(port) == 10);
    port.inject(test::numbered_packet(*pool, 10));
    CHECK(pool->available() == 128 - 6);
    CHECK(test::aborts([&] {
      for (std::uint32_t i = 0; i < 5; ++i) {
        port.inject(test::numbered_packet(*pool, i));
      }
    }));
  }
  CHECK(pool->available() == 128);  // what the port still owned
}

TEST_CASE("memory port: its queues wrap around") {
  const auto pool = test::make_pool();
  MemoryPort port{kPort, {.name = "test"}, 3};
  std::uint32_t next_in = 0;
  std::uint32_t next_out = 0;
  Batch batch;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 1 + round % 3; ++i) {
      port.inject(test::numbered_packet(*pool, next_in++));
    }
    (void)port.receive(batch);
    port.transmit(batch, More::no);
    while (const PacketPtr packet = port.take_transmitted()) {
      CHECK(test::number_of(*packet) == next_out++);
    }
  }
  CHECK(next_out == next_in);
}

}  // namespace ringway
