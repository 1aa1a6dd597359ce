// parse_ip: the one place where the lengths of an IP packet are checked. Later code relies on it.
#pragma once

#include <optional>

#include "netio/packet/drop.h"
#include "netio/packet/packet.h"

namespace ringway::netio {

// Version of the packet that starts at `begin`: its first nibble. Precondition: not empty.
[[nodiscard]] inline std::uint8_t ip_version(const Packet& packet) noexcept {
  return packet.bytes()[0] >> 4;
}

// Reads the IP header at the packet's begin: sets l3, and l4 to what follows the header (IPv6: the
// first extension header, if any), and cuts the packet to the length that its header states. Or
// says what is wrong with it: not_ip, truncated, bad_header_length or bad_header_checksum
// (RFC 1812 section 5.2.2, RFC 8200 section 3; Linux ip_input.c ip_rcv_core, ip6_input.c).
//
// Afterwards the whole header lies within the packet, and header and packet agree on its length.
[[nodiscard]] std::optional<Drop> parse_ip(Packet& packet) noexcept;

}  // namespace ringway::netio
