// The turn of the io_uring engine: queue what is missing, enter, hand out what came back.
#include "netio/uring/reactor.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "netio/base/assert.h"
#include "netio/device/raw_socket.h"
#include "netio/device/tun_device.h"
#include "netio/packet/buffer_pool.h"
#include "netio/uring/socket_port.h"
#include "netio/uring/tun_port.h"

namespace ringway::netio {

namespace {

// Whether a TUN takes reads that must not wait: since Linux 6.4 (drivers/net/tun.c tun_chr_open
// sets FMODE_NOWAIT). Asked by a write too short to be a packet: EINVAL if so, EOPNOTSUPP if not.
bool takes_nowait(int fd) noexcept {
  std::uint8_t byte = 0;
  const iovec piece{.iov_base = &byte, .iov_len = sizeof byte};
  return ::pwritev2(fd, &piece, 1, 0, RWF_NOWAIT) >= 0 || errno != EOPNOTSUPP;
}

}  // namespace

Result<std::unique_ptr<UringReactor>> UringReactor::open(const UringOptions& options) {
  Result<std::unique_ptr<Ring>> ring = Ring::open(options.setup_flags);
  if (!ring) {
    return ring.error();
  }
  // Blocking, so that the ring's read of it waits for the next wake() instead of failing.
  Fd wakeup{::eventfd(0, EFD_CLOEXEC)};
  if (!wakeup.valid()) {
    return Error{.operation = "eventfd",
                 .number = errno,
                 .subject = "set up the io_uring engine",
                 .why = {},
                 .fix = "raise RLIMIT_NOFILE (systemd: LimitNOFILE=)"};
  }
  return std::make_unique<UringReactor>(options, std::move(ring).value(), std::move(wakeup));
}

UringReactor::UringReactor(const UringOptions& options, std::unique_ptr<Ring> ring, Fd wakeup)
    : options_{options}, ring_{std::move(ring)}, wakeup_{std::move(wakeup)} {}

UringReactor::~UringReactor() {
  for (const auto& port : ports_) {
    port->cancel();
  }
  if (wake_armed_) {
    wake();  // completes the read
  }
  constexpr int kTries = 100;
  constexpr Duration kPatience = std::chrono::milliseconds{100};
  for (int tries = 0; !idle() && tries < kTries; ++tries) {
    ring_->submit_and_wait(kPatience, true);
    reap();
  }
  // Going on would free memory that the kernel may still write to.
  ASSERT(idle());
  ports_.clear();
  ring_.reset();
}

bool UringReactor::idle() const noexcept {
  return !wake_armed_ &&
         std::all_of(ports_.begin(), ports_.end(), [](const auto& port) { return port->idle(); });
}

ReceiveMode UringReactor::mode_for(std::uint8_t witness) const noexcept {
  return ring_->supports(witness) ? options_.receive
                                  : std::max(options_.receive, ReceiveMode::batch);
}

ReceiveSource UringReactor::source_for(ReceiveSource::Kind kind, int fd) noexcept {
  const std::uint8_t witness =
      kind == ReceiveSource::Kind::tun ? kOpReadMultishot : kOpWitnessOfRecvMultishot;
  return {.kind = kind,
          .fd = fd,
          .file = ring_->add_file(fd),
          .port = static_cast<std::uint16_t>(ports_.size()),
          .best = mode_for(witness)};
}

Result<Port*> UringReactor::keep(std::unique_ptr<UringPort> port) {
  ASSERT(ports_.size() < static_cast<std::size_t>(kNoPort));
  ports_.push_back(std::move(port));
  return ports_.back().get();
}

Result<Port*> UringReactor::attach(TunDevice device, PortId id, Pools pools) {
  ReceiveSource source = source_for(ReceiveSource::Kind::tun, device.fd());
  if (source.best == ReceiveMode::batch && !takes_nowait(device.fd())) {
    source.best = ReceiveMode::direct;
  }
  BufferPool& pool = fits_small_slot(device.mtu()) ? *pools.small : *pools.large;
  return keep(std::make_unique<UringTunPort>(*this, std::move(device), id, source, pool));
}

Result<Port*> UringReactor::attach(RawSocket socket, PortId id, Pools pools) {
  const ReceiveSource source = source_for(ReceiveSource::Kind::socket, socket.fd());
  return keep(
      std::make_unique<UringSocketPort>(*this, std::move(socket), id, source, *pools.large));
}

// Queues what the ports need for the time of the wait. Returns how long that may be; `eager` if it
// must end with the next completion of any kind, since a port needs the buffers that come back.
Duration UringReactor::prepare(Duration timeout, bool& eager) noexcept {
  const auto at_most = [&timeout](Duration longest) {
    timeout = timeout < Duration::zero() ? longest : std::min(timeout, longest);
  };
  for (const auto& port : ports_) {
    const Receiver::Outlook outlook = port->prepare();
    if (outlook.ready) {
      at_most(Duration::zero());
    }
    if (outlook.starved) {
      eager = true;
      at_most(kStarvedPause);
    }
    if (outlook.rest > Duration::zero()) {
      at_most(outlook.rest);
    }
  }
  return timeout;
}

void UringReactor::wait(Duration timeout) noexcept {
  reap();
  bool eager = false;
  Duration sleep = prepare(timeout, eager);
  arm_wake();
  if (woken_) {
    sleep = Duration::zero();
  }
  ring_->submit_and_wait(sleep, eager);
  reap();
  woken_ = false;
}

void UringReactor::arm_wake() noexcept {
  if (wake_armed_) {
    return;
  }
  if (io_uring_sqe* sqe = ring_->next(); sqe != nullptr) {
    io_uring_prep_read(sqe, wakeup_.get(), &wake_count_, sizeof wake_count_, 0);
    Ring::mark(sqe, {}, {.request = Request::wake, .port = 0, .slot = 0});
    wake_armed_ = true;
  }
}

void UringReactor::catch_up() noexcept {
  ring_->submit();
  reap();
}

void UringReactor::reap() noexcept {
  Completion completion;
  while (ring_->take(completion)) {
    switch (completion.tag.request) {
      case Request::wake:
        wake_armed_ = false;
        woken_ = true;
        break;
      case Request::cancel:
        break;
      default:
        ASSERT(completion.tag.port < ports_.size());
        ports_[completion.tag.port]->complete(completion);
    }
  }
}

void UringReactor::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wakeup_.get(), &one, sizeof one);
}

std::vector<std::string> UringReactor::features() const {
  std::vector<std::string> names = ring_->flag_names();
  const auto add = [&](std::uint8_t witness, const char* best, const char* other) {
    names.emplace_back(mode_for(witness) == ReceiveMode::multishot ? best : other);
  };
  add(kOpReadMultishot, "READ_MULTISHOT", "READ");
  add(kOpWitnessOfRecvMultishot, "RECV_MULTISHOT", "RECV");
  names.insert(names.end(), {"WRITE", "SENDMSG"});
  return names;
}

}  // namespace ringway::netio
