// Addresses and prefixes: strict parsing, RFC 5952 text, prefix arithmetic against a slow model.
#include "netio/wire/address.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/random.h"

namespace ringway {

using namespace std::string_view_literals;
using wire::IpAddress;
using wire::IpPrefix;
using wire::Ipv4Address;
using wire::Ipv6Address;

namespace {

struct Row {
  std::string_view text;
  std::string_view want;  // what it is in RFC 5952's form; empty: refused
};
struct NumberRow {
  std::string_view text;
  std::optional<std::uint32_t> want;
};

bool bit_of(const IpAddress& address, std::size_t index) {
  return std::visit(
      [index](const auto& one) { return ((one.bytes[index / 8] >> (7 - index % 8)) & 1) != 0; },
      address);
}

bool slow_contains(const IpPrefix& prefix, const IpAddress& address) {
  if (prefix.address.index() != address.index()) {
    return false;
  }
  for (std::size_t i = 0; i < prefix.length; ++i) {
    if (bit_of(prefix.address, i) != bit_of(address, i)) {
      return false;
    }
  }
  return true;
}

IpAddress random_address(std::mt19937_64& random, bool ipv4) {
  if (ipv4) {
    return Ipv4Address::from_u32(static_cast<std::uint32_t>(random()));
  }
  Ipv6Address address;
  for (std::uint8_t& byte : address.bytes) {
    // Zeros in plenty, so that "::" occurs in every place.
    byte = random() % 3 == 0 ? static_cast<std::uint8_t>(random()) : std::uint8_t{0};
  }
  return address;
}

// RFC 5952 section 4 in other words: all eight groups, then the first longest run of zeros cut out.
std::string slow_text(const Ipv6Address& address) {
  std::vector<unsigned> groups;
  for (std::size_t i = 0; i < 16; i += 2) {
    groups.push_back(address.bytes[i] * 256U + address.bytes[i + 1]);
  }
  std::size_t best = 0;
  std::size_t best_length = 1;  // one group alone is never shortened (section 4.2.2)
  for (std::size_t begin = 0; begin < 8; ++begin) {
    std::size_t end = begin;
    while (end < 8 && groups[end] == 0) {
      ++end;
    }
    if (end - begin > best_length) {
      best = begin;
      best_length = end - begin;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < 8;) {
    if (best_length > 1 && i == best) {
      text += "::";
      i += best_length;
      continue;
    }
    if (!text.empty() && text.back() != ':') {
      text += ":";
    }
    char group[5];  // NOLINT: for snprintf
    std::snprintf(group, sizeof group, "%x", groups[i]);
    text += group;
    ++i;
  }
  return text;
}

bool has_dotted_form(const Ipv6Address& address) {
  for (std::size_t i = 0; i < 10; ++i) {
    if (address.bytes[i] != 0) {
      return false;
    }
  }
  return true;  // ::a.b.c.d and ::ffff:a.b.c.d, tested in the table
}

}  // namespace

TEST_CASE("IPv4 text: dotted quads and nothing else") {
  const NumberRow rows[] = {
      {"0.0.0.0", 0},
      {"10.0.0.1", 0x0a000001},
      {"255.255.255.255", 0xffffffff},
      {"1.2.3.4", 0x01020304},
      {"", std::nullopt},
      {"10.1", std::nullopt},
      {"10.0.0", std::nullopt},
      {"10.0.0.1.", std::nullopt},
      {".10.0.0.1", std::nullopt},
      {"10..0.1", std::nullopt},
      {"10.0.0.256", std::nullopt},
      {"10.0.0.1000", std::nullopt},
      {"10.0.0.01", std::nullopt},
      {"010.0.0.1", std::nullopt},
      {"00.0.0.0", std::nullopt},
      {"0x0a.0.0.1", std::nullopt},
      {"167772161", std::nullopt},
      {" 10.0.0.1", std::nullopt},
      {"10.0.0.1 ", std::nullopt},
      {"10.0.0.1\n", std::nullopt},
      {"10.0.0.-1", std::nullopt},
      {"+1.0.0.1", std::nullopt},
      {"10.0.0.1/32", std::nullopt},
      {"10.0.0.1\0"sv, std::nullopt},
      {"10.0.0.1\0.evil"sv, std::nullopt},
      {"\0"sv, std::nullopt},
      {"::1", std::nullopt},
      {"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.19.20", std::nullopt},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto got = wire::parse_ipv4(row.text);
    CHECK(got.has_value() == row.want.has_value());
    if (got && row.want) {
      CHECK(got->to_u32() == *row.want);
      CHECK(to_string(*got) == row.text);
    }
  }
}

TEST_CASE("IPv6 text: RFC 4291 in, RFC 5952 out") {
  const Row rows[] = {
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"fe80::1", "fe80::1"},
      // RFC 4291 section 2.2
      {"ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"},
      {"2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"},
      {"FF01:0:0:0:0:0:0:101", "ff01::101"},
      {"0:0:0:0:0:0:13.1.68.3", "::13.1.68.3"},
      {"::FFFF:129.144.52.38", "::ffff:129.144.52.38"},
      // RFC 5952 sections 4.1, 4.2.1, 4.2.2, 4.2.3, 4.3, 5
      {"2001:0db8::0001", "2001:db8::1"},
      {"2001:db8:0:0:0:0:2:1", "2001:db8::2:1"},
      {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"2001:DB8::AAAA", "2001:db8::aaaa"},
      {"::ffff:c000:201", "::ffff:192.0.2.1"},
      {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
      {"0000:0000:0000:0000:0000:0000:0000:0000", "::"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
      {"", ""},
      {":", ""},
      {":::", ""},
      {"1", ""},
      {"1:2:3:4:5:6:7", ""},
      {"1:2:3:4:5:6:7:8:9", ""},
      {"1:2:3:4:5:6:7:8::", ""},
      {"1::2::3", ""},
      {":1::2", ""},
      {"1::2:", ""},
      {"12345::", ""},
      {"00001::", ""},
      {"g::", ""},
      {"fe80::1%eth0", ""},
      {"fe80::1%1", ""},
      {"[::1]", ""},
      {"::1/128", ""},
      {" ::1", ""},
      {"::1 ", ""},
      {"::1\0"sv, ""},
      {"::1\0::2"sv, ""},
      {"::1.2.3", ""},
      {"::1.2.3.256", ""},
      {"::01.2.3.4", ""},
      {"1.2.3.4::", ""},
      {"::1.2.3.4:5", ""},
      {"10.0.0.1", ""},
      {"abcd:ef01:2345:6789:abcd:ef01:123.123.123.123", "abcd:ef01:2345:6789:abcd:ef01:7b7b:7b7b"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto got = wire::parse_ipv6(row.text);
    CHECK((got ? to_string(*got) : "") == row.want);
  }
}

TEST_CASE("IPv6 text equals RFC 5952 written another way, and parses back") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  for (int i = 0; i < 20'000; ++i) {
    const auto address = std::get<Ipv6Address>(random_address(random, false));
    const std::string text = to_string(address);
    if (!has_dotted_form(address)) {
      REQUIRE(text == slow_text(address));
    }
    REQUIRE(wire::parse_ipv6(text) == address);
    REQUIRE(wire::parse_ip(text) == IpAddress{address});
  }
}

TEST_CASE("IPv4 text parses back") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  for (int i = 0; i < 20'000; ++i) {
    const auto address = Ipv4Address::from_u32(static_cast<std::uint32_t>(random()));
    REQUIRE(wire::parse_ipv4(to_string(address)) == address);
    REQUIRE(wire::parse_ip(to_string(address)) == IpAddress{address});
    REQUIRE(Ipv4Address::from_u32(address.to_u32()) == address);
  }
}

TEST_CASE("prefix text: an address, a slash, a length that fits") {
  const Row rows[] = {
      {"10.0.0.0/8", "10.0.0.0/8"},
      {"10.1.2.3/8", "10.1.2.3/8"},
      {"10.0.0.1", "10.0.0.1/32"},
      {"0.0.0.0/0", "0.0.0.0/0"},
      {"10.0.0.1/32", "10.0.0.1/32"},
      {"2001:db8::/32", "2001:db8::/32"},
      {"::1", "::1/128"},
      {"::/0", "::/0"},
      {"::1/128", "::1/128"},
      {"::ffff:10.0.0.0/104", "::ffff:10.0.0.0/104"},
      {"10.0.0.0/33", ""},
      {"::/129", ""},
      {"::/256", ""},
      {"::/1000", ""},
      {"10.0.0.0/", ""},
      {"10.0.0.0/08", ""},
      {"10.0.0.0/00", ""},
      {"10.0.0.0/+8", ""},
      {"10.0.0.0/-8", ""},
      {"10.0.0.0/ 8", ""},
      {"10.0.0.0/8 ", ""},
      {"10.0.0.0 /8", ""},
      {"10.0.0.0/8/8", ""},
      {"10.0.0.0/0x8", ""},
      {"10.0.0.0/8\0"sv, ""},
      {"10.0.0.0/255.0.0.0", ""},
      {"/8", ""},
      {"", ""},
      {"10/8", ""},
      {"fe80::%eth0/64", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto got = wire::parse_prefix(row.text);
    CHECK((got ? to_string(*got) : "") == row.want);
    CHECK((!got || got->is_ipv4() == (row.text.find(':') == std::string_view::npos)));
  }
}

TEST_CASE("network_of clears the host bits and no other") {
  const Row rows[] = {
      {"10.1.2.3/8", "10.0.0.0/8"},
      {"10.255.255.255/9", "10.128.0.0/9"},
      {"255.255.255.255/0", "0.0.0.0/0"},
      {"255.255.255.255/31", "255.255.255.254/31"},
      {"255.255.255.255/32", "255.255.255.255/32"},
      {"ffff:ffff:ffff::/33", "ffff:ffff:8000::/33"},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/127",
       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127"},
      {"::1/0", "::/0"},
      {"::1/128", "::1/128"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto prefix = wire::parse_prefix(row.text);
    CHECK((prefix ? to_string(wire::network_of(*prefix)) : "") == row.want);
  }
}

TEST_CASE("contains and network_of agree with a walk over the bits") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  std::size_t hits = 0;
  for (int i = 0; i < 50'000; ++i) {
    const bool ipv4 = random() % 2 == 0;
    const std::size_t bits = ipv4 ? 32 : 128;
    const IpPrefix prefix{random_address(random, ipv4),
                          static_cast<std::uint8_t>(random() % (bits + 1))};
    // A neighbour of the prefix, so that about half of the answers are yes.
    IpAddress address = prefix.address;
    std::visit(
        [&random, bits](auto& one) {
          const std::size_t bit = random() % bits;
          one.bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80U >> (bit % 8));
        },
        address);
    REQUIRE(contains(prefix, address) == slow_contains(prefix, address));
    hits += contains(prefix, address) ? 1 : 0;
    const IpPrefix network = network_of(prefix);
    REQUIRE(network.length == prefix.length);
    REQUIRE(contains(network, prefix.address));
    bool host_bits = false;
    for (std::size_t bit = prefix.length; bit < bits; ++bit) {
      host_bits = host_bits || bit_of(network.address, bit);
    }
    REQUIRE(!host_bits);
    REQUIRE(!contains(prefix, random_address(random, !ipv4)));
  }
  CHECK(hits > 10'000);
  CHECK(hits < 40'000);
}

TEST_CASE("what kind of address it is") {
  const auto v4 = [](std::string_view text) { return wire::parse_ipv4(text).value(); };
  const auto v6 = [](std::string_view text) { return wire::parse_ipv6(text).value(); };
  CHECK(v4("0.0.0.0").is_unspecified());
  CHECK(!v4("0.0.0.1").is_unspecified());
  CHECK(!v4("223.255.255.255").is_multicast());
  CHECK(v4("224.0.0.0").is_multicast());
  CHECK(v4("239.255.255.255").is_multicast());
  CHECK(!v4("240.0.0.0").is_multicast());
  CHECK(v4("127.255.255.255").is_loopback());
  CHECK(!v4("128.0.0.0").is_loopback());
  CHECK(v4("255.255.255.255").is_broadcast());
  CHECK(!v4("255.255.255.254").is_broadcast());
  CHECK(v6("::").is_unspecified());
  CHECK(!v6("::1").is_unspecified());
  CHECK(v6("::1").is_loopback());
  CHECK(!v6("::2").is_loopback());
  CHECK(v6("ff02::1").is_multicast());
  CHECK(!v6("fe80::1").is_multicast());
  CHECK(v6("fe80::1").is_link_local());
  CHECK(v6("febf::1").is_link_local());
  CHECK(!v6("fec0::1").is_link_local());
  CHECK(!v6("fe7f::1").is_link_local());
}

}  // namespace ringway
