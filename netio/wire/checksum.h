// The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
#pragma once

#include <cstdint>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"

namespace ringway::wire {

// A ones' complement sum that is still being added up. Its bytes stand in memory order, as if the
// data were native 16-bit words: byte order cancels out (RFC 1071 section 2B).
class ChecksumSum {
 public:
  constexpr ChecksumSum() noexcept = default;

  // Adds `bytes`. Only the last piece added may have an odd length; it is padded with a zero.
  void add(ConstBytes bytes) noexcept;
  // Adds one 16-bit number given in host order.
  void add_u16(std::uint16_t value) noexcept;

  // The sum folded to 16 bits and not inverted, as it would stand in the packet: what a partial
  // checksum field holds.
  [[nodiscard]] Be16 folded() const noexcept;
  // The checksum field: the folded sum inverted. Over data that include a right checksum field this
  // is 0.
  [[nodiscard]] Be16 checksum() const noexcept;

 private:
  std::uint64_t sum_ = 0;
};

// checksum() of one piece.
[[nodiscard]] Be16 internet_checksum(ConstBytes bytes) noexcept;

// The checksum after one 16-bit word it covers changed from `before` to `after`: RFC 1624
// equation 3, HC' = ~(~HC + ~m + m'), which never turns 0x0000 into 0xffff.
[[nodiscard]] constexpr Be16 updated_checksum(Be16 checksum, std::uint16_t before,
                                              std::uint16_t after) noexcept {
  std::uint32_t sum = static_cast<std::uint16_t>(~checksum.value());
  sum += static_cast<std::uint16_t>(~before);
  sum += after;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return Be16{static_cast<std::uint16_t>(~sum)};
}

}  // namespace ringway::wire
