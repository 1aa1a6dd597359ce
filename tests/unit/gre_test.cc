// read_gre against a slow model, for every flags value and every length.
#include "netio/wire/gre.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include <doctest/doctest.h>

#include "netio/wire/protocols.h"
#include "tests/support/builder.h"

namespace ringway {

using wire::GreError;

namespace {

// One bit of the header, numbered as in the RFC: bit 0 is the first on the wire.
bool bit(std::span<const std::uint8_t> bytes, std::size_t index) {
  return ((bytes[index / 8] >> (7 - index % 8)) & 1) != 0;
}

std::uint32_t number(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value = value * 256 + bytes[at + i];
  }
  return value;
}

struct Model {
  GreError error = GreError::none;
  std::size_t header_bytes = 0;
  std::uint32_t protocol = 0;
  bool checksum = false;
  bool key = false;
  bool sequence = false;
  std::uint32_t key_value = 0;
  std::uint32_t sequence_value = 0;
};

// RFC 2784 section 2 and RFC 2890 section 2, read sentence by sentence.
Model slow_read(std::span<const std::uint8_t> bytes) {
  Model model;
  if (bytes.size() < 4) {
    model.error = GreError::truncated;
    return model;
  }
  model.protocol = number(bytes, 2, 2);
  model.checksum = bit(bytes, 0);
  model.key = bit(bytes, 2);
  model.sequence = bit(bytes, 3);
  if (bit(bytes, 13) || bit(bytes, 14) || bit(bytes, 15)) {
    model.error = GreError::bad_version;
    return model;
  }
  // Bits 1 to 5 less those that RFC 2890 gave a meaning; bits 6 to 12 are ignored.
  if (bit(bytes, 1) || bit(bytes, 4) || bit(bytes, 5)) {
    model.error = GreError::bad_flags;
    return model;
  }
  std::size_t at = 4;
  for (const bool present : {model.checksum, model.key, model.sequence}) {
    at += present ? 4 : 0;
  }
  if (at > bytes.size()) {
    model.error = GreError::truncated;
    return model;
  }
  model.header_bytes = at;
  if (model.sequence) {
    at -= 4;
    model.sequence_value = number(bytes, at, 4);
  }
  if (model.key) {
    at -= 4;
    model.key_value = number(bytes, at, 4);
  }
  return model;
}

}  // namespace

TEST_CASE("read_gre is the slow reading for all flags and lengths, and never past the end") {
  for (std::size_t length = 0; length <= 20; ++length) {
    test::PacketBytes bytes(length);  // exactly that long: ASan sees a read past it
    for (std::size_t i = 0; i < length; ++i) {
      bytes[i] = static_cast<std::uint8_t>(0xa1 + i * 7);
    }
    for (std::uint32_t flags = 0; flags <= 0xffff; ++flags) {
      if (length > 0) {
        bytes[0] = static_cast<std::uint8_t>(flags >> 8);
      }
      if (length > 1) {
        bytes[1] = static_cast<std::uint8_t>(flags);
      }
      const Model want = slow_read(bytes);
      const wire::GreView got = wire::read_gre(bytes);
      // One REQUIRE for a million cases: doctest takes its time for each.
      const bool same = got.error == want.error &&
                        (length < 4 || static_cast<std::uint32_t>(got.protocol) == want.protocol) &&
                        (want.error != GreError::none ||
                         (got.header_bytes == want.header_bytes && got.flags == flags &&
                          got.has_checksum() == want.checksum && got.has_key() == want.key &&
                          got.has_sequence() == want.sequence && got.key == want.key_value &&
                          got.sequence == want.sequence_value));
      if (!same) {
        CAPTURE(length);
        CAPTURE(flags);
        REQUIRE(same);
      }
    }
  }
}

TEST_CASE("GRE headers of each option set") {
  struct Row {
    const char* name = "";
    test::GreFields fields;
    std::uint16_t header_bytes = 0;
  };
  const Row rows[] = {
      {"plain", {}, 4},
      {"key", {.key = 0x0a0b0c0d}, 8},
      {"key zero is a key", {.key = 0}, 8},
      {"checksum", {.csum = true}, 8},
      {"sequence", {.sequence = 0xffffffff}, 8},
      {"checksum and key", {.key = 1, .csum = true}, 12},
      {"checksum and sequence", {.csum = true, .sequence = 2}, 12},
      {"key and sequence", {.key = 3, .sequence = 4}, 12},
      {"all", {.key = 5, .csum = true, .sequence = 6}, 16},
      {"ignored bits", {.key = 7, .extra_flags = 0x03f8}, 8},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const test::PacketBytes bytes =
        test::packet().gre(row.fields).ipv4("10.0.0.1", "10.0.0.2").udp();
    const wire::GreView view = wire::read_gre(bytes);
    CHECK(view.error == GreError::none);
    CHECK(view.protocol == wire::EtherType::ipv4);
    CHECK(view.header_bytes == row.header_bytes);
    CHECK(view.has_key() == row.fields.key.has_value());
    CHECK(view.key == row.fields.key.value_or(0));
    CHECK(view.has_checksum() == row.fields.csum);
    CHECK(view.has_sequence() == row.fields.sequence.has_value());
    CHECK(view.sequence == row.fields.sequence.value_or(0));
  }
}

TEST_CASE("a bare GRE header is a keepalive and is accepted") {
  const test::PacketBytes bytes = test::packet().gre();
  REQUIRE(bytes.size() == 4);
  const wire::GreView view = wire::read_gre(bytes);
  CHECK(view.error == GreError::none);
  CHECK(view.protocol == wire::EtherType::gre_keepalive);
  CHECK(view.header_bytes == 4);
}

}  // namespace ringway
