// A TUN on the epoll engine: one read() and one write() a packet.
#pragma once

#include <cstddef>

#include "netio/device/tun_device.h"
#include "netio/epoll/epoll_port.h"
#include "netio/packet/buffer_pool.h"

namespace ringway::netio {

class EpollTunPort final : public EpollPort {
 public:
  // Reads into packets of `pool`.
  EpollTunPort(TunDevice device, PortId id, BufferPool& pool);

  [[nodiscard]] std::size_t receive(Batch& batch) noexcept override;
  void transmit(Batch& batch, More more) noexcept override;
  void flush() noexcept override {}  // nothing is held back: a TUN has no call for many packets
  [[nodiscard]] int fd() const noexcept override { return device_.fd(); }

 private:
  TunDevice device_;
};

}  // namespace ringway::netio
