// Telling a merged super-packet from a large packet by the checksum that GRO left unfinished.
#include "router/path/merged.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "netio/packet/packet.h"
#include "netio/packet/parse.h"
#include "netio/wire/checksum.h"
#include "netio/wire/endian.h"
#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"
#include "netio/wire/protocols.h"
#include "netio/wire/tcp.h"

namespace ringway::router {

namespace {

// Finds the TCP header of a whole TCP packet: its offset from the IP header, and the sum of its
// pseudo header.
struct TcpPart {
  std::uint16_t offset = 0;
  wire::Be16 pseudo_header_sum;
};

std::optional<TcpPart> find_tcp(const netio::Packet& packet) noexcept {
  const wire::ConstBytes bytes = packet.bytes();
  wire::ChecksumSum sum;
  if (netio::ip_version(packet) == 4) {
    const auto* ip = wire::header_at<wire::Ipv4Header>(bytes);
    if (ip->protocol != wire::IpProtocol::tcp || ip->is_fragment()) {
      return std::nullopt;
    }
    const std::uint16_t offset = ip->header_length();
    add_pseudo_header(sum, *ip, wire::IpProtocol::tcp, packet.length - offset);
    return TcpPart{.offset = offset, .pseudo_header_sum = sum.folded()};
  }
  const auto* ip = wire::header_at<wire::Ipv6Header>(bytes);
  if (ip->next_header != wire::IpProtocol::tcp) {
    return std::nullopt;  // GRO merges no packet with extension headers we would have to repeat
  }
  add_pseudo_header(sum, *ip, wire::IpProtocol::tcp, packet.length - wire::kIpv6HeaderBytes);
  return TcpPart{.offset = wire::kIpv6HeaderBytes, .pseudo_header_sum = sum.folded()};
}

}  // namespace

void recognise_merged(netio::Packet& packet, std::uint32_t mtu) noexcept {
  if (packet.length <= mtu) {
    return;
  }
  const auto part = find_tcp(packet);
  if (!part) {
    return;
  }
  const auto* tcp = wire::header_at<wire::TcpHeader>(packet.bytes(), part->offset);
  if (tcp == nullptr || tcp->checksum != part->pseudo_header_sum) {
    return;
  }
  const std::uint32_t header_bytes = part->offset + tcp->header_length();
  if (tcp->header_length() < sizeof(wire::TcpHeader) || header_bytes >= mtu ||
      header_bytes >= packet.length) {
    return;
  }
  packet.checksum = netio::ChecksumState::partial;
  packet.checksum_start = static_cast<std::uint16_t>(packet.begin + part->offset);
  packet.checksum_offset = offsetof(wire::TcpHeader, checksum);
  packet.l4 = packet.checksum_start;
  packet.payload = static_cast<std::uint16_t>(packet.begin + header_bytes);
  packet.gso_kind = netio::ip_version(packet) == 4 ? netio::GsoKind::tcp4 : netio::GsoKind::tcp6;
  packet.gso_size = static_cast<std::uint16_t>(mtu - header_bytes);
}

}  // namespace ringway::router
