// Packets of a pool for tests: from bytes, and back to bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "netio/base/assert.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/packet.h"
#include "tests/support/builder.h"

namespace ringway::test {

// A pool of `slots` packets; small slots hold 1920 bytes, large ones any IP packet.
[[nodiscard]] inline std::unique_ptr<netio::BufferPool> make_pool(
    std::uint32_t slots = 128, std::uint32_t slot_bytes = netio::kSmallSlotBytes) {
  auto pool = netio::BufferPool::create(slots, slot_bytes);
  ASSERT(pool.ok());
  return std::move(pool).value();
}

// A packet holding `bytes`. Precondition: the pool has a free slot, and the slot has the room.
[[nodiscard]] inline netio::PacketPtr to_packet(netio::BufferPool& pool,
                                                std::span<const std::uint8_t> bytes) {
  netio::PacketPtr packet = pool.allocate();
  ASSERT(packet != nullptr);
  ASSERT(bytes.size() <= packet->tailroom());
  std::copy(bytes.begin(), bytes.end(), packet->area() + packet->begin);
  packet->length = static_cast<std::uint32_t>(bytes.size());
  return packet;
}
[[nodiscard]] inline netio::PacketPtr to_packet(netio::BufferPool& pool,
                                                const PacketBuilder& builder) {
  return to_packet(pool, builder.bytes());
}

[[nodiscard]] inline PacketBytes to_bytes(const netio::Packet& packet) {
  const auto bytes = packet.bytes();
  return {bytes.begin(), bytes.end()};
}

// A packet of 100 bytes that carries a number in its first four, to follow it through queues.
[[nodiscard]] inline netio::PacketPtr numbered_packet(netio::BufferPool& pool,
                                                      std::uint32_t number) {
  PacketBytes bytes(100);
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[i] = static_cast<std::uint8_t>(number >> (8 * (3 - i)));
  }
  return to_packet(pool, bytes);
}
[[nodiscard]] inline std::uint32_t number_of(const netio::Packet& packet) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = number * 256 + packet.bytes()[i];
  }
  return number;
}

}  // namespace ringway::test
