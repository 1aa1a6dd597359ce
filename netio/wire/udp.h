// UDP header, RFC 768.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"

namespace ringway::wire {

// |          Source Port          |       Destination Port        |
// |            Length             |           Checksum            |
struct UdpHeader {
  Be16 source_port;
  Be16 destination_port;
  Be16 length;    // header and payload
  Be16 checksum;  // 0: none. A computed 0 is sent as 0xffff.
};
static_assert(sizeof(UdpHeader) == 8 && Header<UdpHeader>);

inline constexpr std::uint16_t kUdpHeaderBytes = sizeof(UdpHeader);

}  // namespace ringway::wire
