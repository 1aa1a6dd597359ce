// Big-endian fields, and the one cast from bytes to headers.
#include "netio/wire/endian.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "netio/wire/header.h"
#include "netio/wire/protocols.h"
#include "netio/wire/udp.h"
#include "tests/support/builder.h"

namespace ringway {

TEST_CASE("big-endian integers lie most significant byte first") {
  using Two = std::array<std::uint8_t, 2>;
  using Four = std::array<std::uint8_t, 4>;
  using Eight = std::array<std::uint8_t, 8>;
  CHECK(std::bit_cast<Two>(wire::Be16{0x0102}) == Two{1, 2});
  CHECK(std::bit_cast<Four>(wire::Be32{0x01020304}) == Four{1, 2, 3, 4});
  CHECK(std::bit_cast<Eight>(wire::Be64{0x0102030405060708}) == Eight{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(std::bit_cast<Two>(wire::BeEtherType{wire::EtherType::ipv6}) == Two{0x86, 0xdd});
}

TEST_CASE("every 16-bit value survives the round trip, at once and byte by byte") {
  for (std::uint32_t value = 0; value <= 0xffff; ++value) {
    const wire::Be16 field{static_cast<std::uint16_t>(value)};
    const auto bytes = std::bit_cast<std::array<std::uint8_t, 2>>(field);
    REQUIRE(field.value() == value);
    REQUIRE(bytes[0] * 256U + bytes[1] == value);
  }
}

TEST_CASE("a field is assigned and read like an integer, and zero until then") {
  wire::Be32 field;
  CHECK(field.value() == 0);
  field = 0xdeadbeef;
  const std::uint32_t value = field;
  CHECK(value == 0xdeadbeef);
  CHECK(field == wire::Be32{0xdeadbeef});
}

TEST_CASE("header_at gives a header only where all of it lies") {
  for (std::size_t size = 0; size <= 12; ++size) {
    const test::PacketBytes bytes(size);
    for (std::size_t offset = 0; offset <= 14; ++offset) {
      CAPTURE(size);
      CAPTURE(offset);
      const bool whole = offset + sizeof(wire::UdpHeader) <= size;
      const auto* header = wire::header_at<wire::UdpHeader>(bytes, offset);
      CHECK((header != nullptr) == whole);
    }
  }
  const test::PacketBytes bytes(8);
  CHECK(wire::header_at<wire::UdpHeader>(bytes, SIZE_MAX) == nullptr);
}

TEST_CASE("header_at reads and writes at odd addresses") {
  test::PacketBytes bytes{0, 0x03, 0xe8, 0x07, 0xd0, 0x00, 0x08, 0xab, 0xcd};
  auto* header = wire::header_at<wire::UdpHeader>(wire::Bytes{bytes}, 1);
  REQUIRE(header != nullptr);
  CHECK(header->source_port.value() == 1000);
  CHECK(header->destination_port.value() == 2000);
  CHECK(header->checksum.value() == 0xabcd);
  header->destination_port = 0x1234;
  CHECK(bytes[3] == 0x12);
  CHECK(bytes[4] == 0x34);
  CHECK(wire::bytes_of(*header).data() == bytes.data() + 1);
  CHECK(wire::bytes_of(*header).size() == 8);
}

}  // namespace ringway
