// Packets, batches and the pool: who owns what, and which misuse stops the process.
#include "netio/packet/packet.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "tests/support/builder.h"
#include "tests/support/death.h"
#include "tests/support/pool.h"

namespace ringway {

using netio::Batch;
using netio::Packet;
using netio::PacketPtr;
using test::PacketBytes;

TEST_CASE("prepend and strip move the front of a packet and nothing else") {
  const auto pool = test::make_pool(1);
  const PacketBytes inner = test::packet().ipv4("10.0.0.1", "10.0.0.2").udp().payload(10);
  const PacketPtr packet = test::to_packet(*pool, inner);
  packet->l3 = packet->begin;
  const std::uint32_t tailroom = packet->tailroom();
  const auto front = packet->prepend(24);
  CHECK(front.size() == 24);
  CHECK(front.data() == packet->bytes().data());
  std::memset(front.data(), 0xee, front.size());
  CHECK(packet->length == inner.size() + 24);
  CHECK(packet->l3 == packet->begin + 24);
  CHECK(packet->tailroom() == tailroom);
  packet->strip(24);
  CHECK(packet->l3 == packet->begin);
  CHECK(test::to_bytes(*packet) == inner);
}

TEST_CASE("headroom lasts for kHeadroom bytes and no further") {
  const auto pool = test::make_pool(1);
  const PacketPtr packet = pool->allocate();
  CHECK(packet->prepend(netio::kHeadroom).size() == netio::kHeadroom);
  CHECK(packet->bytes().data() == packet->area());
  CHECK(test::aborts([&packet] { (void)packet->prepend(1); }));
}

TEST_CASE("taking more off a packet than it has stops the process") {
  const auto pool = test::make_pool(1);
  const PacketPtr packet = test::to_packet(*pool, PacketBytes(20));
  CHECK(test::aborts([&packet] { packet->strip(21); }));
  CHECK(test::aborts([&packet] { packet->trim(21); }));
  packet->trim(7);
  CHECK(packet->length == 7);
  packet->strip(7);
  CHECK(packet->length == 0);
}

TEST_CASE("reset leaves nothing of the packet before") {
  const auto pool = test::make_pool(1);
  PacketPtr packet = pool->allocate();
  packet->next = packet.get();
  packet->length = 9;
  packet->flow_hash = 1;
  packet->begin = 3;
  packet->l3 = packet->l4 = packet->payload = 4;
  packet->ingress = netio::PortId{5};
  packet->tunnel = netio::TunnelId{6};
  packet->gso_size = packet->checksum_start = packet->checksum_offset = 7;
  packet->gso_kind = netio::GsoKind::udp;
  packet->checksum = netio::ChecksumState::partial;
  packet->outer_tos = 8;
  packet.reset();
  packet = pool->allocate();
  CHECK(packet->next == nullptr);
  CHECK(packet->length == 0);
  CHECK(packet->flow_hash == 0);
  CHECK(packet->begin == netio::kHeadroom);
  CHECK(packet->l3 + packet->l4 + packet->payload == 0);
  CHECK(packet->ingress == netio::kNoPort);
  CHECK(packet->tunnel == netio::kNoTunnel);
  CHECK(packet->gso_size + packet->checksum_start + packet->checksum_offset == 0);
  CHECK(packet->gso_kind == netio::GsoKind::none);
  CHECK(packet->checksum == netio::ChecksumState::unknown);
  CHECK(packet->outer_tos == 0);
  CHECK(packet->pool == pool.get());
  CHECK(packet->slot == 0);
}

TEST_CASE("a pool hands out every slot once, then null, and takes them back in any order") {
  constexpr std::uint32_t kSlots = 50;
  const auto pool = test::make_pool(kSlots);
  CHECK(pool->slots() == kSlots);
  std::set<const Packet*> seen;
  std::vector<PacketPtr> packets;
  for (std::uint32_t i = 0; i < kSlots; ++i) {
    CHECK(pool->available() == kSlots - i);
    packets.push_back(pool->allocate());
    REQUIRE(packets.back() != nullptr);
    CHECK(seen.insert(packets.back().get()).second);
    CHECK(packets.back()->pool == pool.get());
    CHECK(packets.back()->length == 0);
    CHECK(packets.back()->begin == netio::kHeadroom);
    CHECK(pool->slot(packets.back()->slot) == packets.back().get());
  }
  CHECK(pool->allocate() == nullptr);
  std::swap(packets[3], packets[40]);
  packets.resize(10);
  CHECK(pool->available() == 40);
  for (std::uint32_t i = 0; i < 40; ++i) {
    packets.push_back(pool->allocate());
    REQUIRE(packets.back() != nullptr);
  }
  CHECK(pool->allocate() == nullptr);
}

TEST_CASE("slots do not overlap and hold what they promise") {
  for (const std::uint32_t slot_bytes : {netio::kSmallSlotBytes, netio::kLargeSlotBytes}) {
    const auto pool = test::make_pool(3, slot_bytes);
    CHECK(pool->packet_bytes_max() == slot_bytes - 64 - netio::kHeadroom);
    std::vector<PacketPtr> packets;
    for (std::uint8_t i = 0; i < 3; ++i) {
      packets.push_back(pool->allocate());
      Packet& packet = *packets.back();
      packet.length = pool->packet_bytes_max();
      CHECK(packet.tailroom() == 0);
      CHECK(reinterpret_cast<std::uintptr_t>(&packet) % 64 == 0);  // NOLINT: to see its alignment
      std::memset(packet.area(), i + 1, packet.capacity);
    }
    for (std::uint8_t i = 0; i < 3; ++i) {
      CHECK(packets[i]->slot == i);
      CHECK(packets[i]->pool == pool.get());
      CHECK(packets[i]->area()[0] == i + 1);
      CHECK(packets[i]->bytes().back() == i + 1);
    }
  }
}

TEST_CASE("a large slot holds the largest IP packet") {
  const auto pool = test::make_pool(1, netio::kLargeSlotBytes);
  CHECK(pool->packet_bytes_max() >= 65'535);
}

TEST_CASE("small slots take MTU 1500 with its vnet header, and say when they do not suffice") {
  const auto pool = test::make_pool(0);
  CHECK(pool->allocate() == nullptr);
  CHECK(netio::fits_small_slot(1500));
  for (std::uint32_t mtu = 68; mtu < 3000; ++mtu) {
    REQUIRE((!netio::fits_small_slot(mtu) || mtu + 12 <= pool->packet_bytes_max()));
  }
  CHECK(!netio::fits_small_slot(9000));
}

TEST_CASE("a pool that goes while a packet is out stops the process") {
  CHECK(test::aborts([] {
    auto pool = test::make_pool(2);
    Packet* packet = pool->allocate().release();
    pool.reset();
    packet->length = 1;
  }));
}

TEST_CASE("memory that cannot be had is an error, not an end") {
  // More than the address space of a process.
  const auto pool = netio::BufferPool::create(0xffffffff, 0x80000000);
  REQUIRE(!pool.ok());
  CHECK(pool.error().operation == "mmap");
  CHECK(pool.error().number != 0);
}

TEST_CASE("a batch gives what is left in it back to the pools, also to two of them") {
  const auto small = test::make_pool(4);
  const auto large = test::make_pool(4, netio::kLargeSlotBytes);
  {
    Batch batch;
    batch.push(small->allocate());
    batch.push(large->allocate());
    batch.push(small->allocate());
    CHECK(batch.size() == 3);
    CHECK(small->available() == 2);
    CHECK(large->available() == 3);
    batch.recycle_all();
    CHECK(batch.empty());
    CHECK(small->available() == 4);
    batch.push(large->allocate());
  }
  CHECK(large->available() == 4);
}

TEST_CASE("a batch keeps the order, counts its room, and can give everything away") {
  const auto pool = test::make_pool(netio::kBatchCapacity);
  Batch batch;
  std::vector<PacketPtr> mine;
  for (std::size_t i = 0; i < netio::kBatchCapacity; ++i) {
    CHECK(!batch.full());
    CHECK(batch.room() == netio::kBatchCapacity - i);
    batch.push(pool->allocate());
    CHECK(batch[i].slot == i);
  }
  CHECK(batch.full());
  for (Packet* packet : batch.packets()) {
    mine.emplace_back(packet);
  }
  batch.release_all();
  CHECK(batch.empty());
  CHECK(pool->available() == 0);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    CHECK(mine[i]->slot == i);
  }
}

TEST_CASE("pushing into a full batch stops the process") {
  const auto pool = test::make_pool(netio::kBatchCapacity + 1);
  Batch batch;
  while (!batch.full()) {
    batch.push(pool->allocate());
  }
  CHECK(test::aborts([&] { batch.push(pool->allocate()); }));
}

}  // namespace ringway
