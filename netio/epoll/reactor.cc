// Sleeps in epoll until a port has something to read.
#include "netio/epoll/reactor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "netio/device/raw_socket.h"
#include "netio/device/tun_device.h"
#include "netio/epoll/socket_port.h"
#include "netio/epoll/tun_port.h"
#include "netio/packet/buffer_pool.h"

namespace ringway::netio {

namespace {

constexpr std::size_t kEventsPerWait = 64;

using Events = std::array<epoll_event, kEventsPerWait>;

// Nanoseconds (Linux 5.11).
int wait_precise(int epoll, Events& events, Duration timeout) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec until{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
  return ::epoll_pwait2(epoll, events.data(), static_cast<int>(events.size()),
                        timeout < Duration::zero() ? nullptr : &until, nullptr);
}

// Milliseconds. Rounded up: rounded down, a timeout of half a millisecond would be a busy loop.
int wait_coarse(int epoll, Events& events, Duration timeout) noexcept {
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  const int milliseconds =
      timeout < Duration::zero() ? -1 : static_cast<int>(std::min<std::int64_t>(whole, INT_MAX));
  return ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), milliseconds);
}

Error error_of(const char* operation) {
  return Error{.operation = operation,
               .number = errno,
               .subject = "set up the epoll engine",
               .why = {},
               .fix = errno == EMFILE ? "raise RLIMIT_NOFILE (systemd: LimitNOFILE=)" : ""};
}

}  // namespace

Result<std::unique_ptr<EpollReactor>> EpollReactor::open(bool precise) {
  Fd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  if (!epoll.valid()) {
    return error_of("epoll_create1");
  }
  Fd wakeup{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!wakeup.valid()) {
    return error_of("eventfd");
  }
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wakeup.get(), &event) != 0) {
    return error_of("epoll_ctl");
  }
  // Unknown to kernels before 5.11 (ENOSYS) and to older seccomp profiles of containers (EPERM).
  Events events{};
  precise = precise && wait_precise(epoll.get(), events, Duration::zero()) >= 0;
  return std::unique_ptr<EpollReactor>{
      // NOLINT: the constructor is private
      new EpollReactor{std::move(epoll), std::move(wakeup), precise}};
}

Result<Port*> EpollReactor::watch(std::unique_ptr<EpollPort> port) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = port.get()}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, port->fd(), &event) != 0) {
    return error_of("epoll_ctl");
  }
  ports_.push_back(std::move(port));
  return ports_.back().get();
}

Result<Port*> EpollReactor::attach(TunDevice device, PortId id, Pools pools) {
  BufferPool& pool = fits_small_slot(device.mtu()) ? *pools.small : *pools.large;
  return watch(std::make_unique<EpollTunPort>(std::move(device), id, pool));
}

Result<Port*> EpollReactor::attach(RawSocket socket, PortId id, Pools pools) {
  return watch(std::make_unique<EpollSocketPort>(std::move(socket), id, *pools.large));
}

// How long to sleep: not at all while a port has not read to its end, and not beyond the end of a
// port's rest.
Duration EpollReactor::limit(Duration timeout) noexcept {
  const auto at_most = [&timeout](Duration longest) {
    timeout = timeout < Duration::zero() ? longest : std::min(timeout, longest);
  };
  for (const auto& port : ports_) {
    if (port->retry().resting()) {
      at_most(port->retry().remaining(monotonic_now()));
    }
    if (port->starved()) {
      at_most(kStarvedPause);
    }
    if (port->may_read()) {
      at_most(Duration::zero());
    }
  }
  return timeout;
}

void EpollReactor::wait(Duration timeout) noexcept {
  for (const auto& port : ports_) {
    port->flush();
  }
  Events events;
  const Duration sleep = limit(timeout);
  const int count = precise_ ? wait_precise(epoll_.get(), events, sleep)
                             : wait_coarse(epoll_.get(), events, sleep);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr != nullptr) {
      static_cast<EpollPort*>(events[i].data.ptr)->on_event();
    } else {
      std::uint64_t wakes = 0;
      (void)!::read(wakeup_.get(), &wakes, sizeof wakes);
    }
  }
}

void EpollReactor::wake() noexcept {
  const std::uint64_t one = 1;
  // Fails only when 2^64 - 2 wakes are unread: the reactor is awake then.
  (void)!::write(wakeup_.get(), &one, sizeof one);
}

std::vector<std::string> EpollReactor::features() const {
  return {"EPOLLET", precise_ ? "epoll_pwait2" : "epoll_wait", "recvmmsg", "sendmmsg"};
}

}  // namespace ringway::netio
