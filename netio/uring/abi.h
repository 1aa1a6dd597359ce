// Numbers of the io_uring ABI that liburing 2.3 (Debian 12) does not know. The kernel froze them.
#pragma once

#include <cstdint>

#include <liburing.h>

namespace ringway::netio {

// IORING_OP_READ_MULTISHOT, Linux 6.7 (include/uapi/linux/io_uring.h). Asked for by probe.
inline constexpr std::uint8_t kOpReadMultishot = 49;

// Multishot RECV came with Linux 6.0 and has no number of its own; SEND_ZC came with it.
inline constexpr std::uint8_t kOpWitnessOfRecvMultishot = IORING_OP_SEND_ZC;

}  // namespace ringway::netio
