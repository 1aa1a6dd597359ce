// A TUN on the io_uring engine.
#pragma once

#include "netio/device/tun_device.h"
#include "netio/uring/uring_port.h"

namespace ringway::netio {

class UringTunPort final : public UringPort {
 public:
  UringTunPort(UringReactor& reactor, TunDevice device, PortId id, const ReceiveSource& source,
               BufferPool& pool);

  void transmit(Batch& batch, More more) noexcept override;

 private:
  TunDevice device_;
};

}  // namespace ringway::netio
