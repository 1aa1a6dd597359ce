// Receives and sends whole batches by one system call each.
#include "netio/epoll/socket_port.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ringway::netio {

EpollSocketPort::EpollSocketPort(RawSocket socket, PortId id, BufferPool& pool)
    : EpollPort{id,
                PortInfo{.name = socket.name(),
                         .mtu = 0,
                         .receive_by = "recvmmsg",
                         .transmit_by = "sendmmsg"},
                pool},
      socket_{std::move(socket)} {
  for (std::size_t i = 0; i < kBatchCapacity; ++i) {
    rx_.headers[i].msg_hdr.msg_iov = &rx_.pieces[i];
    rx_.headers[i].msg_hdr.msg_iovlen = 1;
    tx_.headers[i].msg_hdr.msg_iov = &tx_.pieces[i];
    tx_.headers[i].msg_hdr.msg_iovlen = 1;
    tx_.headers[i].msg_hdr.msg_name = &tx_.addresses[i];
    tx_.headers[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
  }
}

EpollSocketPort::~EpollSocketPort() {
  for (std::size_t i = 0; i < rx_.count; ++i) {
    recycle(rx_.packets[i]);
  }
  for (std::size_t i = 0; i < tx_.count; ++i) {
    drop(tx_.packets[i], Drop::shutdown);
  }
}

// Makes an empty packet the target of message `index`.
void EpollSocketPort::offer(std::size_t index, Packet* packet) noexcept {
  rx_.packets[index] = packet;
  rx_.pieces[index] = {.iov_base = packet->area() + packet->begin, .iov_len = packet->tailroom()};
}

void EpollSocketPort::refill() noexcept {
  while (rx_.count < kBatchCapacity) {
    PacketPtr packet = pool_.allocate();
    if (packet == nullptr) {
      return;
    }
    offer(rx_.count++, packet.release());
  }
}

// The first `taken` packets now belong to a batch: puts fresh ones in their place, or the last.
void EpollSocketPort::replace_taken(std::size_t taken) noexcept {
  // Backwards: all messages behind `i` hold a packet, so the last one does.
  for (std::size_t i = taken; i-- > 0;) {
    if (PacketPtr packet = pool_.allocate(); packet != nullptr) {
      offer(i, packet.release());
    } else if (--rx_.count != i) {
      offer(i, rx_.packets[rx_.count]);
    }
  }
}

std::size_t EpollSocketPort::receive(Batch& batch) noexcept {
  if (!may_read() || batch.full()) {
    return 0;
  }
  refill();
  if (rx_.count == 0) {
    starve();
    return 0;
  }
  const std::size_t wanted = std::min(batch.room(), rx_.count);
  const int result = ::recvmmsg(socket_.fd(), rx_.headers.data(), static_cast<unsigned>(wanted),
                                MSG_DONTWAIT, nullptr);
  if (result < 0) {
    read_failed(errno);
    return 0;
  }
  counters_.rx_doorbells.add(1);
  const auto taken = static_cast<std::size_t>(result);
  for (std::size_t i = 0; i < taken; ++i) {
    rx_.packets[i]->length = rx_.headers[i].msg_len;
    received(rx_.packets[i], batch);
  }
  replace_taken(taken);
  if (taken < wanted) {
    drained();
  }
  return taken;
}

void EpollSocketPort::transmit(Batch& batch, More more) noexcept {
  for (Packet* packet : batch.packets()) {
    hold_back(packet);
  }
  batch.release_all();
  if (more == More::no) {
    flush();
  }
}

void EpollSocketPort::hold_back(Packet* packet) noexcept {
  if (tx_.count == kBatchCapacity) {
    flush();
  }
  const std::size_t i = tx_.count++;
  tx_.packets[i] = packet;
  tx_.addresses[i] = destination_of(*packet);
  tx_.pieces[i] = {.iov_base = packet->bytes().data(), .iov_len = packet->length};
}

void EpollSocketPort::flush() noexcept {
  std::size_t done = 0;
  while (done < tx_.count) {
    const int result = ::sendmmsg(socket_.fd(), &tx_.headers[done],
                                  static_cast<unsigned>(tx_.count - done), MSG_DONTWAIT);
    counters_.tx_doorbells.add(1);
    if (result < 0) {
      // The first one failed. An EAGAIN holds for all that follow: the send buffer is full.
      const Drop reason = drop_for_errno(errno);
      const std::size_t until = errno == EAGAIN ? tx_.count : done + 1;
      while (done < until) {
        drop(tx_.packets[done++], reason);
      }
      continue;
    }
    for (int i = 0; i < result; ++i) {
      Packet* packet = tx_.packets[done++];
      sent(packet, packet->length);
    }
  }
  tx_.count = 0;
}

}  // namespace ringway::netio
