// EpollPort: what the two ports of the epoll engine share: when to read, and how to count.
#pragma once

#include <cstdint>
#include <utility>

#include "netio/device/retry.h"
#include "netio/packet/buffer_pool.h"
#include "netio/port.h"

namespace ringway::netio {

// The descriptor is watched edge-triggered: one event when packets come, none while they lie there.
// So a port remembers that it has not yet read to the end, and nothing spins when it cannot read.
class EpollPort : public Port {
 public:
  // Reads into packets of `pool`.
  EpollPort(PortId id, PortInfo info, BufferPool& pool) : Port{id, std::move(info)}, pool_{pool} {}

  [[nodiscard]] virtual int fd() const noexcept = 0;

  // The reactor has seen an event.
  void on_event() noexcept { drained_ = false; }
  // True if receive() would make a system call now.
  [[nodiscard]] bool may_read() const noexcept {
    return !drained_ && !starved_ && !retry_.resting();
  }
  [[nodiscard]] Retry& retry() noexcept { return retry_; }
  // True if the port cannot read for want of a buffer.
  [[nodiscard]] bool starved() noexcept {
    starved_ = starved_ && pool_.available() == 0;
    return starved_;
  }

 protected:
  // The queue is empty.
  void drained() noexcept { drained_ = true; }
  // The pool is empty.
  void starve() noexcept { starved_ = true; }
  void read_failed(int number) noexcept;

  // Notes how a packet came, and makes it the batch's.
  void received(Packet* packet, Batch& batch) noexcept;
  // Ends a packet that has left with its `length` bytes.
  void sent(Packet* packet, std::uint32_t length) noexcept;

  BufferPool& pool_;

 private:
  bool drained_ = true;
  bool starved_ = false;
  Retry retry_;
};

}  // namespace ringway::netio
