// Transmitter: the packets of a port that the kernel is sending. TUN and socket share it.
#pragma once

#include <array>
#include <cstdint>

#include "netio/packet/packet.h"
#include "netio/port.h"
#include "netio/uring/ring.h"

namespace ringway::netio {

// A packet stays the port's until its completion. Writes and sends that must not wait complete
// while they are submitted, so a slot is taken from one entry to the next.
class Transmitter {
 public:
  // Two batches: one can be queued while the other's completions have not been looked at.
  static constexpr std::uint32_t kSlots = 128;

  // Requests go to `file`; `prefix` bytes of each packet are not counted as sent.
  Transmitter(Ring& ring, RingFile file, std::uint16_t port, std::uint16_t prefix) noexcept;
  Transmitter(const Transmitter&) = delete;
  Transmitter& operator=(const Transmitter&) = delete;
  // Precondition: idle().
  ~Transmitter();

  [[nodiscard]] bool full() const noexcept { return free_count_ == 0; }
  [[nodiscard]] bool idle() const noexcept { return free_count_ == kSlots; }
  [[nodiscard]] int file() const noexcept { return file_.fd; }

  // A slot for a packet. Precondition: !full().
  [[nodiscard]] std::uint32_t put(Packet* packet) noexcept;
  // Marks the request that sends what is in the slot.
  void queued(io_uring_sqe* sqe, std::uint32_t slot, PortCounters& counters) noexcept;
  // Counts and recycles the packet of a completed request.
  void complete(const Completion& completion, PortCounters& counters) noexcept;

 private:
  Ring& ring_;
  RingFile file_;
  std::uint16_t port_;
  std::uint16_t prefix_;
  std::uint64_t doorbell_;  // the last enter that was counted
  std::array<Packet*, kSlots> packets_{};
  std::array<std::uint32_t, kSlots> free_;  // a stack of slots
  std::uint32_t free_count_ = kSlots;
};

}  // namespace ringway::netio
