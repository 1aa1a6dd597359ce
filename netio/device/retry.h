// Retry: when a port may read again after a read that failed.
#pragma once

#include <algorithm>
#include <chrono>

#include "netio/base/clock.h"

namespace ringway::netio {

// How long a port without a free buffer sleeps before it looks again. Buffers come back when
// packets leave; the pause is for the case that somebody holds on to them.
inline constexpr Duration kStarvedPause = std::chrono::milliseconds{1};

// A read that fails once usually fails at once again: the TUN of a deleted interface answers EBADFD
// without end. So after a failure the port rests, twice as long each time; the shard stays quiet
// and the port comes back by itself where that is possible.
class Retry {
 public:
  static constexpr Duration kPauseMin = std::chrono::milliseconds{10};
  static constexpr Duration kPauseMax = std::chrono::seconds{1};

  // Reading has failed.
  void fault() noexcept {
    pause_ = std::clamp(pause_ * 2, kPauseMin, kPauseMax);
    state_ = State::asked;
  }
  // Reading has worked.
  void success() noexcept { pause_ = Duration::zero(); }

  // True while the port must not read.
  [[nodiscard]] bool resting() const noexcept { return state_ != State::none; }
  // Precondition: resting(). How long until it may read again; zero ends the rest.
  [[nodiscard]] Duration remaining(Instant now) noexcept {
    if (state_ == State::asked) {
      state_ = State::timed;
      until_ = now + pause_;
    }
    if (now >= until_) {
      state_ = State::none;
      return Duration::zero();
    }
    return until_ - now;
  }

 private:
  enum class State { none, asked, timed };  // asked: the clock is read at the next wait only

  State state_ = State::none;
  Duration pause_ = Duration::zero();
  Instant until_;
};

}  // namespace ringway::netio
