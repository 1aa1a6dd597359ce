// Comparing packets so that a failure reads as two described packets and the first field that
// differs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <doctest/doctest.h>

namespace ringway::test {

// Empty if both are equal, else what check_same_packet prints.
[[nodiscard]] std::string difference(std::span<const std::uint8_t> got,
                                     std::span<const std::uint8_t> want);

// A doctest CHECK, reported at the caller's line (not std::source_location: Clang 14 lacks it).
// True if both are equal.
inline bool check_same_packet(std::span<const std::uint8_t> got, std::span<const std::uint8_t> want,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const std::string text = difference(got, want);
  if (!text.empty()) {
    ADD_FAIL_CHECK_AT(file, line, text);
  }
  return text.empty();
}

}  // namespace ringway::test
