// TCP header, RFC 9293.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"

namespace ringway::wire {

// The control bits; CWR and ECE are RFC 3168's.
inline constexpr std::uint8_t kTcpFin = 0x01;
inline constexpr std::uint8_t kTcpSyn = 0x02;
inline constexpr std::uint8_t kTcpRst = 0x04;
inline constexpr std::uint8_t kTcpPsh = 0x08;
inline constexpr std::uint8_t kTcpAck = 0x10;
inline constexpr std::uint8_t kTcpUrg = 0x20;
inline constexpr std::uint8_t kTcpEce = 0x40;
inline constexpr std::uint8_t kTcpCwr = 0x80;

// |          Source Port          |       Destination Port        |
// |                        Sequence Number                        |
// |                    Acknowledgment Number                      |
// | Offset| Rsrvd |C|E|U|A|P|R|S|F|            Window             |
// |           Checksum            |         Urgent Pointer        |
// |                           [Options]                           |
struct TcpHeader {
  Be16 source_port;
  Be16 destination_port;
  Be32 sequence;
  Be32 acknowledgment;
  std::uint8_t offset_reserved = 0x50;
  std::uint8_t flags = 0;
  Be16 window;
  Be16 checksum;
  Be16 urgent_pointer;

  // Header and options, in bytes. Below 20 the header is malformed.
  [[nodiscard]] std::uint16_t header_length() const noexcept {
    return static_cast<std::uint16_t>((offset_reserved >> 4) * 4);
  }
};
static_assert(sizeof(TcpHeader) == 20 && Header<TcpHeader>);

inline constexpr std::uint16_t kTcpHeaderBytes = sizeof(TcpHeader);

}  // namespace ringway::wire
