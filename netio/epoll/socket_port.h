// A raw socket on the epoll engine: recvmmsg() and sendmmsg(), a batch a call.
#pragma once

#include <array>
#include <cstddef>

#include <netinet/in.h>
#include <sys/socket.h>

#include "netio/device/raw_socket.h"
#include "netio/epoll/epoll_port.h"
#include "netio/packet/buffer_pool.h"

namespace ringway::netio {

class EpollSocketPort final : public EpollPort {
 public:
  // Reads into packets of `pool`, which must hold any IP packet.
  EpollSocketPort(RawSocket socket, PortId id, BufferPool& pool);
  ~EpollSocketPort() override;

  [[nodiscard]] std::size_t receive(Batch& batch) noexcept override;
  void transmit(Batch& batch, More more) noexcept override;
  void flush() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return socket_.fd(); }

 private:
  // The arrays of one recvmmsg or sendmmsg: the first `count` of each are in use.
  struct Messages {
    std::array<mmsghdr, kBatchCapacity> headers{};
    std::array<iovec, kBatchCapacity> pieces{};
    std::array<sockaddr_in, kBatchCapacity> addresses{};
    std::array<Packet*, kBatchCapacity> packets{};
    std::size_t count = 0;
  };

  void offer(std::size_t index, Packet* packet) noexcept;
  void refill() noexcept;
  void replace_taken(std::size_t taken) noexcept;
  void hold_back(Packet* packet) noexcept;

  RawSocket socket_;
  Messages rx_;  // empty packets, ready to be filled
  Messages tx_;  // held back until the batch is full or flush()
};

}  // namespace ringway::netio
