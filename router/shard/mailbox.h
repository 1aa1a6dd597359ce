// Mailbox: the only way between threads. One sender, one receiver, a fixed number of letters.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace ringway::router {

// A ring of letters. Neither side ever waits for the other.
template <class Letter, std::size_t kCapacity>
class Mailbox {
  static_assert((kCapacity & (kCapacity - 1)) == 0, "the indices wrap by themselves");

 public:
  // The sender's thread. False, and the letter stays with the caller, when the box is full.
  [[nodiscard]] bool send(Letter& letter) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == kCapacity) {
      return false;
    }
    letters_[head % kCapacity] = std::move(letter);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // The receiver's thread.
  [[nodiscard]] std::optional<Letter> receive() noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) {
      return std::nullopt;
    }
    std::optional<Letter> letter{std::move(letters_[tail % kCapacity])};
    letters_[tail % kCapacity] = Letter{};
    tail_.store(tail + 1, std::memory_order_release);
    return letter;
  }

 private:
  // Apart, so that the two threads do not write to one cache line.
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
  alignas(64) std::array<Letter, kCapacity> letters_{};
};

}  // namespace ringway::router
