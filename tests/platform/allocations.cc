// Counts every operator new of this program, to show that the packet path calls none.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tests/platform/lab.h"

namespace {
std::atomic<std::uint64_t> count{0};
}  // namespace

void* operator new(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace ringway::test {

std::uint64_t allocations() noexcept {
  return count.load(std::memory_order_relaxed);
}

}  // namespace ringway::test
