// Maps the memory of a pool, lays the slots out and strings them on the free list.
#include "netio/packet/buffer_pool.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <sys/mman.h>

namespace ringway::netio {

Result<std::unique_ptr<BufferPool>> BufferPool::create(std::uint32_t slots,
                                                       std::uint32_t slot_bytes) {
  ASSERT(slot_bytes % alignof(Packet) == 0);
  ASSERT(slot_bytes > sizeof(Packet) + kHeadroom);
  const std::size_t bytes = std::size_t{slots} * slot_bytes;
  // Pages come to life when first touched: a large slot costs one page until a large packet comes.
  void* memory = bytes == 0 ? nullptr
                            : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{.operation = "mmap",
                 .number = errno,
                 .subject = "reserve " + std::to_string(bytes / 1024) + " KiB of packet memory",
                 .why = "the system, its container or RLIMIT_AS does not give that much memory",
                 .fix = "raise the memory limit of the service (systemd: MemoryMax=)"};
  }
  return std::unique_ptr<BufferPool>{new BufferPool{memory, slots, slot_bytes}};  // NOLINT: private
}

BufferPool::BufferPool(void* memory, std::uint32_t slots, std::uint32_t slot_bytes) noexcept
    : memory_{memory}, slots_{slots}, slot_bytes_{slot_bytes}, available_{slots} {
  // From the last to the first, so that slot 0 is handed out first.
  for (std::uint32_t index = slots; index-- > 0;) {
    auto* place = static_cast<std::byte*>(memory) + std::size_t{index} * slot_bytes;
    auto* packet = ::new (place) Packet{};
    packet->pool = this;
    packet->slot = index;
    packet->capacity = slot_bytes - static_cast<std::uint32_t>(sizeof(Packet));
    packet->next = free_;
    free_ = packet;
  }
}

BufferPool::~BufferPool() {
  ASSERT(available_ == slots_);
  if (memory_ != nullptr) {
    ::munmap(memory_, std::size_t{slots_} * slot_bytes_);
  }
}

Packet* BufferPool::slot(std::uint32_t index) noexcept {
  ASSERT(index < slots_);
  auto* place = static_cast<std::byte*>(memory_) + std::size_t{index} * slot_bytes_;
  return reinterpret_cast<Packet*>(place);  // the constructor has made one there
}

std::uint32_t BufferPool::packet_bytes_max() const noexcept {
  return slot_bytes_ - static_cast<std::uint32_t>(sizeof(Packet)) - kHeadroom;
}

}  // namespace ringway::netio
