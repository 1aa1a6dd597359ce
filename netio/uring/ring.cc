// Sets the ring up with what the kernel knows, and enters it once a turn.
#include "netio/uring/ring.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace ringway::netio {

namespace {

// After a burst the completions of the last packets sent are collected this late at the latest: one
// wake-up for each time that the traffic pauses, none while it flows or rests.
constexpr Duration kSettleTime = std::chrono::milliseconds{10};

struct SetupFlag {
  std::uint32_t flag;
  const char* name;
};

constexpr std::array<SetupFlag, 5> kFlagNames{{{IORING_SETUP_CQSIZE, "CQSIZE"},
                                               {IORING_SETUP_SUBMIT_ALL, "SUBMIT_ALL"},
                                               {IORING_SETUP_COOP_TASKRUN, "COOP_TASKRUN"},
                                               {IORING_SETUP_SINGLE_ISSUER, "SINGLE_ISSUER"},
                                               {IORING_SETUP_DEFER_TASKRUN, "DEFER_TASKRUN"}}};

constexpr std::uint32_t kBaseFlags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;

// From the best to the plainest. Kernels refuse flags they do not know with EINVAL, so each row
// leaves out the newest of the row before. DEFER_TASKRUN (6.1) completes receives inside our own
// wait only; COOP_TASKRUN (5.19) is the nearest to it that is older.
constexpr std::array<std::uint32_t, 5> kFlagLadder{
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN,
    IORING_SETUP_SUBMIT_ALL,
    0,
};

// Fixed files: as many as a daemon has tunnels and sockets, if RLIMIT_NOFILE allows a table so big.
constexpr unsigned kFilesMax = 1100;

// The number in a one-line file of /proc, or -1.
int number_in(const char* path) noexcept {
  const std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })> file{
      std::fopen(path, "re")};
  int number = -1;
  if (file == nullptr || std::fscanf(file.get(), "%d", &number) != 1) {
    return -1;
  }
  return number;
}

std::string why_forbidden() {
  switch (const int disabled = number_in("/proc/sys/kernel/io_uring_disabled")) {
    case 1:
      return "kernel.io_uring_disabled=1 allows io_uring to CAP_SYS_ADMIN and the group "
             "kernel.io_uring_group=" +
             std::to_string(number_in("/proc/sys/kernel/io_uring_group")) + " only";
    case 2:
      return "kernel.io_uring_disabled=2 switches io_uring off";
    default:
      return "a seccomp filter forbids it, as container runtimes do by default" +
             std::string{disabled == 0 ? " (kernel.io_uring_disabled=0 would allow it)" : ""};
  }
}

std::string why_no_memory() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  constexpr std::size_t kBytes =
      Ring::kSubmissions * sizeof(io_uring_sqe) + Ring::kCompletions * sizeof(io_uring_cqe);
  const std::string allowed = limit.rlim_cur == RLIM_INFINITY
                                  ? "unlimited"
                                  : std::to_string(limit.rlim_cur / 1024) + " KiB";
  return "the ring needs about " + std::to_string(kBytes / 1024) +
         " KiB of locked memory; RLIMIT_MEMLOCK is " + allowed + ", shared by all of this user";
}

Error error_of(const char* operation, int number) {
  Error error{
      .operation = operation, .number = number, .subject = "set up io_uring", .why = {}, .fix = {}};
  switch (number) {
    case EPERM:
      error.why = why_forbidden();
      error.fix = "allow io_uring, or use `engine: epoll`, which needs no permission";
      break;
    case ENOSYS:
      error.why =
          "the kernel is older than 5.11, built without io_uring, or a seccomp filter says "
          "so";
      error.fix = "use `engine: epoll`";
      break;
    case ENOMEM:
      error.why = why_no_memory();
      error.fix = "raise RLIMIT_MEMLOCK (systemd: LimitMEMLOCK=64M), or use `engine: epoll`";
      break;
    case EMFILE:
    case ENFILE:
      error.fix = "raise RLIMIT_NOFILE (systemd: LimitNOFILE=)";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::open(std::uint32_t flags_allowed) {
  auto ring = std::make_unique<Ring>();
  if (const int number = ring->set_up(flags_allowed); number != 0) {
    return error_of("io_uring_setup", number);
  }
  if (Result<void> prepared = ring->prepare(); !prepared) {
    return prepared.error();
  }
  return ring;
}

// Returns 0 or errno.
int Ring::set_up(std::uint32_t flags_allowed) noexcept {
  int result = -EINVAL;
  for (const std::uint32_t flags : kFlagLadder) {
    io_uring_params params{};
    params.flags = kBaseFlags | (flags & flags_allowed);
    params.cq_entries = kCompletions;
    result = io_uring_queue_init_params(kSubmissions, &ring_, &params);
    if (result != -EINVAL) {
      break;
    }
  }
  ready_ = result == 0;
  return -result;
}

// What must work besides io_uring_setup; a sandbox may allow that and forbid the rest.
Result<void> Ring::prepare() {
  // Timeouts of a wait without a request of their own; completions that are never lost.
  constexpr unsigned kNeeded = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL;
  if ((ring_.features & kNeeded) != kNeeded) {
    return error_of("io_uring_setup", ENOSYS);
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  files_max_ = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur, kFilesMax));
  const std::vector<int> empty(files_max_, -1);
  if (const int result = io_uring_register_files(&ring_, empty.data(), files_max_); result < 0) {
    return error_of("io_uring_register", -result);
  }
  const std::unique_ptr<io_uring_probe, decltype([](io_uring_probe* p) { io_uring_free_probe(p); })>
      probe{io_uring_get_probe_ring(&ring_)};
  for (int operation = 0; probe != nullptr && operation <= probe->last_op; ++operation) {
    supported_[static_cast<std::size_t>(operation)] =
        io_uring_opcode_supported(probe.get(), operation) != 0;
  }
  // The first entry, by a request that does nothing.
  io_uring_sqe* sqe = next();
  ASSERT(sqe != nullptr);
  io_uring_prep_nop(sqe);
  if (const int result = io_uring_submit_and_wait(&ring_, 1); result < 0) {
    return error_of("io_uring_enter", -result);
  }
  io_uring_cq_advance(&ring_, 1);
  return {};
}

Ring::~Ring() {
  if (ready_) {
    // The table first: io_uring_queue_exit leaves its files to a worker of the kernel, and a TUN
    // would live on for a while (C++ closes the descriptor, the kernel keeps the file).
    (void)io_uring_unregister_files(&ring_);
    io_uring_queue_exit(&ring_);
  }
}

RingFile Ring::add_file(int fd) noexcept {
  if (files_ < files_max_ && io_uring_register_files_update(&ring_, files_, &fd, 1) == 1) {
    return {.fd = static_cast<int>(files_++), .fixed = true};
  }
  return {.fd = fd, .fixed = false};
}

io_uring_sqe* Ring::next() noexcept {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  if (sqe == nullptr) {
    submit();
    sqe = io_uring_get_sqe(&ring_);
  }
  return sqe;
}

void Ring::submit() noexcept {
  ++enters_;
  expected_ = 0;
  (void)io_uring_submit_and_get_events(&ring_);
}

void Ring::submit_and_wait(Duration timeout, bool eager) noexcept {
  if (timeout == Duration::zero() || io_uring_cq_ready(&ring_) > 0) {
    submit();
    return;
  }
  // What is being sent completes at once and must not end the sleep: wait for one more than that.
  // But not for ever, or the counters would be wrong and the packets away until something comes.
  const unsigned count = 1 + (eager ? 0 : expected_);
  if (count > 1 && (timeout < Duration::zero() || timeout > kSettleTime)) {
    timeout = kSettleTime;
  }
  ++enters_;
  expected_ = 0;
  // Errors (EINTR, ETIME, EBUSY) all mean: look at what there is, and come again.
  if (timeout < Duration::zero()) {
    (void)io_uring_submit_and_wait(&ring_, count);
    return;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  __kernel_timespec until{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
  io_uring_cqe* first = nullptr;
  (void)io_uring_submit_and_wait_timeout(&ring_, &first, count, &until, nullptr);
}

bool Ring::take(Completion& completion) noexcept {
  if (io_uring_cq_ready(&ring_) == 0) {
    return false;
  }
  const io_uring_cqe& cqe = ring_.cq.cqes[*ring_.cq.khead & *ring_.cq.kring_mask];
  completion = {.tag = Tag::unpack(cqe.user_data), .result = cqe.res, .flags = cqe.flags};
  io_uring_cq_advance(&ring_, 1);
  return true;
}

std::vector<std::string> Ring::flag_names() const {
  std::vector<std::string> names;
  for (const SetupFlag& row : kFlagNames) {
    if ((ring_.flags & row.flag) != 0) {
      names.emplace_back(row.name);
    }
  }
  return names;
}

}  // namespace ringway::netio
