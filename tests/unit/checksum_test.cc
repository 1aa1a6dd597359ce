// The Internet checksum against its own definition: every length, alignment and incremental update.
#include "netio/wire/checksum.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

#include <doctest/doctest.h>

#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"
#include "netio/wire/protocols.h"
#include "tests/support/builder.h"
#include "tests/support/random.h"

namespace ringway {

using test::PacketBytes;

namespace {

wire::Ipv4Header random_header(std::mt19937_64& random) {
  wire::Ipv4Header header;
  const PacketBytes bytes = test::random_bytes(random, sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  header.version_ihl = 0x45;
  return header;
}

// The checksum that the header should have.
std::uint16_t right_checksum(wire::Ipv4Header header) {
  header.checksum = 0;
  const auto bytes = wire::bytes_of(header);
  return test::plain_checksum({bytes.begin(), bytes.end()});
}

}  // namespace

TEST_CASE("RFC 1071 section 3: the worked example") {
  const PacketBytes bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  wire::ChecksumSum sum;
  sum.add(bytes);
  CHECK(sum.folded().value() == 0xddf2);
  CHECK(sum.checksum().value() == 0x220d);
  CHECK(wire::internet_checksum(bytes).value() == 0x220d);
}

TEST_CASE("a header with its checksum in place sums to zero") {
  // The example of en.wikipedia.org/wiki/Internet_checksum, computed there by hand.
  const PacketBytes header{0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                           0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
  CHECK(wire::internet_checksum(header).value() == 0);
}

TEST_CASE("sums that fold to zero and to 0xffff") {
  CHECK(wire::internet_checksum({}).value() == 0xffff);
  for (const std::size_t length : {1, 2, 3, 7, 8, 16, 17, 64, 1500, 65535}) {
    CAPTURE(length);
    CHECK(wire::internet_checksum(PacketBytes(length, 0)).value() == 0xffff);
    // All ones are a negative zero, and an odd last byte adds 0xff00.
    CHECK(wire::internet_checksum(PacketBytes(length, 0xff)).value() ==
          (length % 2 == 0 ? 0 : 0xff));
  }
  CHECK(wire::internet_checksum(PacketBytes{0xff, 0xfe, 0x00, 0x01}).value() == 0);
  CHECK(wire::internet_checksum(PacketBytes{0xff, 0xff, 0x00, 0x00}).value() == 0);
  CHECK(wire::internet_checksum(PacketBytes{0xff, 0xff, 0x00, 0x01}).value() == 0xfffe);
}

TEST_CASE("every length up to 300 at every alignment equals the definition") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  for (std::size_t length = 0; length <= 300; ++length) {
    const PacketBytes bytes = test::random_bytes(random, length);
    const std::uint16_t want = test::plain_checksum(bytes);
    for (std::size_t start = 0; start < 8; ++start) {
      // Memory from new is aligned to 16, and ends where the bytes end.
      const auto memory = std::make_unique<std::uint8_t[]>(start + length);
      std::copy(bytes.begin(), bytes.end(), memory.get() + start);
      CAPTURE(length);
      CAPTURE(start);
      REQUIRE(wire::internet_checksum({memory.get() + start, length}).value() == want);
    }
  }
}

TEST_CASE("pieces of even length sum like the whole") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  for (int i = 0; i < 2'000; ++i) {
    const PacketBytes bytes = test::random_bytes(random, random() % 200);
    wire::ChecksumSum sum;
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t piece = std::min(bytes.size() - at, (random() % 20) * 2);
      sum.add(wire::ConstBytes{bytes}.subspan(at, piece));
      at += piece;
    }
    REQUIRE(sum.checksum().value() == test::plain_checksum(bytes));
  }
}

TEST_CASE("add_u16 adds what two bytes in the packet would") {
  for (std::uint32_t value = 0; value <= 0xffff; ++value) {
    wire::ChecksumSum sum;
    sum.add(PacketBytes{0x12, 0x34});
    sum.add_u16(static_cast<std::uint16_t>(value));
    const PacketBytes bytes{0x12, 0x34, static_cast<std::uint8_t>(value >> 8),
                            static_cast<std::uint8_t>(value)};
    REQUIRE(sum.checksum().value() == test::plain_checksum(bytes));
  }
}

TEST_CASE("carries are never lost, however long the data") {
  wire::ChecksumSum sum;
  const PacketBytes ones(65'536, 0xff);
  for (int i = 0; i < 40; ++i) {
    sum.add(ones);
  }
  sum.add_u16(0x1234);
  CHECK(sum.folded().value() == 0x1234);
}

TEST_CASE("RFC 1624 section 4: the example that the older equation got wrong") {
  CHECK(wire::updated_checksum(0xdd2f, 0x5555, 0x3285).value() == 0x0000);
}

TEST_CASE("the incremental checksum is the full one for every value of a word") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  for (int round = 0; round < 8; ++round) {
    wire::Ipv4Header header = random_header(random);
    header.checksum = right_checksum(header);
    const wire::Ipv4Header before = header;
    for (std::uint32_t value = 0; value <= 0xffff; ++value) {
      header.identification = static_cast<std::uint16_t>(value);
      REQUIRE(wire::updated_checksum(before.checksum, before.identification, header.identification)
                  .value() == right_checksum(header));
    }
  }
}

TEST_CASE("decrement_ttl keeps the checksum right for every sum a header can have") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  wire::Ipv4Header header = random_header(random);
  for (std::uint32_t value = 0; value <= 0xffff; ++value) {
    header.identification = static_cast<std::uint16_t>(value);
    header.ttl = static_cast<std::uint8_t>(1 + value % 255);
    header.checksum = right_checksum(header);
    const std::uint8_t ttl = header.ttl;
    header.decrement_ttl();
    REQUIRE(header.ttl == ttl - 1);
    REQUIRE(header.checksum.value() == right_checksum(header));
  }
}

TEST_CASE("set_tos keeps the checksum right from every value to every value") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  wire::Ipv4Header header = random_header(random);
  for (int from = 0; from < 256; ++from) {
    for (int to = 0; to < 256; ++to) {
      header.tos = static_cast<std::uint8_t>(from);
      header.checksum = right_checksum(header);
      header.set_tos(static_cast<std::uint8_t>(to));
      REQUIRE(header.tos == to);
      REQUIRE(header.checksum.value() == right_checksum(header));
    }
  }
}

TEST_CASE("pseudo headers: datagrams of the builder verify, with one bit changed they do not") {
  for (const std::size_t length : {0, 1, 2, 100, 1471, 1472}) {
    CAPTURE(length);
    PacketBytes v4 = test::packet().ipv4("10.0.0.1", "10.9.8.7").udp().payload(length);
    PacketBytes v6 = test::packet().ipv6("2001:db8::1", "fe80::1:2").tcp().payload(length);
    for (const bool right : {true, false}) {
      wire::ChecksumSum sum4;
      const auto* ipv4 = wire::header_at<wire::Ipv4Header>(wire::ConstBytes{v4});
      wire::add_pseudo_header(sum4, *ipv4, wire::IpProtocol::udp,
                              static_cast<std::uint32_t>(length + 8));
      sum4.add(wire::ConstBytes{v4}.subspan(20));
      CHECK((sum4.checksum().value() == 0) == right);
      wire::ChecksumSum sum6;
      const auto* ipv6 = wire::header_at<wire::Ipv6Header>(wire::ConstBytes{v6});
      wire::add_pseudo_header(sum6, *ipv6, wire::IpProtocol::tcp,
                              static_cast<std::uint32_t>(length + 20));
      sum6.add(wire::ConstBytes{v6}.subspan(40));
      CHECK((sum6.checksum().value() == 0) == right);
      v4[19] ^= 1;  // the destination address
      v6[39] ^= 1;
    }
  }
}

}  // namespace ringway
