// Between the reactor's completions and the port's two halves.
#include "netio/uring/uring_port.h"

#include <utility>

#include "netio/uring/reactor.h"

namespace ringway::netio {

UringPort::UringPort(UringReactor& reactor, PortId id, PortInfo info, const ReceiveSource& source,
                     BufferPool& pool, std::uint16_t prefix)
    : Port{id, std::move(info)},
      reactor_{reactor},
      receiver_{reactor.ring(), source, pool},
      transmitter_{reactor.ring(), source.file, source.port, prefix} {
  info_.receive_by = receiver_.name();
}

void UringPort::complete(const Completion& completion) noexcept {
  if (completion.tag.request == Request::transmit) {
    transmitter_.complete(completion, counters_);
  } else {
    receiver_.complete(completion, counters_);
  }
}

// A request and a free slot for it, or null if the kernel takes nothing more.
io_uring_sqe* UringPort::next_request() noexcept {
  if (transmitter_.full()) {
    reactor_.catch_up();
  }
  return transmitter_.full() ? nullptr : reactor_.ring().next();
}

}  // namespace ringway::netio
