// Receiver: how a port of the io_uring engine reads, whatever the kernel can do. TUN and socket
// share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "netio/device/retry.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/packet.h"
#include "netio/port.h"
#include "netio/uring/buffer_ring.h"
#include "netio/uring/ring.h"

namespace ringway::netio {

// From the best to what always works.
enum class ReceiveMode : std::uint8_t {
  multishot,  // one request for ever; the kernel takes buffers from a BufferRing (TUN 6.7,
              // socket 6.0)
  batch,      // poll when dry; when readable, a batch of reads that do not wait
  direct,     // poll when dry; when readable, read()
};

// What a receiver reads from.
struct ReceiveSource {
  enum class Kind : std::uint8_t { tun, socket } kind{};
  int fd = -1;
  RingFile file;
  std::uint16_t port = 0;  // the reactor's index of the port
  ReceiveMode best = ReceiveMode::multishot;
};

class Receiver {
 public:
  // Buffers that wait for packets, at most: a batch of small ones. Of the large ones more than 16
  // make nothing faster and 64 of them would not fit a second-level cache
  // (READ_MULTISHOT of 64 KB packets: 4 buffers 11, 8 14, 16 and 32 15 Gb/s).
  static constexpr std::uint32_t kSmallBuffers = 64;
  static constexpr std::uint32_t kLargeBuffers = 32;
  static_assert(kSmallBuffers <= kBatchCapacity && kLargeBuffers <= kSmallBuffers);

  Receiver(Ring& ring, const ReceiveSource& source, BufferPool& pool);
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  // Precondition: idle().
  ~Receiver();

  // For Port::receive().
  std::size_t take(Batch& batch, PortId id, PortCounters& counters) noexcept;
  // "read_multishot", "recv_multishot", "poll+read" ...
  [[nodiscard]] const char* name() const noexcept;

  // What the reactor must know before it sleeps.
  struct Outlook {
    bool ready = false;    // take() has something: do not sleep
    bool starved = false;  // no buffers: look again after kStarvedPause
    Duration rest{-1};     // a failed read is tried again then; negative: none is
  };
  // Queues the requests that are missing.
  [[nodiscard]] Outlook prepare() noexcept;
  // A completion of one of these requests.
  void complete(const Completion& completion, PortCounters& counters) noexcept;

  // Asks the kernel to give back the request that is still out.
  void cancel() noexcept;
  // True if the kernel holds no request.
  [[nodiscard]] bool idle() const noexcept { return !armed_ && reads_ == 0; }

 private:
  [[nodiscard]] bool allocate(std::uint32_t slot) noexcept;
  [[nodiscard]] std::uint32_t allowance() const noexcept;
  void refill() noexcept;
  [[nodiscard]] bool arm(Request request) noexcept;
  [[nodiscard]] bool queue_reads() noexcept;
  [[nodiscard]] bool queue_read(std::uint32_t slot) noexcept;
  void arrived(std::uint32_t slot, std::uint32_t length, PortCounters& counters) noexcept;
  void failed(int number, PortCounters& counters) noexcept;
  void read_directly(Batch& batch, PortId id, PortCounters& counters) noexcept;
  void deliver(Packet* packet, Batch& batch, PortId id, PortCounters& counters) const noexcept;

  Ring& ring_;
  BufferPool& pool_;
  ReceiveSource source_;
  ReceiveMode mode_;
  const std::uint32_t buffers_;  // as many slots are in use
  const std::uint16_t prefix_;   // bytes in front of the packet: a TUN's vnet header
  BufferRing buffer_ring_;
  Retry retry_;
  bool armed_ = false;             // a multishot receive or a poll is out
  bool dry_ = true;                // the last read found nothing; poll first
  std::uint32_t reads_ = 0;        // single reads that are out
  std::uint32_t reads_found_ = 0;  // packets that the last batch of them has brought
  std::uint32_t read_size_;        // how many to queue next: doubles while all find a packet
  std::uint64_t doorbell_ = 0;     // the last enter that was counted
  // The empty packet under each buffer number, or null where the bit in `vacant_` is set.
  std::array<Packet*, kSmallBuffers> slots_{};
  std::uint64_t vacant_;
  // Packets that have arrived and nobody has taken: a ring.
  std::array<Packet*, kSmallBuffers> arrived_{};
  std::uint32_t arrived_first_ = 0;
  std::uint32_t arrived_count_ = 0;
};

}  // namespace ringway::netio
