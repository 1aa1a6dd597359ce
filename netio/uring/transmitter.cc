// Slots for packets in flight, and what their completions mean.
#include "netio/uring/transmitter.h"

#include <cstdint>
#include <numeric>

#include "netio/base/assert.h"
#include "netio/packet/drop.h"

namespace ringway::netio {

Transmitter::Transmitter(Ring& ring, RingFile file, std::uint16_t port,
                         std::uint16_t prefix) noexcept
    : ring_{ring}, file_{file}, port_{port}, prefix_{prefix}, doorbell_{ring.enters()} {
  std::iota(free_.begin(), free_.end(), 0U);
}

Transmitter::~Transmitter() {
  ASSERT(idle());
}

std::uint32_t Transmitter::put(Packet* packet) noexcept {
  ASSERT(!full());
  const std::uint32_t slot = free_[--free_count_];
  packets_[slot] = packet;
  return slot;
}

void Transmitter::queued(io_uring_sqe* sqe, std::uint32_t slot, PortCounters& counters) noexcept {
  Ring::mark(sqe, file_, {.request = Request::transmit, .port = port_, .slot = slot});
  ring_.expect_at_once();
  // The entry to come carries it: counted with the first request that it carries for this port.
  if (doorbell_ != ring_.enters() + 1) {
    doorbell_ = ring_.enters() + 1;
    counters.tx_doorbells.add(1);
  }
}

void Transmitter::complete(const Completion& completion, PortCounters& counters) noexcept {
  const std::uint32_t slot = completion.tag.slot;
  ASSERT(slot < kSlots && packets_[slot] != nullptr);
  Packet* packet = packets_[slot];
  packets_[slot] = nullptr;
  free_[free_count_++] = slot;
  if (completion.result < 0) {
    counters.drops.count(drop_for_errno(-completion.result));
  } else {
    counters.tx_packets.add(1);
    counters.tx_bytes.add(packet->length - prefix_);
  }
  recycle(packet);
}

}  // namespace ringway::netio
