// Packets as text, for tests, traces and log lines. Allocates: not for the packet path.
#pragma once

#include <string>

#include "netio/wire/header.h"

namespace ringway::wire {

// One line, notes in brackets and "|" in front of every further IP header:
// "10.0.0.1 > 10.0.0.2 gre key 7 | 192.168.1.1 > 192.168.2.1 udp 1000 > 2000 len 200".
[[nodiscard]] std::string describe(ConstBytes packet);

// One line for each layer with all its fields. Ends with a newline.
[[nodiscard]] std::string describe_lines(ConstBytes packet);

}  // namespace ringway::wire
