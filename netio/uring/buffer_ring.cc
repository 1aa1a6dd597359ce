// Registration and filling of a ring of provided buffers.
#include "netio/uring/buffer_ring.h"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/mman.h>

#include "netio/base/assert.h"

namespace ringway::netio {

int BufferRing::open(io_uring* ring, std::uint16_t group, std::uint32_t entries) noexcept {
  ASSERT(memory_ == nullptr);
  ASSERT(std::has_single_bit(entries));
  // The kernel wants whole pages.
  void* memory = ::mmap(nullptr, entries * sizeof(io_uring_buf), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return errno;
  }
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);  // as the ABI wants it
  registration.ring_entries = entries;
  registration.bgid = group;
  if (const int result = io_uring_register_buf_ring(ring, &registration, 0); result < 0) {
    ::munmap(memory, entries * sizeof(io_uring_buf));
    return -result;
  }
  ring_ = ring;
  memory_ = static_cast<io_uring_buf_ring*>(memory);
  entries_ = entries;
  group_ = group;
  io_uring_buf_ring_init(memory_);
  return 0;
}

void BufferRing::close() noexcept {
  if (memory_ != nullptr) {
    (void)io_uring_unregister_buf_ring(ring_, group_);
    ::munmap(memory_, entries_ * sizeof(io_uring_buf));
    memory_ = nullptr;
  }
}

void BufferRing::add(void* buffer, std::uint32_t bytes, std::uint16_t number) noexcept {
  io_uring_buf_ring_add(memory_, buffer, bytes, number, io_uring_buf_ring_mask(entries_), added_);
  ++added_;
}

void BufferRing::publish() noexcept {
  if (added_ > 0) {
    io_uring_buf_ring_advance(memory_, added_);
    added_ = 0;
  }
}

}  // namespace ringway::netio
