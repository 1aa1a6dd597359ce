// Keeps the kernel supplied with receives and buffers, and collects what arrives.
#include "netio/uring/receiver.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "netio/base/assert.h"
#include "netio/base/clock.h"
#include "netio/device/vnet_header.h"

namespace ringway::netio {

namespace {

// A wake-up brings one or two packets as a rule, and each read in vain costs 100 ns.
constexpr std::uint32_t kReadsMin = 2;
constexpr std::uint32_t kReadsMax = 32;  // larger batches fall out of the second-level cache

constexpr std::uint64_t bits(std::uint32_t count) noexcept {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

Receiver::Receiver(Ring& ring, const ReceiveSource& source, BufferPool& pool)
    : ring_{ring},
      pool_{pool},
      source_{source},
      mode_{source.best},
      buffers_{pool.packet_bytes_max() < 0xffff ? kSmallBuffers : kLargeBuffers},
      prefix_{source.kind == ReceiveSource::Kind::tun ? kVnetHeaderBytes : std::uint16_t{0}},
      read_size_{kReadsMin},
      vacant_{bits(buffers_)} {
  if (mode_ == ReceiveMode::multishot &&
      buffer_ring_.open(ring_.handle(), source_.port, buffers_) != 0) {
    mode_ = ReceiveMode::batch;  // Linux before 5.19
  }
}

Receiver::~Receiver() {
  ASSERT(idle());
  buffer_ring_.close();
  for (Packet* packet : slots_) {
    if (packet != nullptr) {
      recycle(packet);
    }
  }
  for (; arrived_count_ > 0; --arrived_count_) {
    recycle(arrived_[arrived_first_]);
    arrived_first_ = (arrived_first_ + 1) % kSmallBuffers;
  }
}

const char* Receiver::name() const noexcept {
  const bool tun = source_.kind == ReceiveSource::Kind::tun;
  switch (mode_) {
    case ReceiveMode::multishot:
      return tun ? "read_multishot" : "recv_multishot";
    case ReceiveMode::batch:
      return tun ? "poll+read_batch" : "poll+recv_batch";
    case ReceiveMode::direct:
      return "poll+read";
  }
  return "";
}

// Puts an empty packet into a vacant slot. False if the pool has none.
bool Receiver::allocate(std::uint32_t slot) noexcept {
  PacketPtr packet = pool_.allocate();
  if (packet == nullptr) {
    return false;
  }
  // A prefix lies in the headroom, so that the packet itself begins where it always does.
  packet->begin = static_cast<std::uint16_t>(kHeadroom - prefix_);
  slots_[slot] = packet.release();
  vacant_ &= ~(std::uint64_t{1} << slot);
  return true;
}

// Buffers that may still be given out, so that all that comes back has a place in `arrived_`: a
// port that is not emptied leaves the rest in the kernel's queue.
std::uint32_t Receiver::allowance() const noexcept {
  const auto vacant = static_cast<std::uint32_t>(std::popcount(vacant_));
  return vacant > arrived_count_ ? vacant - arrived_count_ : 0;
}

void Receiver::refill() noexcept {
  for (std::uint32_t count = allowance(); count > 0; --count) {
    const auto slot = static_cast<std::uint16_t>(std::countr_zero(vacant_));
    if (!allocate(slot)) {
      break;
    }
    Packet* packet = slots_[slot];
    buffer_ring_.add(packet->area() + packet->begin, packet->tailroom(), slot);
  }
  buffer_ring_.publish();
}

Receiver::Outlook Receiver::prepare() noexcept {
  Outlook outlook{.ready = arrived_count_ > 0};
  if (retry_.resting()) {
    outlook.rest = retry_.remaining(monotonic_now());
    if (outlook.rest > Duration::zero()) {
      return outlook;
    }
  }
  if (mode_ == ReceiveMode::multishot) {
    refill();
    const bool empty = vacant_ == bits(buffers_);
    if (!armed_ && (empty || !arm(Request::receive))) {
      outlook.starved = true;
    }
  } else if (armed_ || reads_ > 0) {
    // The poll, or the last batch of reads, is still out.
  } else if (dry_) {
    outlook.starved = !arm(Request::poll);
  } else if (mode_ == ReceiveMode::batch) {
    outlook.starved = !queue_reads();
  } else if (pool_.available() > 0) {
    outlook.ready = true;
  } else {
    outlook.starved = true;
  }
  return outlook;
}

// Queues the request that stays out until packets come. False if the ring is full.
bool Receiver::arm(Request request) noexcept {
  io_uring_sqe* sqe = ring_.next();
  if (sqe == nullptr) {
    return false;
  }
  if (request == Request::poll) {
    io_uring_prep_poll_add(sqe, source_.file.fd, POLLIN);
  } else if (source_.kind == ReceiveSource::Kind::tun) {
    io_uring_prep_rw(kOpReadMultishot, sqe, source_.file.fd, nullptr, 0, 0);
  } else {
    io_uring_prep_recv(sqe, source_.file.fd, nullptr, 0, 0);
    sqe->ioprio |= IORING_RECV_MULTISHOT;
  }
  if (request == Request::receive) {
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = source_.port;
  }
  Ring::mark(sqe, source_.file, {.request = request, .port = source_.port, .slot = 0});
  armed_ = true;
  return true;
}

// Queues a batch of reads. False if not one has found a buffer.
bool Receiver::queue_reads() noexcept {
  if (reads_found_ > 0) {
    read_size_ = std::min(read_size_ * 2, kReadsMax);
  }
  reads_found_ = 0;
  const std::uint32_t count = std::min(read_size_, buffers_ - arrived_count_);
  while (reads_ < count && queue_read(reads_)) {
    ++reads_;
  }
  return reads_ > 0 || arrived_count_ > 0;
}

bool Receiver::queue_read(std::uint32_t slot) noexcept {
  if (slots_[slot] == nullptr && !allocate(slot)) {
    return false;
  }
  io_uring_sqe* sqe = ring_.next();
  if (sqe == nullptr) {
    return false;
  }
  Packet* packet = slots_[slot];
  std::uint8_t* target = packet->area() + packet->begin;
  if (source_.kind == ReceiveSource::Kind::tun) {
    io_uring_prep_read(sqe, source_.file.fd, target, packet->tailroom(), 0);
    sqe->rw_flags = RWF_NOWAIT;
  } else {
    io_uring_prep_recv(sqe, source_.file.fd, target, packet->tailroom(), MSG_DONTWAIT);
  }
  Ring::mark(sqe, source_.file, {.request = Request::read, .port = source_.port, .slot = slot});
  return true;
}

void Receiver::complete(const Completion& completion, PortCounters& counters) noexcept {
  const std::int32_t result = completion.result;
  switch (completion.tag.request) {
    case Request::receive:
      armed_ = (completion.flags & IORING_CQE_F_MORE) != 0;
      if ((completion.flags & IORING_CQE_F_BUFFER) != 0) {
        arrived(completion.flags >> IORING_CQE_BUFFER_SHIFT,
                static_cast<std::uint32_t>(std::max(result, 0)), counters);
      } else if (result != -ENOBUFS && result < 0) {  // ENOBUFS: out of buffers, nothing wrong
        failed(-result, counters);
      }
      break;
    case Request::poll:
      armed_ = false;
      dry_ = false;
      reads_found_ = 0;
      break;
    case Request::read:
      --reads_;
      if (result >= 0) {
        ++reads_found_;
        arrived(completion.tag.slot, static_cast<std::uint32_t>(result), counters);
      } else {
        failed(-result, counters);
      }
      break;
    default:
      ASSERT(false);
  }
}

void Receiver::arrived(std::uint32_t slot, std::uint32_t length, PortCounters& counters) noexcept {
  ASSERT(slot < buffers_ && slots_[slot] != nullptr && arrived_count_ < kSmallBuffers);
  Packet* packet = slots_[slot];
  slots_[slot] = nullptr;
  vacant_ |= std::uint64_t{1} << slot;
  packet->length = length;
  arrived_[(arrived_first_ + arrived_count_++) % kSmallBuffers] = packet;
  retry_.success();
  if (doorbell_ != ring_.enters()) {
    doorbell_ = ring_.enters();
    counters.rx_doorbells.add(1);
  }
}

void Receiver::failed(int number, PortCounters& counters) noexcept {
  if (number == EAGAIN) {
    dry_ = true;
    read_size_ = std::clamp(reads_found_ + 1, kReadsMin, kReadsMax);
  } else if (number == ECANCELED || number == EINTR || retry_.resting()) {
    return;  // we are closing; or this is one more of a batch that failed as a whole
  } else {
    counters.rx_faults.add(1);
    retry_.fault();
  }
}

std::size_t Receiver::take(Batch& batch, PortId id, PortCounters& counters) noexcept {
  const std::size_t before = batch.size();
  for (; arrived_count_ > 0 && !batch.full(); --arrived_count_) {
    Packet* packet = arrived_[arrived_first_];
    arrived_first_ = (arrived_first_ + 1) % kSmallBuffers;
    deliver(packet, batch, id, counters);
  }
  if (mode_ == ReceiveMode::direct) {
    read_directly(batch, id, counters);
  }
  return batch.size() - before;
}

void Receiver::read_directly(Batch& batch, PortId id, PortCounters& counters) noexcept {
  while (!batch.full() && !dry_ && !retry_.resting()) {
    if (slots_[0] == nullptr && !allocate(0)) {
      return;  // prepare() will notice
    }
    Packet* packet = slots_[0];
    const ssize_t length = ::read(source_.fd, packet->area() + packet->begin, packet->tailroom());
    if (length < 0) {
      failed(errno, counters);
      continue;
    }
    counters.rx_doorbells.add(1);
    retry_.success();
    packet->length = static_cast<std::uint32_t>(length);
    slots_[0] = nullptr;
    vacant_ |= 1;
    deliver(packet, batch, id, counters);
  }
}

// Makes a packet the batch's, unless what came is none.
void Receiver::deliver(Packet* packet, Batch& batch, PortId id,
                       PortCounters& counters) const noexcept {
  const bool good = prefix_ == 0 ? packet->length > 0 : take_vnet_header(*packet);
  if (!good) {
    counters.rx_faults.add(1);
    recycle(packet);
    return;
  }
  packet->ingress = id;
  counters.rx_packets.add(1);
  counters.rx_bytes.add(packet->length);
  batch.push(packet);
}

void Receiver::cancel() noexcept {
  if (!armed_) {
    return;
  }
  const Request request = mode_ == ReceiveMode::multishot ? Request::receive : Request::poll;
  const Tag tag{.request = request, .port = source_.port, .slot = 0};
  if (io_uring_sqe* sqe = ring_.next(); sqe != nullptr) {
    io_uring_prep_cancel64(sqe, tag.pack(), 0);
    Ring::mark(sqe, {}, {.request = Request::cancel, .port = source_.port, .slot = 0});
  }
}

}  // namespace ringway::netio
