// Packet: the 64-byte descriptor in front of every buffer. READ FIRST of netio/packet.
//
//   slot:  [ Packet 64 ][ headroom ][ bytes of the packet ............ ][ tailroom ]
//                       ^ data area  ^ begin                            ^ begin + length
//
// A packet is always in exactly one place: its pool, a Batch, a Port, or a PacketPtr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "netio/base/assert.h"

namespace ringway::netio {

class BufferPool;

enum class PortId : std::uint16_t {};
enum class TunnelId : std::uint16_t {};
inline constexpr PortId kNoPort{0xffff};
inline constexpr TunnelId kNoTunnel{0xffff};

// How the payload of a super-packet is to be cut (virtio_net_hdr gso_type).
enum class GsoKind : std::uint8_t { none, tcp4, tcp6, udp };

// What is known of the packet's transport checksum.
enum class ChecksumState : std::uint8_t {
  unknown,   // as it came: verify it before relying on it
  verified,  // somebody we trust has verified it
  partial,   // the field holds the pseudo-header sum only; whoever sends it out completes it
};

// Room in front of the packet for headers that are put on later: outer IPv4 20, GRE 16, a vnet
// header 12, Ethernet with two VLAN tags 22, and room to spare. A multiple of the cache line.
inline constexpr std::uint16_t kHeadroom = 128;

struct alignas(64) Packet {
  BufferPool* pool = nullptr;  // where it returns to
  Packet* next = nullptr;      // free list of the pool; later the next payload fragment
  std::uint32_t length = 0;    // bytes of the packet
  std::uint32_t capacity = 0;  // bytes of the data area, headroom included
  std::uint32_t flow_hash = 0;
  std::uint32_t slot = 0;           // index within the pool
  std::uint16_t begin = kHeadroom;  // offset of the first byte within the data area
  // Offsets within the data area, so that putting a header on or off does not move them.
  std::uint16_t l3 = 0;
  std::uint16_t l4 = 0;
  std::uint16_t payload = 0;
  PortId ingress = kNoPort;
  TunnelId tunnel = kNoTunnel;
  std::uint16_t gso_size = 0;         // payload bytes of each segment; 0 for a plain packet
  std::uint16_t checksum_start = 0;   // within the data area; set if checksum is partial
  std::uint16_t checksum_offset = 0;  // of the checksum field, from checksum_start
  GsoKind gso_kind = GsoKind::none;
  ChecksumState checksum = ChecksumState::unknown;
  std::uint8_t outer_tos = 0;  // TOS of the outer header just taken off

  // The bytes of the packet. Valid until the packet moves or changes its length.
  [[nodiscard]] std::span<std::uint8_t> bytes() noexcept { return {area() + begin, length}; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return {area() + begin, length};
  }
  // The data area of the slot, `capacity` bytes.
  [[nodiscard]] std::uint8_t* area() noexcept {
    // NOLINTNEXTLINE: the slot continues behind the descriptor.
    return reinterpret_cast<std::uint8_t*>(this + 1);
  }
  [[nodiscard]] const std::uint8_t* area() const noexcept {
    return reinterpret_cast<const std::uint8_t*>(this + 1);  // NOLINT: as above
  }
  [[nodiscard]] std::uint32_t tailroom() const noexcept { return capacity - begin - length; }

  // Makes room for `count` bytes in front and returns them, uninitialised. Precondition: headroom.
  [[nodiscard]] std::span<std::uint8_t> prepend(std::uint16_t count) noexcept {
    ASSERT(begin >= count);
    begin = static_cast<std::uint16_t>(begin - count);
    length += count;
    return {area() + begin, count};
  }
  // Takes `count` bytes off the front. Precondition: they are there.
  void strip(std::uint16_t count) noexcept {
    ASSERT(length >= count);
    begin = static_cast<std::uint16_t>(begin + count);
    length -= count;
  }
  // Cuts the packet to `count` bytes. Precondition: it has at least as many.
  void trim(std::uint32_t count) noexcept {
    ASSERT(length >= count);
    length = count;
  }
  // Back to an empty packet as the pool hands it out.
  void reset() noexcept {
    next = nullptr;
    length = 0;
    flow_hash = 0;
    begin = kHeadroom;
    l3 = l4 = payload = 0;
    ingress = kNoPort;
    tunnel = kNoTunnel;
    gso_size = checksum_start = checksum_offset = 0;
    gso_kind = GsoKind::none;
    checksum = ChecksumState::unknown;
    outer_tos = 0;
  }
};
static_assert(sizeof(Packet) == 64);

// Gives a packet back to its pool. Only the thread that owns the pool may do so.
void recycle(Packet* packet) noexcept;

struct Recycle {
  void operator()(Packet* packet) const noexcept { recycle(packet); }
};
using PacketPtr = std::unique_ptr<Packet, Recycle>;

}  // namespace ringway::netio
