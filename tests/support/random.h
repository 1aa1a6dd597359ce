// Randomness for tests: from a seed that a failing test can be given again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "tests/support/builder.h"

namespace ringway::test {

// RINGWAY_TEST_SEED, or 1. Tests CAPTURE it.
[[nodiscard]] inline std::uint64_t seed() {
  const char* text = std::getenv("RINGWAY_TEST_SEED");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

// `count` random bytes in a buffer of exactly that size, so that ASan sees a read past its end.
[[nodiscard]] inline PacketBytes random_bytes(std::mt19937_64& random, std::size_t count) {
  PacketBytes bytes(count);
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(random());
  }
  return bytes;
}

}  // namespace ringway::test
