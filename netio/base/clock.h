// Time as the packet path sees it: an argument, never a system call.
#pragma once

#include <chrono>

namespace ringway {

using Duration = std::chrono::nanoseconds;
// A point on CLOCK_MONOTONIC. Only differences mean anything.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Reads the clock. Called once per turn of a loop, never on the packet path.
[[nodiscard]] inline Instant monotonic_now() noexcept {
  return std::chrono::steady_clock::now();
}

}  // namespace ringway
