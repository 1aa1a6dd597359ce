// Every packet passes the dice in a fixed order, so that a seed means the same run.
#include "netio/memory/faulty_port.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/counters.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/port.h"

namespace ringway::netio {

namespace {

// A second packet of the same content, or null if the pool is empty.
PacketPtr copy_of(const Packet& packet) noexcept {
  PacketPtr copy = packet.pool->allocate();
  if (copy == nullptr) {
    return copy;
  }
  const std::uint32_t slot = copy->slot;
  *copy = packet;
  copy->slot = slot;
  std::memcpy(copy->area() + copy->begin, packet.area() + packet.begin, packet.length);
  return copy;
}

void follow(Counter& ours, const Counter& theirs, std::uint64_t& seen) noexcept {
  const std::uint64_t value = theirs.value();
  ours.add(value - std::exchange(seen, value));
}

}  // namespace

FaultyPort::FaultyPort(Port& inner, const Faults& faults, std::uint64_t seed)
    : Port{inner.id(), inner.info()}, inner_{inner}, faults_{faults}, random_{seed} {}

std::size_t FaultyPort::receive(Batch& batch) noexcept {
  const std::size_t before = batch.size();
  bool may_have_more = true;
  while (!batch.full() && (!arrived_.empty() || may_have_more)) {
    if (arrived_.empty()) {
      may_have_more = fetch();
    } else {
      arrive(PacketPtr{arrived_.pop()}, batch);
    }
  }
  // Nobody came to overtake it.
  if (overtaken_ != nullptr && batch.size() == before && !batch.full()) {
    deliver(std::move(overtaken_), batch);
  }
  follow_inner();
  return batch.size() - before;
}

// Receives into arrived_, which is empty. True if the inner port may have more.
bool FaultyPort::fetch() noexcept {
  Batch batch;
  const std::size_t count = inner_.receive(batch);
  for (Packet* packet : batch.packets()) {
    arrived_.push(packet);
  }
  batch.release_all();
  return count == kBatchCapacity;
}

void FaultyPort::arrive(PacketPtr packet, Batch& batch) noexcept {
  if (happens(faults_.lose)) {
    ++counts_.lost;
    return;
  }
  if (happens(faults_.corrupt) && packet->length > 0) {
    const std::uint64_t bit = random_() % (std::uint64_t{packet->length} * 8);
    packet->bytes()[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    ++counts_.corrupted;
  }
  if (happens(faults_.reorder) && overtaken_ == nullptr) {
    overtaken_ = std::move(packet);
    return;
  }
  PacketPtr second = happens(faults_.duplicate) ? copy_of(*packet) : nullptr;
  deliver(std::move(packet), batch);
  if (second != nullptr && !batch.full()) {
    deliver(std::move(second), batch);
    ++counts_.duplicated;
  }
  if (overtaken_ != nullptr && !batch.full()) {
    deliver(std::move(overtaken_), batch);
    ++counts_.reordered;
  }
}

void FaultyPort::deliver(PacketPtr packet, Batch& batch) noexcept {
  counters_.rx_packets.add(1);
  counters_.rx_bytes.add(packet->length);
  batch.push(std::move(packet));
}

void FaultyPort::transmit(Batch& batch, More more) noexcept {
  Batch taken;
  for (Packet* packet : batch.packets()) {
    if (happens(faults_.refuse)) {
      drop(packet, Drop::queue_full);
      ++counts_.refused;
    } else {
      taken.push(packet);
    }
  }
  batch.release_all();
  inner_.transmit(taken, more);
  follow_inner();
}

void FaultyPort::flush() noexcept {
  inner_.flush();
  follow_inner();
}

bool FaultyPort::happens(std::uint32_t per_thousand) noexcept {
  return random_() % 1000 < per_thousand;
}

// What the inner port dropped or sent is ours too; what it received is counted when we hand it on.
void FaultyPort::follow_inner() noexcept {
  const PortCounters& inner = inner_.counters();
  follow(counters_.tx_packets, inner.tx_packets, seen_.tx_packets);
  follow(counters_.tx_bytes, inner.tx_bytes, seen_.tx_bytes);
  follow(counters_.tx_doorbells, inner.tx_doorbells, seen_.tx_doorbells);
  follow(counters_.rx_doorbells, inner.rx_doorbells, seen_.rx_doorbells);
  follow(counters_.rx_faults, inner.rx_faults, seen_.rx_faults);
  for (std::size_t i = 0; i < kDropCount; ++i) {
    const auto reason = static_cast<Drop>(i);
    for (; seen_.drops[i] < inner.drops.value(reason); ++seen_.drops[i]) {
      counters_.drops.count(reason);
    }
  }
}

}  // namespace ringway::netio
