// Sends on a raw socket: one SENDMSG a packet, to the destination in its outer header.
#include "netio/uring/socket_port.h"

#include <cstdint>
#include <utility>

namespace ringway::netio {

UringSocketPort::UringSocketPort(UringReactor& reactor, RawSocket socket, PortId id,
                                 const ReceiveSource& source, BufferPool& pool)
    : UringPort{reactor,
                id,
                PortInfo{
                    .name = socket.name(), .mtu = 0, .receive_by = "", .transmit_by = "sendmsg"},
                source,
                pool,
                0},
      socket_{std::move(socket)} {
  for (Message& message : messages_) {
    message.header.msg_name = &message.address;
    message.header.msg_namelen = sizeof message.address;
    message.header.msg_iov = &message.piece;
    message.header.msg_iovlen = 1;
  }
}

void UringSocketPort::transmit(Batch& batch, More /*more*/) noexcept {
  queue_each(batch, [this](io_uring_sqe* sqe, int file, std::uint32_t slot, Packet& packet) {
    Message& message = messages_[slot];
    message.address = destination_of(packet);
    message.piece = {.iov_base = packet.bytes().data(), .iov_len = packet.length};
    io_uring_prep_sendmsg(sqe, file, &message.header, MSG_DONTWAIT);
  });
}

}  // namespace ringway::netio
