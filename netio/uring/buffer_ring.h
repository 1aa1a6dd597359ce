// BufferRing: empty buffers that the kernel takes by itself, one for each packet it receives.
#pragma once

#include <cstdint>

#include <liburing.h>

namespace ringway::netio {

// A ring of provided buffers (Linux 5.19; io_uring_register_buf_ring(3)) of one group.
class BufferRing {
 public:
  BufferRing() = default;
  BufferRing(const BufferRing&) = delete;
  BufferRing& operator=(const BufferRing&) = delete;
  ~BufferRing() { close(); }

  // Registers a ring of `entries` (a power of two) buffers. Returns 0 or errno.
  [[nodiscard]] int open(io_uring* ring, std::uint16_t group, std::uint32_t entries) noexcept;
  // Takes all buffers back. Precondition: no receive uses the group.
  void close() noexcept;

  // Offers a buffer under a number of the caller's; the kernel sees it after publish().
  void add(void* buffer, std::uint32_t bytes, std::uint16_t number) noexcept;
  void publish() noexcept;

 private:
  io_uring* ring_ = nullptr;
  io_uring_buf_ring* memory_ = nullptr;
  std::uint32_t entries_ = 0;
  std::uint16_t group_ = 0;
  int added_ = 0;
};

}  // namespace ringway::netio
