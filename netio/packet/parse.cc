// The checks every IP packet passes before anybody believes a field of it.
#include "netio/packet/parse.h"

#include <cstdint>
#include <optional>

#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/wire/checksum.h"
#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"

namespace ringway::netio {

namespace {

std::optional<Drop> parse_ipv4(Packet& packet) noexcept {
  const auto* ip = wire::header_at<wire::Ipv4Header>(packet.bytes());
  if (ip == nullptr) {
    return Drop::truncated;
  }
  const std::uint16_t header_length = ip->header_length();
  const std::uint16_t total_length = ip->total_length;
  if (header_length < wire::kIpv4HeaderBytes || total_length < header_length) {
    return Drop::bad_header_length;
  }
  if (total_length > packet.length) {
    return Drop::truncated;
  }
  if (wire::internet_checksum(packet.bytes().first(header_length)).value() != 0) {
    return Drop::bad_header_checksum;
  }
  packet.trim(total_length);
  packet.l3 = packet.begin;
  packet.l4 = static_cast<std::uint16_t>(packet.begin + header_length);
  return std::nullopt;
}

std::optional<Drop> parse_ipv6(Packet& packet) noexcept {
  const auto* ip = wire::header_at<wire::Ipv6Header>(packet.bytes());
  if (ip == nullptr) {
    return Drop::truncated;
  }
  const std::uint32_t total_length = wire::kIpv6HeaderBytes + ip->payload_length.value();
  if (total_length > packet.length) {
    return Drop::truncated;
  }
  packet.trim(total_length);
  packet.l3 = packet.begin;
  packet.l4 = static_cast<std::uint16_t>(packet.begin + wire::kIpv6HeaderBytes);
  return std::nullopt;
}

}  // namespace

std::optional<Drop> parse_ip(Packet& packet) noexcept {
  if (packet.length == 0) {
    return Drop::truncated;
  }
  switch (ip_version(packet)) {
    case 4:
      return parse_ipv4(packet);
    case 6:
      return parse_ipv6(packet);
    default:
      return Drop::not_ip;
  }
}

}  // namespace ringway::netio
