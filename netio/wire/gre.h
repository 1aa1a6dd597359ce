// GRE header: RFC 2784 with the key and sequence number of RFC 2890.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"
#include "netio/wire/protocols.h"

namespace ringway::wire {

// Bits of the first 16 (RFC 1701's names; RFC 2784 section 2.3 says which a receiver must refuse).
inline constexpr std::uint16_t kGreChecksum = 0x8000;
inline constexpr std::uint16_t kGreRouting = 0x4000;
inline constexpr std::uint16_t kGreKey = 0x2000;
inline constexpr std::uint16_t kGreSequence = 0x1000;
inline constexpr std::uint16_t kGreStrictSource = 0x0800;
inline constexpr std::uint16_t kGreRecursionHigh = 0x0400;
inline constexpr std::uint16_t kGreVersionMask = 0x0007;

// |C|R|K|S|s|Recur|A| Flags | Ver |         Protocol Type         |
// |      Checksum (if C)          |       Reserved1 (if C)        |
// |                         Key (if K)                            |
// |                    Sequence Number (if S)                     |
struct GreBaseHeader {
  Be16 flags;
  BeEtherType protocol;
};
static_assert(sizeof(GreBaseHeader) == 4 && Header<GreBaseHeader>);

inline constexpr std::uint16_t kGreHeaderBytesMax = 16;

// Length of a header with these flags (routing excluded), 4..16.
[[nodiscard]] constexpr std::uint16_t gre_header_bytes(std::uint16_t flags) noexcept {
  return static_cast<std::uint16_t>(4 + ((flags & kGreChecksum) != 0 ? 4 : 0) +
                                    ((flags & kGreKey) != 0 ? 4 : 0) +
                                    ((flags & kGreSequence) != 0 ? 4 : 0));
}

enum class GreError : std::uint8_t { none, truncated, bad_version, bad_flags };

// A GRE header read: key and sequence are meaningful only with their flag.
struct GreView {
  GreError error = GreError::none;
  std::uint16_t flags = 0;
  EtherType protocol{};
  std::uint16_t header_bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t sequence = 0;

  [[nodiscard]] bool has_checksum() const noexcept { return (flags & kGreChecksum) != 0; }
  [[nodiscard]] bool has_key() const noexcept { return (flags & kGreKey) != 0; }
  [[nodiscard]] bool has_sequence() const noexcept { return (flags & kGreSequence) != 0; }
};

// Reads the GRE header at bytes[0]. Accepts a bare 4-byte header (keepalives have no payload), but
// nothing with routing, strict source route or high recursion bits, nor a version other than 0.
[[nodiscard]] GreView read_gre(ConstBytes bytes) noexcept;

}  // namespace ringway::wire
