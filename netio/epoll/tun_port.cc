// Reads a TUN until it is empty, writes to it packet by packet.
#include "netio/epoll/tun_port.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <unistd.h>

#include "netio/device/vnet_header.h"

namespace ringway::netio {

EpollTunPort::EpollTunPort(TunDevice device, PortId id, BufferPool& pool)
    : EpollPort{id,
                PortInfo{.name = device.name(),
                         .mtu = device.mtu(),
                         .receive_by = "read",
                         .transmit_by = "write"},
                pool},
      device_{std::move(device)} {}

std::size_t EpollTunPort::receive(Batch& batch) noexcept {
  const std::size_t before = batch.size();
  while (may_read() && !batch.full()) {
    PacketPtr packet = pool_.allocate();
    if (packet == nullptr) {
      starve();
      break;
    }
    // The header lies in the headroom, so that the packet itself begins where it always does.
    packet->begin = kHeadroom - kVnetHeaderBytes;
    const ssize_t length = ::read(device_.fd(), packet->area() + packet->begin, packet->tailroom());
    if (length < 0) {
      read_failed(errno);
      continue;
    }
    counters_.rx_doorbells.add(1);
    packet->length = static_cast<std::uint32_t>(length);
    if (!take_vnet_header(*packet)) {
      counters_.rx_faults.add(1);
      continue;
    }
    received(packet.release(), batch);
  }
  return batch.size() - before;
}

void EpollTunPort::transmit(Batch& batch, More /*more*/) noexcept {
  for (Packet* packet : batch.packets()) {
    const std::uint32_t length = packet->length;
    put_vnet_header(*packet);
    counters_.tx_doorbells.add(1);
    if (::write(device_.fd(), packet->bytes().data(), packet->length) < 0) {
      drop(packet, drop_for_errno(errno));
    } else {
      sent(packet, length);
    }
  }
  batch.release_all();
}

}  // namespace ringway::netio
