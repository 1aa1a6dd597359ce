// A raw socket on the io_uring engine.
#pragma once

#include <array>

#include <netinet/in.h>
#include <sys/socket.h>

#include "netio/device/raw_socket.h"
#include "netio/uring/uring_port.h"

namespace ringway::netio {

class UringSocketPort final : public UringPort {
 public:
  UringSocketPort(UringReactor& reactor, RawSocket socket, PortId id, const ReceiveSource& source,
                  BufferPool& pool);

  void transmit(Batch& batch, More more) noexcept override;

 private:
  // What sendmsg() wants to know of a packet; one for each slot of the transmitter.
  struct Message {
    msghdr header{};
    iovec piece{};
    sockaddr_in address{};
  };

  RawSocket socket_;
  std::array<Message, Transmitter::kSlots> messages_;
};

}  // namespace ringway::netio
