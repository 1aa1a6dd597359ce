// Batch: up to 64 packets that travel together and are owned together.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "netio/base/assert.h"
#include "netio/packet/packet.h"

namespace ringway::netio {

// One turn's worth of packets. 64 keeps the descriptors of a batch within the first-level cache.
inline constexpr std::size_t kBatchCapacity = 64;

// Owns its packets; what is left in it when it ends goes back to the pools.
// packets_ is left uninitialised: clearing 512 bytes per batch would cost more than filling them.
class Batch {  // NOLINT(cppcoreguidelines-pro-type-member-init)
 public:
  Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() { recycle_all(); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == kBatchCapacity; }
  [[nodiscard]] std::size_t room() const noexcept { return kBatchCapacity - size_; }

  [[nodiscard]] Packet& operator[](std::size_t index) noexcept {
    DASSERT(index < size_);
    return *packets_[index];
  }
  // The packets in order, still owned by the batch.
  [[nodiscard]] std::span<Packet*> packets() noexcept { return {packets_.data(), size_}; }

  // Takes ownership. Precondition: !full().
  void push(PacketPtr packet) noexcept { push(packet.release()); }
  void push(Packet* packet) noexcept {
    ASSERT(size_ < kBatchCapacity);
    packets_[size_++] = packet;
  }
  // Gives all packets away: the caller owns what the last packets() showed.
  void release_all() noexcept { size_ = 0; }
  void recycle_all() noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      recycle(packets_[i]);
    }
    size_ = 0;
  }

 private:
  std::array<Packet*, kBatchCapacity> packets_;
  std::size_t size_ = 0;
};

// A run: neighbouring packets of a batch that share their next step. Whoever gets a Run owns its
// packets and must place each one.
using Run = std::span<Packet*>;

}  // namespace ringway::netio
