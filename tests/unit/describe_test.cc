// Packets as text: rows of packets and their line, and random bytes that must not hurt.
#include "netio/wire/describe.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "netio/wire/dissect.h"
#include "netio/wire/icmp.h"
#include "netio/wire/icmpv6.h"
#include "netio/wire/names.h"
#include "netio/wire/protocols.h"
#include "tests/support/builder.h"
#include "tests/support/compare.h"
#include "tests/support/random.h"

namespace ringway {

using test::packet;
using test::PacketBuilder;
using test::PacketBytes;

namespace {

PacketBuilder outer(const test::Ipv4Fields& fields = {}) {
  return packet().ipv4("10.0.0.1", "10.0.0.2", fields);
}
PacketBuilder six() {
  return packet().ipv6("2001:db8::1", "2001:db8::2");
}

struct Row {
  PacketBytes packet;
  std::string_view line;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CHECK(wire::describe(row.packet) == row.line);
  }
}

}  // namespace

TEST_CASE("one line for each well-formed packet") {
  check({
      {outer().gre({.key = 7}).ipv4("192.168.1.1", "192.168.2.1").udp().payload(200),
       "10.0.0.1 > 10.0.0.2 gre key 7 | 192.168.1.1 > 192.168.2.1 udp 1000 > 2000 len 200"},
      {outer().gre({.key = 0, .csum = true, .sequence = 5}).ipv6("fd00::1", "fd00::2").tcp(),
       "10.0.0.1 > 10.0.0.2 gre csum key 0 seq 5 | fd00::1 > fd00::2 tcp 1000 > 2000 ACK seq 0 "
       "ack 0 len 0"},
      {outer().ipv4("1.1.1.1", "2.2.2.2").tcp(1, 2, {.seq = 3, .ack = 4, .flags = "SA"}),
       "10.0.0.1 > 10.0.0.2 | 1.1.1.1 > 2.2.2.2 tcp 1 > 2 SYN,ACK seq 3 ack 4 len 0"},
      {outer().ipv6("::1", "::2").icmp_echo({.id = 3, .sequence = 9}).payload(56),
       "10.0.0.1 > 10.0.0.2 | ::1 > ::2 icmpv6 echo_request id 3 seq 9 len 56"},
      {outer().icmp_echo({.reply = true}).payload(1),
       "10.0.0.1 > 10.0.0.2 icmp echo_reply id 1 seq 1 len 1"},
      {outer().gre(), "10.0.0.1 > 10.0.0.2 gre keepalive len 0"},
      {outer().gre().ethernet().ipv4("1.1.1.1", "2.2.2.2").udp(),
       "10.0.0.1 > 10.0.0.2 gre ethernet 02:00:00:00:00:01 > 02:00:00:00:00:02 | 1.1.1.1 > "
       "2.2.2.2 udp 1000 > 2000 len 0"},
      {outer().gre().ethernet({.vlan = 0x2005, .type = 0x0806}).payload(28),
       "10.0.0.1 > 10.0.0.2 gre ethernet 02:00:00:00:00:01 > 02:00:00:00:00:02 vlan 5 type arp "
       "len 28"},
      {outer().gre({.protocol = 0x1234}).payload(3), "10.0.0.1 > 10.0.0.2 gre type 0x1234 len 3"},
      {outer().payload(8), "10.0.0.1 > 10.0.0.2 protocol 253 len 8"},
      {outer({.id = 77, .mf = true}).udp(1, 2, {.length = 3000}).payload(16),
       "10.0.0.1 > 10.0.0.2 fragment 0 of id 77 udp 1 > 2 len 16"},
      // Case: a later fragment whose bytes look like a TCP header has no TCP header.
      {outer({.id = 77, .fragment_offset = 1480, .protocol = 6}).tcp(),
       "10.0.0.1 > 10.0.0.2 fragment 1480 of id 77 tcp len 20"},
      {six().hop_by_hop().destination_options().routing().authentication().udp(),
       "2001:db8::1 > 2001:db8::2 hop_by_hop destination_options routing authentication udp 1000 "
       "> 2000 len 0"},
      {six().fragment({.id = 4}).udp().payload(2),
       "2001:db8::1 > 2001:db8::2 fragment 0 of id 4 udp 1000 > 2000 len 2"},
      {six().fragment({.offset = 8, .id = 4}).tcp(),
       "2001:db8::1 > 2001:db8::2 fragment 8 of id 4 tcp len 20"},
      {six(), "2001:db8::1 > 2001:db8::2 protocol no_next_header len 0"},
      {outer().udp(1, 2, {.checksum = 0}), "10.0.0.1 > 10.0.0.2 udp 1 > 2 len 0"},
  });
}

TEST_CASE("ICMP errors quote the packet they are about, cut or whole") {
  const PacketBytes quote = packet().ipv4("1.1.1.1", "2.2.2.2").udp().payload(100).truncated(28);
  const PacketBytes quote6 = six().udp().payload(10);
  check({
      {outer().icmp({.type = 3, .code = 4, .rest = 1400}).raw(quote),
       "10.0.0.1 > 10.0.0.2 icmp destination_unreachable code 4 mtu 1400 | 1.1.1.1 > 2.2.2.2 udp "
       "1000 > 2000 len 0"},
      {outer().icmp({.type = 11}).raw(quote),
       "10.0.0.1 > 10.0.0.2 icmp time_exceeded code 0 | 1.1.1.1 > 2.2.2.2 udp 1000 > 2000 len 0"},
      {six().icmp({.type = 2, .rest = 1280}).raw(quote6),
       "2001:db8::1 > 2001:db8::2 icmpv6 packet_too_big mtu 1280 | 2001:db8::1 > 2001:db8::2 udp "
       "1000 > 2000 len 10"},
      {six().icmp({.type = 135}).payload(16),
       "2001:db8::1 > 2001:db8::2 icmpv6 neighbor_solicitation len 16"},
      {outer().icmp({.type = 13}).payload(12), "10.0.0.1 > 10.0.0.2 icmp type 13 len 12"},
  });
}

TEST_CASE("what is wrong stands in brackets behind the header it is about") {
  check({
      {{}, "empty"},
      {{0x00}, "not_ip len 1"},
      {{0x95, 0x00}, "not_ip len 2"},
      {outer().truncated(7), "ipv4 [header cut to 7 bytes]"},
      {outer({.ihl = 4}), "10.0.0.1 > 10.0.0.2 [bad header length 16]"},
      {outer({.ihl = 6}), "10.0.0.1 > 10.0.0.2 [bad header length 24]"},
      {outer({.total_length = 19}), "10.0.0.1 > 10.0.0.2 [bad total length 19]"},
      {outer({.checksum = 1}).payload(0),
       "10.0.0.1 > 10.0.0.2 [bad checksum, right is 0x65eb] protocol 253 len 0"},
      {outer().udp().payload(4).truncated(30),
       "10.0.0.1 > 10.0.0.2 [total length says 32 bytes, 30 are there] udp 1000 > 2000 len 2"},
      {outer().udp().trailing({1, 2}),
       "10.0.0.1 > 10.0.0.2 [2 bytes behind the end] udp 1000 > 2000 len 0"},
      {outer().udp(1, 2, {.checksum = 0x1234}),
       "10.0.0.1 > 10.0.0.2 udp 1 > 2 [bad checksum, right is 0xebd8] len 0"},
      {six().udp(1, 2, {.checksum = 0}), "2001:db8::1 > 2001:db8::2 udp 1 > 2 [no checksum] len 0"},
      {outer().udp(1, 2, {.length = 7}), "10.0.0.1 > 10.0.0.2 udp 1 > 2 [bad length 7]"},
      {outer().udp(1, 2, {.length = 9}),
       "10.0.0.1 > 10.0.0.2 udp 1 > 2 [length says 9 bytes, 8 are there] len 0"},
      {outer().tcp(1, 2, {.data_offset = 4}),
       "10.0.0.1 > 10.0.0.2 tcp 1 > 2 ACK seq 0 ack 0 [bad header length 16]"},
      {outer().tcp(1, 2, {.data_offset = 15}),
       "10.0.0.1 > 10.0.0.2 tcp 1 > 2 ACK seq 0 ack 0 [bad header length 60]"},
      {outer().tcp(1, 2, {.flags = "", .options = {2, 0, 0, 0}}),
       "10.0.0.1 > 10.0.0.2 tcp 1 > 2 none seq 0 ack 0 [bad option length] len 0"},
      {outer().gre({.extra_flags = 0x0001}), "10.0.0.1 > 10.0.0.2 gre [bad version 1]"},
      {outer().gre({.extra_flags = 0x4000}), "10.0.0.1 > 10.0.0.2 gre [bad flags 0x4000]"},
      {outer().gre({.extra_flags = 0x2000}), "10.0.0.1 > 10.0.0.2 gre [header cut to 4 bytes]"},
      {outer().gre({.csum = true, .checksum = 0x1111}).payload(2),
       "10.0.0.1 > 10.0.0.2 gre csum [bad checksum, right is 0x7ffe] keepalive len 2"},
      {packet().ipv4("10.0.0.1", "10.0.0.2", {.protocol = 47}).raw({0, 0, 8}),
       "10.0.0.1 > 10.0.0.2 gre [header cut to 3 bytes]"},
      {outer().gre({.protocol = 0x0800}).ipv6("::1", "::2").udp(),
       "10.0.0.1 > 10.0.0.2 gre | 0.0.0.0 > 0.0.0.0 [bad version 6]"},
      {six().hop_by_hop().truncated(45),
       "2001:db8::1 > 2001:db8::2 [payload length says 48 bytes, 45 are there] hop_by_hop [header "
       "cut to 5 bytes]"},
  });
}

TEST_CASE("a transport checksum that only holds the pseudo header is called partial") {
  // Made by hand: 10.0.0.1, 10.0.0.2, protocol 17, length 8 sum up to 0x141c.
  CHECK(wire::describe(outer().udp(1, 2, {.checksum = 0x141c}).bytes()) ==
        "10.0.0.1 > 10.0.0.2 udp 1 > 2 [partial checksum] len 0");
}

TEST_CASE("nesting without end is not followed") {
  PacketBuilder deep = outer();
  for (int i = 0; i < 100; ++i) {
    deep = deep.gre().ipv4("10.0.0.1", "10.0.0.2");
  }
  const auto layers = wire::dissect(deep.bytes());
  CHECK(layers.size() == 33);
  CHECK(layers.back().summary.starts_with("and more len "));
}

TEST_CASE("all fields of all layers, one line for each layer") {
  const PacketBytes bytes =
      packet()
          .ipv4("10.0.0.1", "10.0.0.2", {.ttl = 9, .tos = 0xb8, .id = 513, .df = true})
          .gre({.key = 7, .csum = true, .sequence = 1})
          .ipv6("fd00::1", "fd00::2", {.hop_limit = 3, .traffic_class = 2, .flow_label = 0x12345})
          .tcp(1, 2, {.flags = "SEC", .options = {2, 4,  5, 0xb4, 1, 3, 3, 7, 4, 2,
                                                  8, 10, 0, 0,    0, 1, 0, 0, 0, 2}})
          .payload(5);
  const std::string text = wire::describe_lines(bytes);
  CAPTURE(text);
  for (const std::string_view want :
       {"ipv4 version 4, header length 20, tos 0xb8, total length 121, id 513, flags DF, fragment "
        "offset 0, ttl 9, protocol gre, checksum 0x",
        ", source 10.0.0.1, destination 10.0.0.2\n", "gre flags 0xb000, protocol ipv6, checksum 0x",
        ", reserved 0x0000, key 7, sequence 1\n",
        "ipv6 version 6, traffic class 0x02, flow label 0x12345, payload length 45, next header "
        "tcp, hop limit 3, source fd00::1, destination fd00::2\n",
        "tcp source port 1, destination port 2, sequence 0, acknowledgment 0, header length 40, "
        "flags SYN,ECE,CWR, window 8192, checksum 0x",
        ", urgent pointer 0, options mss 1460,nop,wscale 7,sack_permitted,timestamp 1 2\n",
        "data length 5\n"}) {
    CAPTURE(want);
    CHECK(text.find(want) != std::string::npos);
  }
  CHECK(text.find('[') == std::string::npos);
}

TEST_CASE("fields say where their bytes are") {
  PacketBytes before = outer().gre({.key = 7}).ipv6("::1", "::2").hop_by_hop().tcp().payload(9);
  const auto layers = wire::dissect(before);
  for (const wire::DescribedLayer& layer : layers) {
    for (const wire::DescribedField& field : layer.fields) {
      CAPTURE(layer.name);
      CAPTURE(field.name);
      REQUIRE(field.offset + field.bytes <= before.size());
      if (layer.name == "data" || field.name == "header length") {
        continue;  // another value there changes the layers themselves
      }
      PacketBytes after = before;
      after[field.offset + field.bytes - 1] ^= 0x40;
      CHECK(wire::describe_lines(after) != wire::describe_lines(before));
    }
  }
}

TEST_CASE("any bytes are described, and none behind the end is read") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  const std::vector<PacketBytes> starts = {
      outer()
          .gre({.key = 7, .csum = true, .sequence = 5})
          .ipv6("::1", "::2")
          .hop_by_hop()
          .tcp(1, 2, {.options = {2, 4, 5, 0xb4}}),
      outer().gre().ethernet({.vlan = 5}).ipv4("1.1.1.1", "2.2.2.2").udp().payload(8),
      outer({.options = {1, 1, 1, 1}}).icmp({.type = 3, .code = 4}).raw(outer().udp()),
      six()
          .destination_options()
          .routing()
          .fragment()
          .authentication()
          .icmp({.type = 2})
          .raw(six().udp()),
  };
  for (int i = 0; i < 10'000; ++i) {
    PacketBytes bytes = starts[random() % starts.size()];
    for (std::uint64_t change = random() % 6; change > 0; --change) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    // A copy of exactly its size, so that ASan sees a read past the end.
    const PacketBytes exact{
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1))};
    const auto layers = wire::dissect(exact);
    REQUIRE(layers.empty() == exact.empty());
    REQUIRE(!wire::describe(exact).empty());
    bool within = true;  // one REQUIRE for all fields: doctest takes its time for each
    for (const wire::DescribedLayer& layer : layers) {
      for (const wire::DescribedField& field : layer.fields) {
        within = within && field.offset + field.bytes <= exact.size();
      }
    }
    REQUIRE(within);
  }
  for (int i = 0; i < 10'000; ++i) {
    PacketBytes bytes = test::random_bytes(random, random() % 120);
    if (!bytes.empty() && random() % 2 == 0) {
      bytes[0] = random() % 2 == 0 ? 0x45 : 0x60;
    }
    REQUIRE(!wire::describe(bytes).empty());
  }
}

TEST_CASE("every named number has a name of its own, and the others are numbers") {
  CHECK(to_string(wire::EtherType::ipv6) == "ipv6");
  CHECK(to_string(wire::EtherType{0x22eb}) == "0x22eb");
  CHECK(to_string(wire::IpProtocol::gre) == "gre");
  CHECK(to_string(wire::IpProtocol{200}) == "200");
  CHECK(to_string(wire::IcmpType{42}) == "type 42");
  CHECK(to_string(wire::Icmpv6Type{42}) == "type 42");
  CHECK(wire::tcp_flags_to_string(0) == "none");
  CHECK(wire::tcp_flags_to_string(0xff) == "SYN,FIN,RST,PSH,ACK,URG,ECE,CWR");
  CHECK(wire::hex(0xab, 4) == "0x00ab");
  CHECK(wire::hex(PacketBytes{0x0a, 0xff}) == "0aff");
}

TEST_CASE("a comparison names the first field that differs, or else the byte") {
  const PacketBytes want = outer().gre({.key = 7}).ipv4("1.1.1.1", "2.2.2.2").udp().payload(20);
  CHECK(test::difference(want, want).empty());
  struct Case {
    PacketBytes got;
    std::string_view first;
  };
  const Case cases[] = {
      {outer().gre({.key = 8}).ipv4("1.1.1.1", "2.2.2.2").udp().payload(20),
       "first difference: gre key: got 8, want 7\n"},
      {outer({.ttl = 63}).gre({.key = 7}).ipv4("1.1.1.1", "2.2.2.2").udp().payload(20),
       "first difference: ipv4 ttl: got 63, want 64\n"},
      {outer().gre({.key = 7}).ipv4("1.1.1.1", "2.2.2.2").tcp().payload(8),
       "first difference: ipv4 protocol: got tcp, want udp\n"},
      {outer().gre({.key = 7}).ipv4("1.1.1.1", "2.2.2.2").udp().payload(20).patched(60, {9}),
       "first difference: byte 4 of data: got 0x09, want 0x04\n"},
      {outer().gre({.key = 7}).ipv4("1.1.1.1", "2.2.2.2").udp().payload(20).trailing({9}),
       "first difference: length: got 77 bytes, want 76\n"},
      {{}, "first difference: ipv4 version: got -, want 4\n"},
  };
  for (const Case& each : cases) {
    const std::string text = test::difference(each.got, want);
    CAPTURE(text);
    CHECK(text.find(each.first) != std::string::npos);
    CHECK(text.find(wire::describe(want)) != std::string::npos);
    CHECK(text.find(wire::describe(each.got)) != std::string::npos);
  }
}

}  // namespace ringway
