// ICMPv6 header, RFC 4443. Unlike ICMP's, its checksum covers the pseudo header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"

namespace ringway::wire {

// IANA "ICMPv6 type Numbers": those that a router sends or meets.
enum class Icmpv6Type : std::uint8_t {
  destination_unreachable = 1,
  packet_too_big = 2,
  time_exceeded = 3,
  parameter_problem = 4,
  echo_request = 128,
  echo_reply = 129,
  router_solicitation = 133,
  router_advertisement = 134,
  neighbor_solicitation = 135,
  neighbor_advertisement = 136,
};

// |     Type      |     Code      |           Checksum            |
// |     Body: id and sequence of an echo, MTU of a packet too     |
// |     big, pointer of a problem                                 |
struct Icmpv6Header {
  Icmpv6Type type{};
  std::uint8_t code = 0;
  Be16 checksum;
  Be32 body;
};
static_assert(sizeof(Icmpv6Header) == 8 && Header<Icmpv6Header>);

}  // namespace ringway::wire
