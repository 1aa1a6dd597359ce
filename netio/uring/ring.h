// Ring: one io_uring of one thread, and the only place that enters the kernel with it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "netio/base/clock.h"
#include "netio/base/result.h"
#include "netio/uring/abi.h"

namespace ringway::netio {

// What a request is for. Travels with it through the kernel.
enum class Request : std::uint8_t {
  wake,      // the read of the eventfd that other threads write to
  receive,   // multishot: one request, a completion for every packet
  poll,      // one shot: the port is readable
  read,      // one packet, or EAGAIN
  transmit,  // one packet
  cancel,
};

// user_data:  | request 8 | unused 8 | port 16 | slot 32 |
struct Tag {
  Request request{};
  std::uint16_t port = 0;  // index among the reactor's ports
  std::uint32_t slot = 0;  // index among the port's requests of that sort

  [[nodiscard]] constexpr std::uint64_t pack() const noexcept {
    return std::uint64_t{static_cast<std::uint8_t>(request)} << 56 | std::uint64_t{port} << 32 |
           slot;
  }
  [[nodiscard]] static constexpr Tag unpack(std::uint64_t packed) noexcept {
    return {.request = static_cast<Request>(packed >> 56),
            .port = static_cast<std::uint16_t>(packed >> 32),
            .slot = static_cast<std::uint32_t>(packed)};
  }
  friend bool operator==(const Tag&, const Tag&) noexcept = default;
};

struct Completion {
  Tag tag;
  std::int32_t result = 0;  // bytes, or -errno
  std::uint32_t flags = 0;  // IORING_CQE_F_*
};

// A descriptor as a request names it: fixed (an index into the ring's table) or plain.
struct RingFile {
  int fd = -1;
  bool fixed = false;
};

class Ring {
 public:
  // Requests that can be queued before the ring must be entered.
  static constexpr unsigned kSubmissions = 256;
  // Completions it holds; those of a flood of receives beyond that wait in the kernel.
  static constexpr unsigned kCompletions = 2048;

  // Sets a ring up with the best of the flags in `flags_allowed` that this kernel knows, and tries
  // it. EPERM, ENOSYS and ENOMEM mean that there is no ring to be had here.
  [[nodiscard]] static Result<std::unique_ptr<Ring>> open(std::uint32_t flags_allowed);
  Ring() = default;  // for open()
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  // Precondition: no request is in flight.
  ~Ring();

  // Puts a descriptor into the ring's table, or leaves it plain when the table is full.
  [[nodiscard]] RingFile add_file(int fd) noexcept;

  // A request to be filled in by io_uring_prep_*, then marked by mark(). Enters the kernel first if
  // the queue is full; null if that did not help.
  [[nodiscard]] io_uring_sqe* next() noexcept;
  // To be called after io_uring_prep_*, which clears what this sets.
  static void mark(io_uring_sqe* sqe, RingFile file, Tag tag) noexcept {
    sqe->flags |= file.fixed ? IOSQE_FIXED_FILE : 0U;
    sqe->user_data = tag.pack();
  }
  // Says that the request just queued will complete while it is submitted, and that nobody needs to
  // be woken for it.
  void expect_at_once() noexcept { ++expected_; }

  // Submits what is queued without waiting.
  void submit() noexcept;
  // Submits, and sleeps until something has completed beyond what was expected at once, or, with
  // `eager`, until anything has; at most `timeout` (negative: no limit). One system call.
  void submit_and_wait(Duration timeout, bool eager) noexcept;

  // Takes the oldest completion. False if there is none.
  [[nodiscard]] bool take(Completion& completion) noexcept;

  // Counts the system calls, so that others can count those that served them.
  [[nodiscard]] std::uint64_t enters() const noexcept { return enters_; }
  [[nodiscard]] bool supports(std::uint8_t operation) const noexcept {
    return supported_[operation];
  }
  [[nodiscard]] io_uring* handle() noexcept { return &ring_; }
  // The set-up flags in use, as in the manual: "DEFER_TASKRUN".
  [[nodiscard]] std::vector<std::string> flag_names() const;

 private:
  int set_up(std::uint32_t flags_allowed) noexcept;
  Result<void> prepare();

  io_uring ring_{};
  bool ready_ = false;
  std::array<bool, 256> supported_{};
  unsigned files_max_ = 0;
  unsigned files_ = 0;
  unsigned expected_ = 0;
  std::uint64_t enters_ = 0;
};

}  // namespace ringway::netio
