// Writes to a TUN: one WRITE a packet, the vnet header laid into its headroom.
#include "netio/uring/tun_port.h"

#include <cstdint>
#include <utility>

#include "netio/device/vnet_header.h"

namespace ringway::netio {

UringTunPort::UringTunPort(UringReactor& reactor, TunDevice device, PortId id,
                           const ReceiveSource& source, BufferPool& pool)
    : UringPort{reactor,
                id,
                PortInfo{.name = device.name(),
                         .mtu = device.mtu(),
                         .receive_by = "",
                         .transmit_by = "write"},
                source,
                pool,
                kVnetHeaderBytes},
      device_{std::move(device)} {}

void UringTunPort::transmit(Batch& batch, More /*more*/) noexcept {
  queue_each(batch, [](io_uring_sqe* sqe, int file, std::uint32_t /*slot*/, Packet& packet) {
    put_vnet_header(packet);
    io_uring_prep_write(sqe, file, packet.bytes().data(), packet.length, 0);
  });
}

}  // namespace ringway::netio
