// Three queues: one in, two out.
#include "netio/memory/memory_port.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "netio/base/assert.h"
#include "netio/packet/batch.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/port.h"

namespace ringway::netio {

PacketQueue::~PacketQueue() {
  while (!empty()) {
    recycle(pop());
  }
}

void PacketQueue::push(Packet* packet) noexcept {
  ASSERT(!full());
  ring_[(head_ + size_) % ring_.size()] = packet;
  ++size_;
}

Packet* PacketQueue::pop() noexcept {
  ASSERT(!empty());
  Packet* packet = ring_[head_];
  head_ = (head_ + 1) % ring_.size();
  --size_;
  return packet;
}

namespace {

PortInfo named(PortInfo info) {
  info.receive_by = "inject";
  info.transmit_by = "take_transmitted";
  return info;
}

}  // namespace

MemoryPort::MemoryPort(PortId id, PortInfo info, std::size_t capacity)
    : Port{id, named(std::move(info))}, arrived_{capacity}, held_{capacity}, left_{capacity} {}

void MemoryPort::inject(PacketPtr packet) noexcept {
  arrived_.push(packet.release());
}

PacketPtr MemoryPort::take_transmitted() noexcept {
  return PacketPtr{left_.empty() ? nullptr : left_.pop()};
}

std::size_t MemoryPort::receive(Batch& batch) noexcept {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (; !arrived_.empty() && !batch.full(); ++count) {
    Packet* packet = arrived_.pop();
    packet->ingress = id();
    bytes += packet->length;
    batch.push(packet);
  }
  if (count > 0) {
    counters_.rx_packets.add(count);
    counters_.rx_bytes.add(bytes);
    counters_.rx_doorbells.add(1);
  }
  return count;
}

void MemoryPort::transmit(Batch& batch, More more) noexcept {
  for (Packet* packet : batch.packets()) {
    if (info().mtu != 0 && packet->length > info().mtu) {
      drop(packet, Drop::too_big);
    } else if (held_.full()) {
      drop(packet, Drop::queue_full);
    } else {
      held_.push(packet);
    }
  }
  batch.release_all();
  if (more == More::no) {
    flush();
  }
}

void MemoryPort::flush() noexcept {
  if (held_.empty()) {
    return;
  }
  counters_.tx_doorbells.add(1);
  while (!held_.empty()) {
    Packet* packet = held_.pop();
    if (left_.full()) {
      drop(packet, Drop::queue_full);
      continue;
    }
    counters_.tx_packets.add(1);
    counters_.tx_bytes.add(packet->length);
    left_.push(packet);
  }
}

}  // namespace ringway::netio
