// Fd: one owner of one file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace ringway {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) noexcept : number_{number} {}
  Fd(Fd&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool valid() const noexcept { return number_ >= 0; }
  // Gives the descriptor away; the caller closes it.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept {
    if (valid()) {
      ::close(std::exchange(number_, -1));
    }
  }

 private:
  int number_ = -1;
};

}  // namespace ringway
