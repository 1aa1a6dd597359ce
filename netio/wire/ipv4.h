// IPv4 header, RFC 791.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/wire/address.h"
#include "netio/wire/checksum.h"
#include "netio/wire/endian.h"
#include "netio/wire/header.h"
#include "netio/wire/protocols.h"

namespace ringway::wire {

// The two low bits of TOS and traffic class (RFC 3168 section 5).
enum class EcnField : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };
inline constexpr std::uint8_t kEcnMask = 0x03;

[[nodiscard]] constexpr EcnField ecn_of(std::uint8_t tos) noexcept {
  return static_cast<EcnField>(tos & kEcnMask);
}

inline constexpr std::uint32_t kIpPacketBytesMax = 65535;
inline constexpr std::uint16_t kIpv4DontFragment = 0x4000;
inline constexpr std::uint16_t kIpv4MoreFragments = 0x2000;
inline constexpr std::uint16_t kIpv4OffsetMask = 0x1fff;

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |Version|  IHL  |Type of Service|          Total Length         |
// |         Identification        |Flags|      Fragment Offset    |
// |  Time to Live |    Protocol   |         Header Checksum       |
// |                       Source Address                          |
// |                    Destination Address                        |
struct Ipv4Header {
  std::uint8_t version_ihl = 0x45;
  std::uint8_t tos = 0;
  Be16 total_length;
  Be16 identification;
  Be16 flags_offset;
  std::uint8_t ttl = 0;
  IpProtocol protocol{};
  Be16 checksum;
  Ipv4Address source;
  Ipv4Address destination;

  [[nodiscard]] std::uint8_t version() const noexcept { return version_ihl >> 4; }
  [[nodiscard]] std::uint16_t header_length() const noexcept {
    return static_cast<std::uint16_t>((version_ihl & 0x0f) * 4);
  }
  [[nodiscard]] bool dont_fragment() const noexcept {
    return (flags_offset.value() & kIpv4DontFragment) != 0;
  }
  // A piece of a larger datagram, the first one included.
  [[nodiscard]] bool is_fragment() const noexcept {
    return (flags_offset.value() & (kIpv4MoreFragments | kIpv4OffsetMask)) != 0;
  }
  [[nodiscard]] bool is_later_fragment() const noexcept {
    return (flags_offset.value() & kIpv4OffsetMask) != 0;
  }

  // Both keep the header checksum right without reading the rest of the header (RFC 1624).
  void set_tos(std::uint8_t value) noexcept {
    const auto first = static_cast<std::uint16_t>(version_ihl << 8);
    checksum = updated_checksum(checksum, static_cast<std::uint16_t>(first | tos),
                                static_cast<std::uint16_t>(first | value));
    tos = value;
  }
  // Precondition: ttl > 0.
  void decrement_ttl() noexcept {
    const auto low = static_cast<std::uint16_t>(protocol);
    checksum = updated_checksum(checksum, static_cast<std::uint16_t>(ttl << 8 | low),
                                static_cast<std::uint16_t>((ttl - 1) << 8 | low));
    --ttl;
  }
};
static_assert(sizeof(Ipv4Header) == 20 && Header<Ipv4Header>);

inline constexpr std::uint16_t kIpv4HeaderBytes = sizeof(Ipv4Header);

// The pseudo header of TCP and UDP over IPv4 (RFC 9293 section 3.1), added to a sum.
inline void add_pseudo_header(ChecksumSum& sum, const Ipv4Header& ip, IpProtocol protocol,
                              std::uint32_t l4_bytes) noexcept {
  sum.add(bytes_of(ip.source));
  sum.add(bytes_of(ip.destination));
  sum.add_u16(static_cast<std::uint16_t>(protocol));
  sum.add_u16(static_cast<std::uint16_t>(l4_bytes >> 16));
  sum.add_u16(static_cast<std::uint16_t>(l4_bytes));
}

}  // namespace ringway::wire
