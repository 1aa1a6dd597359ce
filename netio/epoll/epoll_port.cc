// Counting, and what a failed read means.
#include "netio/epoll/epoll_port.h"

#include <cerrno>
#include <cstdint>

namespace ringway::netio {

void EpollPort::read_failed(int number) noexcept {
  if (number == EAGAIN) {
    drained_ = true;
  } else if (number != EINTR) {
    counters_.rx_faults.add(1);
    retry_.fault();
  }
}

void EpollPort::received(Packet* packet, Batch& batch) noexcept {
  retry_.success();
  packet->ingress = id_;
  counters_.rx_packets.add(1);
  counters_.rx_bytes.add(packet->length);
  batch.push(packet);
}

void EpollPort::sent(Packet* packet, std::uint32_t length) noexcept {
  counters_.tx_packets.add(1);
  counters_.tx_bytes.add(length);
  recycle(packet);
}

}  // namespace ringway::netio
