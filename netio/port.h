// Port: where packets come from and go to. The contract that both engines and all test ports keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "netio/base/clock.h"
#include "netio/packet/batch.h"
#include "netio/packet/counters.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"

namespace ringway::netio {

// "More is coming": the caller will transmit again, or flush, before it waits.
enum class More : bool { no, yes };

struct PortInfo {
  std::string name;              // "paris" for a TUN, "raw:gre" for a raw socket
  std::uint32_t mtu = 0;         // largest packet it takes; 0 if the kernel decides per packet
  const char* receive_by = "";   // how packets are read, for status: "read_multishot", "recvmmsg"
  const char* transmit_by = "";  // how they are written: "write", "sendmmsg"
};

// One writer (the shard), any number of readers. At any quiet moment:
// packets transmit() took = tx_packets + drops.
struct PortCounters {
  Counter rx_packets;
  Counter rx_bytes;
  Counter tx_packets;
  Counter tx_bytes;
  Counter rx_doorbells;  // system calls (or ring submissions) that fetched packets
  Counter tx_doorbells;  // system calls (or ring submissions) that sent packets
  Counter rx_faults;     // failed reads; the port heals or stays silent
  DropCounters drops;
};

// All calls on the shard's thread, and none of them blocks.
class Port {
 public:
  Port(PortId id, PortInfo info) : id_{id}, info_{std::move(info)} {}
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual ~Port() = default;

  // Appends packets that have arrived, at most batch.room(); each has `ingress` set to id() and
  // its bytes start at the IP header (layer-3 ports). Returns how many. Fewer than there was room
  // for means: nothing more until the reactor has waited again.
  [[nodiscard]] virtual std::size_t receive(Batch& batch) noexcept = 0;

  // Takes every packet of the batch, in order, and leaves it empty. A packet that cannot be sent is
  // recycled and counted in counters().drops under one reason. With More::yes the port may hold
  // packets back until the next call; with More::no they are on their way when the reactor next
  // waits, at the latest.
  virtual void transmit(Batch& batch, More more) noexcept = 0;

  // Sends what More::yes held back. Costs nothing when there is nothing.
  virtual void flush() noexcept = 0;

  [[nodiscard]] PortId id() const noexcept { return id_; }
  [[nodiscard]] const PortInfo& info() const noexcept { return info_; }
  [[nodiscard]] PortCounters& counters() noexcept { return counters_; }
  [[nodiscard]] const PortCounters& counters() const noexcept { return counters_; }

 protected:
  // Ends a packet that could not leave.
  void drop(Packet* packet, Drop reason) noexcept {
    counters_.drops.count(reason);
    recycle(packet);
  }

  PortId id_;
  PortInfo info_;
  PortCounters counters_;
};

}  // namespace ringway::netio
