// parse_ip: which packets are believed, and how long they are afterwards.
#include "netio/packet/parse.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

#include <doctest/doctest.h>

#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "tests/support/builder.h"
#include "tests/support/compare.h"
#include "tests/support/pool.h"
#include "tests/support/random.h"

namespace ringway {

using netio::Drop;
using test::PacketBytes;

namespace {

test::PacketBuilder v4(const test::Ipv4Fields& fields = {}) {
  return test::packet().ipv4("10.0.0.1", "10.0.0.2", fields);
}
test::PacketBuilder v6(const test::Ipv6Fields& fields = {}) {
  return test::packet().ipv6("2001:db8::1", "2001:db8::2", fields);
}

}  // namespace

TEST_CASE("good packets: surplus is cut off, and the upper layer is found") {
  struct Row {
    std::string_view name;
    PacketBytes in;
    PacketBytes want;
    std::uint16_t l4;
  };
  const Row rows[] = {
      {"ipv4", v4().udp().payload(100), v4().udp().payload(100), 20},
      {"ipv4 header alone", v4(), v4(), 20},
      {"ipv4 with options", v4({.options = {1, 1, 1}}).udp(), v4({.options = {1, 1, 1}}).udp(), 24},
      {"ipv4 with all options", v4({.options = PacketBytes(40, 1)}).udp(),
       v4({.options = PacketBytes(40, 1)}).udp(), 60},
      {"ipv4 fragment", v4({.mf = true, .fragment_offset = 8}).payload(8),
       v4({.mf = true, .fragment_offset = 8}).payload(8), 20},
      {"ipv4 with padding of a link", v4().udp().trailing(PacketBytes(18)), v4().udp(), 20},
      {"ipv6", v6().tcp().payload(7), v6().tcp().payload(7), 40},
      {"ipv6 header alone", v6(), v6(), 40},
      {"ipv6 with extension headers", v6().hop_by_hop().udp(), v6().hop_by_hop().udp(), 40},
      {"ipv6 with padding of a link", v6().udp().trailing({1, 2, 3}), v6().udp(), 40},
  };
  const auto pool = test::make_pool();
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto packet = test::to_packet(*pool, row.in);
    CHECK(netio::parse_ip(*packet) == std::nullopt);
    test::check_same_packet(packet->bytes(), row.want);
    CHECK(packet->l3 == packet->begin);
    CHECK(packet->l4 == packet->begin + row.l4);
  }
}

TEST_CASE("bad packets: each has one diagnosis") {
  struct Row {
    std::string_view name;
    PacketBytes in;
    Drop reason;
  };
  const Row rows[] = {
      {"nothing", {}, Drop::truncated},
      {"version 0", v4({.version = 0}).udp(), Drop::not_ip},
      {"version 5", v4({.version = 5}).udp(), Drop::not_ip},
      {"version 7", v6({.version = 7}).udp(), Drop::not_ip},
      {"version 15", v6({.version = 15}).udp(), Drop::not_ip},
      {"ipv4 of 1 byte", v4().truncated(1), Drop::truncated},
      {"ipv4 of 19 bytes", v4().truncated(19), Drop::truncated},
      {"ihl 0", v4({.ihl = 0}).udp(), Drop::bad_header_length},
      {"ihl 4", v4({.ihl = 4}).udp(), Drop::bad_header_length},
      {"options behind the total length", v4({.ihl = 8}), Drop::bad_header_length},
      {"total length 0", v4({.total_length = 0}).udp(), Drop::bad_header_length},
      {"total length 19", v4({.total_length = 19}).udp(), Drop::bad_header_length},
      {"total length one too many", v4({.total_length = 29}).udp(), Drop::truncated},
      {"total length 65535", v4({.total_length = 65535}).udp(), Drop::truncated},
      {"one byte missing", v4().udp().payload(10).truncated(37), Drop::truncated},
      {"options cut", v4({.options = {1, 1, 1, 1}}).truncated(22), Drop::truncated},
      {"checksum 0", v4({.checksum = 0}).udp(), Drop::bad_header_checksum},
      {"one bit of the destination", v4().udp().patched(19, {3}), Drop::bad_header_checksum},
      {"one bit of an option", v4({.options = {1, 1, 1, 1}}).udp().patched(23, {0}),
       Drop::bad_header_checksum},
      {"ipv6 of 1 byte", v6().truncated(1), Drop::truncated},
      {"ipv6 of 39 bytes", v6().truncated(39), Drop::truncated},
      {"payload length one too many", v6({.payload_length = 9}).udp(), Drop::truncated},
      {"payload length 65535", v6({.payload_length = 65535}).udp(), Drop::truncated},
      {"ipv6 payload missing", v6().udp().truncated(40), Drop::truncated},
  };
  const auto pool = test::make_pool();
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto packet = test::to_packet(*pool, row.in);
    const std::optional<Drop> got = netio::parse_ip(*packet);
    CHECK((got ? netio::name(*got) : "accepted") == netio::name(row.reason));
  }
}

TEST_CASE("whatever the bytes, what is accepted lies within the packet") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  const auto pool = test::make_pool();
  std::size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    PacketBytes bytes = random() % 2 == 0 ? v4({.options = PacketBytes(random() % 8)}).udp().bytes()
                                          : v6().hop_by_hop().udp().bytes();
    bytes.resize(random() % 4 == 0 ? random() % (bytes.size() + 1) : bytes.size());
    if (!bytes.empty() && random() % 2 == 0) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    const auto packet = test::to_packet(*pool, bytes);
    if (netio::parse_ip(*packet).has_value()) {
      continue;
    }
    ++accepted;
    REQUIRE(packet->length <= bytes.size());
    REQUIRE(packet->l3 == packet->begin);
    REQUIRE(packet->l4 >= packet->l3 + 20);
    REQUIRE(packet->l4 <= packet->begin + packet->length);
  }
  CHECK(accepted > 4'000);
  CHECK(accepted < 18'000);
}

}  // namespace ringway
