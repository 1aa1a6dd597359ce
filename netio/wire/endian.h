// Big-endian integers as they lie in a packet: no alignment, no htons, no forgotten byte swap.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace ringway::wire {

namespace detail {

template <class T, bool = std::is_enum_v<T>>
struct Underlying {
  using Type = std::underlying_type_t<T>;
};
template <class T>
struct Underlying<T, false> {
  using Type = T;
};

template <class U>
[[nodiscard]] constexpr U to_big_endian(U value) noexcept {
  if constexpr (std::endian::native == std::endian::big || sizeof(U) == 1) {
    return value;
  } else if constexpr (sizeof(U) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(U) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

}  // namespace detail

// T (an unsigned integer, or an enum over one) in network byte order. bit_cast and one swap become
// a single load and bswap on GCC 12; a loop of shifts would stay a loop.
template <class T>
class BigEndian {
  using U = typename detail::Underlying<T>::Type;
  static_assert(std::is_unsigned_v<U>);

 public:
  constexpr BigEndian() noexcept = default;
  constexpr BigEndian(T value) noexcept  // NOLINT: a field is assigned like an integer
      : bytes_{std::bit_cast<std::array<std::uint8_t, sizeof(U)>>(
            detail::to_big_endian(static_cast<U>(value)))} {}

  constexpr operator T() const noexcept { return value(); }  // NOLINT: and read like one
  [[nodiscard]] constexpr T value() const noexcept {
    return static_cast<T>(detail::to_big_endian(std::bit_cast<U>(bytes_)));
  }
  friend constexpr bool operator==(const BigEndian&, const BigEndian&) noexcept = default;

 private:
  std::array<std::uint8_t, sizeof(U)> bytes_{};
};

using Be16 = BigEndian<std::uint16_t>;
using Be32 = BigEndian<std::uint32_t>;
using Be64 = BigEndian<std::uint64_t>;

static_assert(sizeof(Be16) == 2 && alignof(Be16) == 1);
static_assert(sizeof(Be32) == 4 && alignof(Be32) == 1);
static_assert(sizeof(Be64) == 8 && alignof(Be64) == 1);
static_assert(Be16{0x1234}.value() == 0x1234);

}  // namespace ringway::wire
