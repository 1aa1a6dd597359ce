// The two number spaces that must never be confused: EtherTypes and IP protocol numbers.
#pragma once

#include <cstdint>

#include "netio/wire/endian.h"

namespace ringway::wire {

// IEEE 802 numbers; also GRE's protocol types (RFC 2784 section 2.4).
enum class EtherType : std::uint16_t {
  gre_keepalive = 0x0000,  // Cisco keepalive: a GRE header without payload
  ipv4 = 0x0800,
  arp = 0x0806,
  transparent_ethernet = 0x6558,
  vlan = 0x8100,
  wccp = 0x883e,
  ipv6 = 0x86dd,
  mpls = 0x8847,
};

// IANA "Assigned Internet Protocol Numbers".
enum class IpProtocol : std::uint8_t {
  hop_by_hop = 0,
  icmp = 1,
  ipip = 4,
  tcp = 6,
  udp = 17,
  ipv6 = 41,  // 6in4, SIT
  routing = 43,
  fragment = 44,
  gre = 47,
  authentication = 51,
  icmpv6 = 58,
  no_next_header = 59,
  destination_options = 60,
  mobility = 135,
};

using BeEtherType = BigEndian<EtherType>;

}  // namespace ringway::wire
