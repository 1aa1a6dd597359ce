// BufferPool: all packet memory of one shard and one slot size, allocated once, never grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "netio/base/result.h"
#include "netio/packet/packet.h"

namespace ringway::netio {

// A slot of 2112 bytes is 33 cache lines: an odd number, so that the heads of neighbouring slots
// fall into different cache sets (2048 cost about 20 % of the header pipeline's time, measured).
inline constexpr std::uint32_t kSmallSlotBytes = 33 * 64;
// Holds any IP packet (65,535 bytes) with headroom and a vnet header; 1029 cache lines, odd again.
inline constexpr std::uint32_t kLargeSlotBytes = 1029 * 64;

// Whether a small slot holds packets of this MTU with their vnet header behind kHeadroom.
[[nodiscard]] constexpr bool fits_small_slot(std::uint32_t mtu) noexcept {
  constexpr std::uint32_t kVnetHeaderBytesMax = 24;
  return mtu + kVnetHeaderBytesMax <= kSmallSlotBytes - sizeof(Packet) - kHeadroom;
}

// One thread owns a pool: no call is thread-safe.
class BufferPool {
 public:
  // Maps memory for `slots` packets (0 is allowed) of `slot_bytes` each (descriptor included; a
  // multiple of 64). Never moves: every packet points back at its pool.
  [[nodiscard]] static Result<std::unique_ptr<BufferPool>> create(std::uint32_t slots,
                                                                  std::uint32_t slot_bytes);

  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  // Precondition: every packet is back.
  ~BufferPool();

  // An empty packet with kHeadroom bytes in front, or null when all are in use.
  [[nodiscard]] PacketPtr allocate() noexcept {
    Packet* packet = free_;
    if (packet == nullptr) {
      return nullptr;
    }
    free_ = packet->next;
    --available_;
    packet->reset();
    return PacketPtr{packet};
  }
  // Precondition: the packet belongs to this pool and is in use.
  void recycle(Packet* packet) noexcept {
    DASSERT(packet->pool == this);
    packet->next = free_;
    free_ = packet;
    ++available_;
  }

  // The packet of a slot, in use or not. Precondition: index < slots().
  [[nodiscard]] Packet* slot(std::uint32_t index) noexcept;
  [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::uint32_t available() const noexcept { return available_; }
  // Largest packet that a slot holds behind kHeadroom.
  [[nodiscard]] std::uint32_t packet_bytes_max() const noexcept;

 private:
  BufferPool(void* memory, std::uint32_t slots, std::uint32_t slot_bytes) noexcept;

  void* memory_ = nullptr;
  Packet* free_ = nullptr;
  std::uint32_t slots_ = 0;
  std::uint32_t slot_bytes_ = 0;
  std::uint32_t available_ = 0;
};

}  // namespace ringway::netio
