// Between Packet's words and the kernel's: offsets here are within the data area, there from the
// packet's first byte.
#include "netio/device/vnet_header.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ringway::netio {

namespace {

std::optional<GsoKind> gso_kind_of(std::uint8_t gso_type) noexcept {
  switch (gso_type & ~kVnetGsoEcn) {
    case kVnetGsoNone:
      return GsoKind::none;
    case kVnetGsoTcp4:
      return GsoKind::tcp4;
    case kVnetGsoTcp6:
      return GsoKind::tcp6;
    case kVnetGsoUdp:
      return GsoKind::udp;
    default:
      return std::nullopt;  // UFO, tunnel types: never asked for by TUNSETOFFLOAD
  }
}

std::uint8_t gso_type_of(GsoKind kind) noexcept {
  switch (kind) {
    case GsoKind::none:
      return kVnetGsoNone;
    case GsoKind::tcp4:
      return kVnetGsoTcp4;
    case GsoKind::tcp6:
      return kVnetGsoTcp6;
    case GsoKind::udp:
      return kVnetGsoUdp;
  }
  return kVnetGsoNone;
}

// Header length, and whether the sender reduced its congestion window, of a packet whose transport
// header starts at `l4`. A header that is not there adds nothing.
void describe_gso(std::span<const std::uint8_t> packet, std::size_t l4, GsoKind kind,
                  VnetHeader& header) noexcept {
  constexpr std::size_t kUdpHeaderBytes = 8;
  constexpr std::size_t kTcpHeaderBytes = 20;
  constexpr std::size_t kTcpDataOffset = 12;
  constexpr std::size_t kTcpFlags = 13;
  constexpr std::uint8_t kCongestionWindowReduced = 0x80;
  if (kind == GsoKind::udp) {
    header.header_length = static_cast<std::uint16_t>(l4 + kUdpHeaderBytes);
    return;
  }
  if (l4 + kTcpHeaderBytes > packet.size()) {
    return;
  }
  const std::size_t tcp_bytes = std::size_t{packet[l4 + kTcpDataOffset]} / 16 * 4;
  header.header_length = static_cast<std::uint16_t>(l4 + tcp_bytes);
  // Without the bit the kernel would repeat CWR in every segment (net/ipv4/tcp_offload.c).
  if ((packet[l4 + kTcpFlags] & kCongestionWindowReduced) != 0) {
    header.gso_type |= kVnetGsoEcn;
  }
}

}  // namespace

bool take_vnet_header(Packet& packet) noexcept {
  VnetHeader header;
  if (packet.length <= kVnetHeaderBytes) {
    return false;
  }
  std::memcpy(&header, packet.bytes().data(), sizeof header);
  packet.strip(kVnetHeaderBytes);

  const std::optional<GsoKind> kind = gso_kind_of(header.gso_type);
  if (!kind || (*kind != GsoKind::none && header.gso_size == 0)) {
    return false;
  }
  packet.gso_kind = *kind;
  packet.gso_size = *kind == GsoKind::none ? std::uint16_t{0} : header.gso_size;
  if ((header.flags & kVnetNeedsChecksum) != 0) {
    constexpr std::uint32_t kChecksumBytes = 2;
    const std::uint32_t field = std::uint32_t{header.checksum_start} + header.checksum_offset;
    if (field + kChecksumBytes > packet.length) {
      return false;
    }
    packet.checksum = ChecksumState::partial;
    packet.checksum_start = static_cast<std::uint16_t>(packet.begin + header.checksum_start);
    packet.checksum_offset = header.checksum_offset;
  } else if ((header.flags & kVnetChecksumVerified) != 0) {
    packet.checksum = ChecksumState::verified;
  }
  return true;
}

void put_vnet_header(Packet& packet) noexcept {
  VnetHeader header;
  if (packet.checksum == ChecksumState::partial) {
    // An offset that lies outside is refused by the kernel (EINVAL) and counted as write_failed.
    header.flags = kVnetNeedsChecksum;
    header.checksum_start = static_cast<std::uint16_t>(packet.checksum_start - packet.begin);
    header.checksum_offset = packet.checksum_offset;
  }
  if (packet.gso_kind != GsoKind::none) {
    header.gso_type = gso_type_of(packet.gso_kind);
    header.gso_size = packet.gso_size;
    if (packet.checksum == ChecksumState::partial) {
      describe_gso(packet.bytes(), header.checksum_start, packet.gso_kind, header);
    }
  }
  std::memcpy(packet.prepend(kVnetHeaderBytes).data(), &header, sizeof header);
}

}  // namespace ringway::netio
