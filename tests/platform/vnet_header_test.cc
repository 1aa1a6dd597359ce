// The vnet header of a TUN, both ways, as rows. Bytes are little-endian: the machine's own.
#include "netio/device/vnet_header.h"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/pool.h"

namespace ringway::test {
namespace {

using netio::ChecksumState;
using netio::GsoKind;
using netio::kHeadroom;

static_assert(std::endian::native == std::endian::little, "write the rows for big-endian too");

constexpr std::size_t kHeaderBytes = 10;

// An IPv4 TCP packet of 60 bytes with 40 bytes of headers; CWR set on demand.
PacketBytes tcp(const char* flags) {
  return packet().ipv4("10.0.0.1", "10.0.0.2").tcp(1, 2, {.flags = flags}).payload(20);
}
PacketBytes udp() {
  return packet().ipv4("10.0.0.1", "10.0.0.2").udp().payload(32);
}

struct Row {
  std::string name;
  std::array<std::uint8_t, kHeaderBytes> header;
  PacketBytes packet;
  GsoKind kind;
  std::uint16_t gso_size;
  ChecksumState checksum;
  std::uint16_t start;   // from the packet's first byte
  std::uint16_t offset;  // from start
};

// Each of these is what the kernel writes, and what it must be told.
std::vector<Row> rows() {
  const auto none = ChecksumState::unknown;
  const auto partial = ChecksumState::partial;
  return {
      {"plain", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, udp(), GsoKind::none, 0, none, 0, 0},
      {"partial UDP checksum",
       {1, 0, 0, 0, 0, 0, 20, 0, 6, 0},
       udp(),
       GsoKind::none,
       0,
       partial,
       20,
       6},
      {"TSO over IPv4",
       {1, 1, 40, 0, 10, 0, 20, 0, 16, 0},
       tcp("A"),
       GsoKind::tcp4,
       10,
       partial,
       20,
       16},
      {"TSO whose first segment carries CWR",
       {1, 0x81, 40, 0, 10, 0, 20, 0, 16, 0},
       tcp("AC"),
       GsoKind::tcp4,
       10,
       partial,
       20,
       16},
      {"TSO over IPv6",
       {1, 4, 60, 0, 10, 0, 40, 0, 16, 0},
       packet().ipv6("fd00::1", "fd00::2").tcp().payload(20),
       GsoKind::tcp6,
       10,
       partial,
       40,
       16},
      {"USO", {1, 5, 28, 0, 0x34, 0x12, 20, 0, 6, 0}, udp(), GsoKind::udp, 0x1234, partial, 20, 6},
  };
}

netio::PacketPtr as_read(netio::BufferPool& pool, const Row& row) {
  netio::PacketPtr made = pool.allocate();
  made->begin = kHeadroom - kHeaderBytes;
  made->length = static_cast<std::uint32_t>(kHeaderBytes + row.packet.size());
  std::copy(row.header.begin(), row.header.end(), made->bytes().begin());
  std::copy(row.packet.begin(), row.packet.end(), made->bytes().begin() + kHeaderBytes);
  return made;
}

TEST_CASE("a vnet header says what the packet says, both ways") {
  const auto pool = make_pool(4);
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    const netio::PacketPtr made = as_read(*pool, row);
    REQUIRE(netio::take_vnet_header(*made));
    CHECK(to_bytes(*made) == row.packet);
    CHECK(made->begin == kHeadroom);
    CHECK(made->gso_kind == row.kind);
    CHECK(made->gso_size == row.gso_size);
    CHECK(made->checksum == row.checksum);
    if (row.checksum == ChecksumState::partial) {
      CHECK(made->checksum_start == kHeadroom + row.start);
      CHECK(made->checksum_offset == row.offset);
    }

    netio::put_vnet_header(*made);
    PacketBytes expected{row.header.begin(), row.header.end()};
    expected.insert(expected.end(), row.packet.begin(), row.packet.end());
    CHECK(to_bytes(*made) == expected);
  }
}

TEST_CASE("an offset follows the packet when headers go on or off") {
  const auto pool = make_pool(4);
  const netio::PacketPtr made = as_read(*pool, rows()[1]);
  REQUIRE(netio::take_vnet_header(*made));
  for (std::uint8_t& byte : made->prepend(24)) {
    byte = 0;
  }
  netio::put_vnet_header(*made);
  CHECK(made->bytes()[6] == 44);  // checksum_start: 20 behind the packet's old beginning
}

TEST_CASE("a verified checksum is noted, and never claimed towards the kernel") {
  const auto pool = make_pool(4);
  const Row row{"", {2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, udp(), GsoKind::none, 0, {}, 0, 0};
  const netio::PacketPtr made = as_read(*pool, row);
  REQUIRE(netio::take_vnet_header(*made));
  CHECK(made->checksum == ChecksumState::verified);
  netio::put_vnet_header(*made);
  CHECK(made->bytes()[0] == 0);
}

TEST_CASE("a vnet header that cannot be true is refused") {
  struct Bad {
    std::string name;
    std::array<std::uint8_t, kHeaderBytes> header;
    PacketBytes packet;
  };
  const std::vector<Bad> bad{
      {"no packet behind it", {}, {}},
      {"UFO", {1, 3, 28, 0, 10, 0, 20, 0, 6, 0}, udp()},
      {"a tunnel's GSO type", {1, 0x21, 40, 0, 10, 0, 20, 0, 16, 0}, tcp("A")},
      {"TSO without a segment size", {1, 1, 40, 0, 0, 0, 20, 0, 16, 0}, tcp("A")},
      {"checksum field one byte outside", {1, 0, 0, 0, 0, 0, 53, 0, 6, 0}, udp()},
      {"checksum offsets that would wrap", {1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, udp()},
  };
  const auto pool = make_pool(4);
  for (const Bad& row : bad) {
    CAPTURE(row.name);
    const netio::PacketPtr made =
        as_read(*pool, {row.name, row.header, row.packet, {}, 0, {}, 0, 0});
    CHECK_FALSE(netio::take_vnet_header(*made));
  }
  const netio::PacketPtr short_one = pool->allocate();
  short_one->length = 9;
  CHECK_FALSE(netio::take_vnet_header(*short_one));
}

TEST_CASE("a super-packet cut short of its TCP header claims no header length") {
  const auto pool = make_pool(4);
  const Row row{"", {1, 1, 0, 0, 10, 0, 20, 0, 16, 0}, PacketBytes(39), GsoKind::tcp4, 10, {}, 0,
                0};
  const netio::PacketPtr made = as_read(*pool, row);
  REQUIRE(netio::take_vnet_header(*made));
  netio::put_vnet_header(*made);
  CHECK(made->bytes()[2] == 0);
}

}  // namespace
}  // namespace ringway::test
