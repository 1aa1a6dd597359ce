// UringPort: what the two ports of the io_uring engine share. A port is a device, a Receiver, a
// Transmitter, and its own way to ask for one packet to be sent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/port.h"
#include "netio/uring/receiver.h"
#include "netio/uring/ring.h"
#include "netio/uring/transmitter.h"

namespace ringway::netio {

class UringReactor;

class UringPort : public Port {
 public:
  // The port reads from `source` into packets of `pool`; the first `prefix` bytes of what it sends
  // are not the packet's.
  UringPort(UringReactor& reactor, PortId id, PortInfo info, const ReceiveSource& source,
            BufferPool& pool, std::uint16_t prefix);

  [[nodiscard]] std::size_t receive(Batch& batch) noexcept final {
    return receiver_.take(batch, id_, counters_);
  }
  void flush() noexcept final {}  // all that is queued leaves with the next wait

  // For the reactor: once a turn, for each completion, and at the end.
  [[nodiscard]] Receiver::Outlook prepare() noexcept { return receiver_.prepare(); }
  void complete(const Completion& completion) noexcept;
  void cancel() noexcept { receiver_.cancel(); }
  [[nodiscard]] bool idle() const noexcept { return receiver_.idle() && transmitter_.idle(); }

 protected:
  // Queues a request for each packet of the batch; `fill(sqe, file, slot, packet)` describes it.
  template <class Fill>
  void queue_each(Batch& batch, Fill fill) noexcept {
    for (Packet* packet : batch.packets()) {
      io_uring_sqe* sqe = next_request();
      if (sqe == nullptr) {
        drop(packet, Drop::queue_full);
        continue;
      }
      const std::uint32_t slot = transmitter_.put(packet);
      fill(sqe, transmitter_.file(), slot, *packet);
      transmitter_.queued(sqe, slot, counters_);
    }
    batch.release_all();
  }

 private:
  [[nodiscard]] io_uring_sqe* next_request() noexcept;

  UringReactor& reactor_;
  Receiver receiver_;
  Transmitter transmitter_;
};

}  // namespace ringway::netio
