// Numbers of the wire as words, for people. Allocates: not for the packet path.
#pragma once

#include <cstdint>
#include <string>

#include "netio/wire/ethernet.h"
#include "netio/wire/header.h"
#include "netio/wire/icmp.h"
#include "netio/wire/icmpv6.h"
#include "netio/wire/protocols.h"

namespace ringway::wire {

// "0x" and as many hexadecimal digits as asked for.
[[nodiscard]] std::string hex(std::uint64_t value, int digits);
// Two hexadecimal digits for each byte.
[[nodiscard]] std::string hex(ConstBytes bytes);

// Names without blanks; a number that has none is given as a number.
[[nodiscard]] std::string to_string(const MacAddress& address);
[[nodiscard]] std::string to_string(EtherType type);
[[nodiscard]] std::string to_string(IpProtocol protocol);
[[nodiscard]] std::string to_string(IcmpType type);
[[nodiscard]] std::string to_string(Icmpv6Type type);
// "SYN,ACK"; "none" without flags.
[[nodiscard]] std::string tcp_flags_to_string(std::uint8_t flags);

}  // namespace ringway::wire
