// The virtio_net_hdr in front of every packet of a TUN: what it says, and how a Packet says it.
#pragma once

#include <cstdint>

#include "netio/packet/packet.h"

namespace ringway::netio {

// The ten bytes of the legacy struct virtio_net_hdr, in the machine's byte order (TUNSETVNETLE
// off). Our own, since <linux/virtio_net.h> of Debian 12 names a member `class`.
//
// |  flags   | gso_type | header_length | gso_size | checksum_start | checksum_offset |
// 0          1          2               4          6                8                 10
struct VnetHeader {
  std::uint8_t flags = 0;
  std::uint8_t gso_type = 0;
  std::uint16_t header_length = 0;    // link to transport header; a hint only
  std::uint16_t gso_size = 0;         // payload bytes of each segment
  std::uint16_t checksum_start = 0;   // of the transport header, from the start of the packet
  std::uint16_t checksum_offset = 0;  // of the checksum field, from checksum_start

  friend bool operator==(const VnetHeader&, const VnetHeader&) noexcept = default;
};
static_assert(sizeof(VnetHeader) == 10);

inline constexpr std::uint16_t kVnetHeaderBytes = sizeof(VnetHeader);

// VIRTIO_NET_HDR_F_* and VIRTIO_NET_HDR_GSO_* (include/uapi/linux/virtio_net.h).
inline constexpr std::uint8_t kVnetNeedsChecksum = 1;
inline constexpr std::uint8_t kVnetChecksumVerified = 2;
inline constexpr std::uint8_t kVnetGsoNone = 0;
inline constexpr std::uint8_t kVnetGsoTcp4 = 1;
inline constexpr std::uint8_t kVnetGsoTcp6 = 4;
inline constexpr std::uint8_t kVnetGsoUdp = 5;     // USO
inline constexpr std::uint8_t kVnetGsoEcn = 0x80;  // first segment only carries CWR

// Takes a packet as read() leaves it, its header in the first bytes: strips the header and notes
// in the packet what it said. False if the header cannot be true of this packet (too short, unknown
// GSO type, offsets outside); the packet is then of no use.
[[nodiscard]] bool take_vnet_header(Packet& packet) noexcept;

// Puts the header in front that tells the kernel what the packet says of itself.
// Precondition: kVnetHeaderBytes of headroom.
void put_vnet_header(Packet& packet) noexcept;

}  // namespace ringway::netio
