// IPv6 header and its extension headers, RFC 8200.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/wire/address.h"
#include "netio/wire/checksum.h"
#include "netio/wire/endian.h"
#include "netio/wire/header.h"
#include "netio/wire/protocols.h"

namespace ringway::wire {

// |Version| Traffic Class |              Flow Label               |
// |         Payload Length        |  Next Header  |   Hop Limit   |
// |                        Source Address  (16)                   |
// |                     Destination Address (16)                  |
struct Ipv6Header {
  Be32 version_class_label{0x60000000};
  Be16 payload_length;
  IpProtocol next_header{};
  std::uint8_t hop_limit = 0;
  Ipv6Address source;
  Ipv6Address destination;

  [[nodiscard]] std::uint8_t version() const noexcept {
    return static_cast<std::uint8_t>(version_class_label.value() >> 28);
  }
  [[nodiscard]] std::uint8_t traffic_class() const noexcept {
    return static_cast<std::uint8_t>(version_class_label.value() >> 20);
  }
  [[nodiscard]] std::uint32_t flow_label() const noexcept {
    return version_class_label.value() & 0xfffff;
  }
  void set_traffic_class(std::uint8_t value) noexcept {
    version_class_label =
        Be32{(version_class_label.value() & 0xf00fffff) | static_cast<std::uint32_t>(value) << 20};
  }
};
static_assert(sizeof(Ipv6Header) == 40 && Header<Ipv6Header>);

inline constexpr std::uint16_t kIpv6HeaderBytes = sizeof(Ipv6Header);

// Hop-by-hop, routing, destination options, mobility: the length counts 8-byte units after the
// first. The authentication header counts 4-byte units less 2 (RFC 4302 section 2.2).
struct Ipv6ExtensionHeader {
  IpProtocol next_header{};
  std::uint8_t length = 0;
};
static_assert(sizeof(Ipv6ExtensionHeader) == 2 && Header<Ipv6ExtensionHeader>);

inline constexpr std::uint16_t kIpv6MoreFragments = 0x0001;
inline constexpr std::uint16_t kIpv6OffsetMask = 0xfff8;

struct Ipv6FragmentHeader {
  IpProtocol next_header{};
  std::uint8_t reserved = 0;
  Be16 offset_more;
  Be32 identification;
};
static_assert(sizeof(Ipv6FragmentHeader) == 8 && Header<Ipv6FragmentHeader>);

// Headers in a chain that no honest packet exceeds; the walk is bounded by it.
inline constexpr int kIpv6ExtensionHeadersMax = 8;

// Where the chain of extension headers of a packet ends.
struct Ipv6UpperLayer {
  IpProtocol protocol = IpProtocol::no_next_header;
  std::uint16_t offset = 0;        // of the upper-layer header, from the IPv6 header
  bool is_fragment = false;        // a fragment header is present, atomic or not
  bool is_later_fragment = false;  // what follows is the middle of a payload: no header there
  // False if the chain is cut or too long: protocol and offset then name the header where the walk
  // stopped. What no walk can look into (ESP) is an upper layer like any other.
  bool complete = false;
};

// Walks the extension headers of the packet that starts with an IPv6 header at bytes[0].
// Precondition: that header is there.
[[nodiscard]] Ipv6UpperLayer find_upper_layer(ConstBytes packet) noexcept;

// The pseudo header of RFC 8200 section 8.1, added to a sum.
inline void add_pseudo_header(ChecksumSum& sum, const Ipv6Header& ip, IpProtocol protocol,
                              std::uint32_t l4_bytes) noexcept {
  sum.add(bytes_of(ip.source));
  sum.add(bytes_of(ip.destination));
  sum.add_u16(static_cast<std::uint16_t>(l4_bytes >> 16));
  sum.add_u16(static_cast<std::uint16_t>(l4_bytes));
  sum.add_u16(static_cast<std::uint16_t>(protocol));
}

}  // namespace ringway::wire
