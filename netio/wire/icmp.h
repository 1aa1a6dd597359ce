// ICMP header, RFC 792.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"

namespace ringway::wire {

// IANA "ICMP Type Numbers": those that a router sends or meets.
enum class IcmpType : std::uint8_t {
  echo_reply = 0,
  destination_unreachable = 3,
  redirect = 5,
  echo_request = 8,
  time_exceeded = 11,
  parameter_problem = 12,
};

// Code of destination_unreachable; `rest` then ends with the next-hop MTU (RFC 1191 section 4).
inline constexpr std::uint8_t kIcmpFragmentationNeeded = 4;

// |     Type      |     Code      |           Checksum            |
// |     Rest of header: id and sequence of an echo, unused and    |
// |     next-hop MTU of an unreachable, pointer of a problem      |
struct IcmpHeader {
  IcmpType type{};
  std::uint8_t code = 0;
  Be16 checksum;
  Be32 rest;
};
static_assert(sizeof(IcmpHeader) == 8 && Header<IcmpHeader>);

}  // namespace ringway::wire
