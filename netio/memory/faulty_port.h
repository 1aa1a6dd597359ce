// FaultyPort: puts a bad wire in front of a port, the same bad wire again for the same seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

#include "netio/memory/memory_port.h"
#include "netio/packet/batch.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/port.h"

namespace ringway::netio {

// How often each fault happens, in packets of a thousand.
struct Faults {
  std::uint32_t lose = 0;       // arrives never
  std::uint32_t duplicate = 0;  // arrives twice, if the pool and the batch have room
  std::uint32_t reorder = 0;    // arrives after its successor
  std::uint32_t corrupt = 0;    // arrives with one bit flipped
  std::uint32_t refuse = 0;     // is not taken for sending: dropped as queue_full
};

// What happened so far. At any quiet moment, with `inner` the wrapped port:
//   inner rx_packets + duplicated = rx_packets + lost + held()
//   packets transmit() took       = tx_packets + drops, `refused` of them queue_full
struct FaultCounts {
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t refused = 0;
};

// The faults of a wire are those of receiving; wrap the port at the other end to have them in both
// directions. `inner` outlives this port and is used through it only.
class FaultyPort final : public Port {
 public:
  FaultyPort(Port& inner, const Faults& faults, std::uint64_t seed);

  [[nodiscard]] std::size_t receive(Batch& batch) noexcept override;
  void transmit(Batch& batch, More more) noexcept override;
  void flush() noexcept override;

  [[nodiscard]] const FaultCounts& faults() const noexcept { return counts_; }
  // Packets received from `inner` and not yet handed on: there was no room, or one of them waits
  // for a successor to overtake it.
  [[nodiscard]] std::size_t held() const noexcept {
    return arrived_.size() + (overtaken_ == nullptr ? 0 : 1);
  }

 private:
  // What the inner port had counted when we last looked.
  struct Seen {
    std::uint64_t tx_packets = 0;
    std::uint64_t tx_bytes = 0;
    std::uint64_t tx_doorbells = 0;
    std::uint64_t rx_doorbells = 0;
    std::uint64_t rx_faults = 0;
    std::array<std::uint64_t, kDropCount> drops{};
  };

  [[nodiscard]] bool happens(std::uint32_t per_thousand) noexcept;
  [[nodiscard]] bool fetch() noexcept;
  void arrive(PacketPtr packet, Batch& batch) noexcept;
  void deliver(PacketPtr packet, Batch& batch) noexcept;
  void follow_inner() noexcept;

  Port& inner_;
  Faults faults_;
  FaultCounts counts_;
  Seen seen_;
  std::mt19937_64 random_;
  PacketQueue arrived_{kBatchCapacity};
  PacketPtr overtaken_;
};

}  // namespace ringway::netio
