// MemoryPort: a port whose other side is a test or a simulated wire, not a kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "netio/packet/batch.h"
#include "netio/packet/packet.h"
#include "netio/port.h"

namespace ringway::netio {

// Packets waiting in order, owned; room for a fixed number, allocated once.
class PacketQueue {
 public:
  explicit PacketQueue(std::size_t capacity) : ring_(capacity) {}
  PacketQueue(const PacketQueue&) = delete;
  PacketQueue& operator=(const PacketQueue&) = delete;
  ~PacketQueue();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == ring_.size(); }
  // Precondition: !full().
  void push(Packet* packet) noexcept;
  // Precondition: !empty().
  [[nodiscard]] Packet* pop() noexcept;

 private:
  std::vector<Packet*> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

// Allocates nothing after its construction, so that tests can count the path's allocations with
// the port in place. All packets it still owns go back to their pools with it.
class MemoryPort final : public Port {
 public:
  static constexpr std::size_t kQueueCapacity = 1024;

  // `capacity` packets may wait on either side; transmitting more drops them as queue_full. A
  // packet longer than info.mtu (unless 0) is dropped as too_big.
  MemoryPort(PortId id, PortInfo info, std::size_t capacity = kQueueCapacity);

  [[nodiscard]] std::size_t receive(Batch& batch) noexcept override;
  void transmit(Batch& batch, More more) noexcept override;
  void flush() noexcept override;

  // The other side of the wire: the packet arrives, and receive() will return it.
  // Precondition: fewer than `capacity` are waiting.
  void inject(PacketPtr packet) noexcept;
  // The oldest packet that has left, or null. What More::yes holds back has not left.
  [[nodiscard]] PacketPtr take_transmitted() noexcept;

  [[nodiscard]] std::size_t waiting() const noexcept { return arrived_.size(); }
  [[nodiscard]] std::size_t transmitted() const noexcept { return left_.size(); }
  [[nodiscard]] std::size_t held_back() const noexcept { return held_.size(); }

 private:
  PacketQueue arrived_;  // injected, not yet received
  PacketQueue held_;     // transmitted with More::yes
  PacketQueue left_;     // on the wire, not yet taken
};

}  // namespace ringway::netio
