// What comes out of a tunnel, and everything that must not: one row per case.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "router/tunnel/kinds.h"
#include "tests/path/rig.h"
#include "tests/support/builder.h"
#include "tests/support/compare.h"

namespace ringway::test {
namespace {

using config::Kind;
using Change = std::function<void(config::Tunnel&)>;
using Drops = std::map<std::string, std::uint64_t>;

PacketBuilder inner4(const Ipv4Fields& ip = {}) {
  return packet().ipv4("192.168.2.2", "192.168.1.1", ip).udp(2000, 1000).payload(101);
}
PacketBuilder inner6(const Ipv6Fields& ip = {}) {
  return packet().ipv6("2001:db8:2::2", "2001:db8:1::1", ip).udp(2000, 1000).payload(101);
}
PacketBuilder from_peer(const Ipv4Fields& ip = {}) {
  return packet().ipv4("10.0.0.2", "10.0.0.1", ip);
}
PacketBuilder gre(const GreFields& fields = {}, const Ipv4Fields& ip = {}) {
  return from_peer(ip).gre(fields).ipv4("192.168.2.2", "192.168.1.1").udp(2000, 1000).payload(101);
}
PacketBuilder in_protocol(std::uint8_t protocol, const PacketBytes& inner) {
  return from_peer({.protocol = protocol}).raw(inner);
}

struct Row {
  std::string name;
  Kind kind;
  Change change;
  PacketBytes in;
  std::string drop;  // empty: `out` comes out
  PacketBytes out = inner4();
};

const std::vector<Row> kRows = {
    {"G07 plain", Kind::gre, {}, gre(), ""},
    {"outer options are stepped over", Kind::gre, {}, gre({}, {.options = PacketBytes(8, 1)}), ""},
    {"IPv6 inside",
     Kind::gre,
     {},
     from_peer().gre({.protocol = 0x86dd}).raw(inner6()),
     "",
     inner6()},
    {"key", Kind::gre, [](auto& t) { t.ikey = 42; }, gre({.key = 42}), ""},
    {"G08 missing key", Kind::gre, [](auto& t) { t.ikey = 42; }, gre(), "no_tunnel"},
    {"G09 unexpected key", Kind::gre, {}, gre({.key = 42}), "no_tunnel"},
    {"G10 key 0 is not no key", Kind::gre, {}, gre({.key = 0}), "no_tunnel"},
    {"G10 no key is not key 0", Kind::gre, [](auto& t) { t.ikey = 0; }, gre(), "no_tunnel"},
    {"G11 wrong key", Kind::gre, [](auto& t) { t.ikey = 42; }, gre({.key = 43}), "no_tunnel"},
    {"checksum that nobody asked for is verified", Kind::gre, {}, gre({.csum = true}), ""},
    {"G13 and refused by strict_csum", Kind::gre, [](auto& t) { t.strict_csum = true; },
     gre({.csum = true}), "unexpected_gre_checksum"},
    {"strict_csum has nothing against a checksum that icsum asks for", Kind::gre,
     [](auto& t) { t.strict_csum = t.icsum = true; }, gre({.csum = true}), ""},
    {"G14 checksum missing", Kind::gre, [](auto& t) { t.icsum = true; }, gre(),
     "missing_gre_checksum"},
    {"checksum asked for and there", Kind::gre, [](auto& t) { t.icsum = true; },
     gre({.csum = true}), ""},
    {"G15 one bit of the payload flipped",
     Kind::gre,
     {},
     gre({.csum = true}).patched(20 + 8 + 20 + 8 + 50, {0x77}),
     "bad_gre_checksum"},
    {"checksum covers the key", Kind::gre, [](auto& t) { t.ikey = 42; },
     gre({.key = 42, .csum = true, .checksum = 0x1111}), "bad_gre_checksum"},
    {"G16 routing bit", Kind::gre, {}, gre({.extra_flags = 0x4000}), "bad_gre_flags"},
    {"G17 version 1", Kind::gre, {}, gre({.extra_flags = 1}), "bad_gre_version"},
    {"G17 version 7", Kind::gre, {}, gre({.extra_flags = 7}), "bad_gre_version"},
    {"G18 strict source route bit", Kind::gre, {}, gre({.extra_flags = 0x0800}), "bad_gre_flags"},
    {"G18 bit 5", Kind::gre, {}, gre({.extra_flags = 0x0400}), "bad_gre_flags"},
    {"G19 bits 6 to 12 are ignored", Kind::gre, {}, gre({.extra_flags = 0x03f8}), ""},
    {"G20 unknown protocol type", Kind::gre, {}, gre({.protocol = 0x1234}), "unknown_protocol"},
    {"Ethernet inside is not for this kind",
     Kind::gre,
     {},
     gre({.protocol = 0x6558}),
     "unknown_protocol"},
    {"IPv6 announced, IPv4 inside", Kind::gre, {}, gre({.protocol = 0x86dd}), "bad_inner_header"},
    {"G21 no GRE header", Kind::gre, {}, from_peer({.protocol = 47}), "truncated"},
    {"G21 three bytes of GRE",
     Kind::gre,
     {},
     from_peer({.protocol = 47}).raw({0, 0, 8}),
     "truncated"},
    {"G21 key announced but cut", Kind::gre, [](auto& t) { t.ikey = 1; },
     from_peer({.protocol = 47}).raw({0x20, 0, 8, 0, 0, 0}), "truncated"},
    {"G21 nothing behind the GRE header",
     Kind::gre,
     {},
     from_peer({.protocol = 47}).raw({0, 0, 8, 0}),
     "bad_inner_header"},
    {"G25 sequence missing", Kind::gre, [](auto& t) { t.iseq = true; }, gre(), "missing_sequence"},
    {"G26 sequence that nobody asked for", Kind::gre, {}, gre({.sequence = 77}), ""},
    {"G29 wrong outer source",
     Kind::gre,
     {},
     packet().ipv4("10.0.0.9", "10.0.0.1").gre({.protocol = 0x0800}).raw(inner4()),
     "no_tunnel"},
    {"wrong outer destination",
     Kind::gre,
     {},
     packet().ipv4("10.0.0.2", "10.0.0.9").gre({.protocol = 0x0800}).raw(inner4()),
     "no_tunnel"},
    {"G31 inner packet for the encapsulator",
     Kind::gre,
     {},
     from_peer().gre().ipv4("192.168.2.2", "10.0.0.2").udp(),
     "loop"},
    {"G32 WCCP without redirect header", Kind::gre, {}, gre({.protocol = 0x883e}), ""},
    {"G32 WCCP with redirect header",
     Kind::gre,
     {},
     from_peer()
         .gre({.protocol = 0x883e})
         .raw({0, 0, 0, 0})
         .ipv4("192.168.2.2", "192.168.1.1")
         .udp(2000, 1000)
         .payload(101),
     ""},
    {"inner shorter than it says",
     Kind::gre,
     {},
     from_peer().gre({.protocol = 0x0800}).raw(inner4().truncated(100)),
     "bad_inner_header"},
    {"inner header checksum",
     Kind::gre,
     {},
     from_peer().gre({.protocol = 0x0800}).raw(inner4({.checksum = 1})),
     "bad_inner_header"},
    {"padding behind the inner packet is cut",
     Kind::gre,
     {},
     from_peer().gre({.protocol = 0x0800}).raw(inner4().trailing({9, 9, 9})),
     ""},
    {"padding behind the outer packet is cut", Kind::gre, {}, gre().trailing({9, 9}), ""},
    {"CE on an inner that knows no ECN", Kind::gre, {}, gre({}, {.tos = 3}), "ecn_violation"},
    {"an outer fragment", Kind::gre, {}, gre({}, {.mf = true}), "outer_fragment"},
    {"a later outer fragment", Kind::gre, {}, gre({}, {.fragment_offset = 8}), "outer_fragment"},
    {"outer of another protocol", Kind::gre, {}, in_protocol(4, inner4()), "unknown_protocol"},
    {"outer IPv6", Kind::gre, {}, inner6(), "unknown_protocol"},
    {"outer header checksum", Kind::gre, {}, gre({}, {.checksum = 0}), "bad_header_checksum"},
    {"empty", Kind::gre, {}, {}, "truncated"},
    {"ipip", Kind::ipip, {}, in_protocol(4, inner4()), ""},
    {"ipip with IPv6 inside", Kind::ipip, {}, in_protocol(4, inner6()), "bad_inner_header"},
    {"ipip loop",
     Kind::ipip,
     {},
     in_protocol(4, packet().ipv4("192.168.2.2", "10.0.0.2").udp()),
     "loop"},
    {"ipip empty inside", Kind::ipip, {}, in_protocol(4, {}), "bad_inner_header"},
    {"I28 ipip of a stranger",
     Kind::ipip,
     {},
     packet().ipv4("10.0.0.77", "10.0.0.1", {.protocol = 4}).raw(inner4()),
     "no_tunnel"},
    {"sit", Kind::sit, {}, in_protocol(41, inner6()), "", inner6()},
    {"I29 sit: bytes behind the payload length are ignored",
     Kind::sit,
     {},
     in_protocol(41, inner6().trailing({1, 2, 3, 4})),
     "",
     inner6()},
    {"I30 multicast source",
     Kind::sit,
     {},
     in_protocol(41, packet().ipv6("ff02::1", "2001:db8::1").udp()),
     "martian_source"},
    {"I30 loopback source",
     Kind::sit,
     {},
     in_protocol(41, packet().ipv6("::1", "2001:db8::1").udp()),
     "martian_source"},
    {"I30 mapped source",
     Kind::sit,
     {},
     in_protocol(41, packet().ipv6("::ffff:1.2.3.4", "2001:db8::1").udp()),
     "martian_source"},
    {"I30 compatible source",
     Kind::sit,
     {},
     in_protocol(41, packet().ipv6("::1.2.3.4", "2001:db8::1").udp()),
     "martian_source"},
    {"I30 unspecified source passes (DAD)",
     Kind::sit,
     {},
     in_protocol(41, packet().ipv6("::", "ff02::1:ff00:1").udp()),
     "",
     packet().ipv6("::", "ff02::1:ff00:1").udp()},
    {"I31 sit of a stranger",
     Kind::sit,
     {},
     packet().ipv4("10.0.0.77", "10.0.0.1", {.protocol = 41}).raw(inner6()),
     "no_tunnel"},
    {"sit with IPv4 inside", Kind::sit, {}, in_protocol(41, inner4()), "bad_inner_header"},
};

TEST_CASE("decapsulation, row by row") {
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    config::Tunnel tunnel = tunnel_of(row.kind);
    if (row.change) {
      row.change(tunnel);
    }
    Rig rig{{tunnel}};
    rig.from_wire(router::protocol_of(row.kind), {row.in});
    const auto out = rig.to_host(0);
    if (row.drop.empty()) {
      CHECK(rig.drops().empty());
      REQUIRE(out.size() == 1);
      check_same_packet(out[0].bytes, row.out);
      CHECK(rig.counters(0).rx_packets.value() == 1);
      CHECK(rig.counters(0).rx_bytes.value() == row.out.size());
    } else {
      CHECK(out.empty());
      CHECK(rig.drops() == Drops{{row.drop, 1}});
      CHECK(rig.counters(0).rx_packets.value() == 0);
    }
  }
}

// RFC 6040 figure 4, written out: the inner codepoint that comes out, or -1 for a drop.
constexpr int kDropped = -1;
constexpr int kEcnTable[4][4] = {
    // outer: Not-ECT, ECT(1), ECT(0), CE
    {0, 0, 0, kDropped},  // inner Not-ECT
    {1, 1, 1, 3},         // inner ECT(1)
    {2, 1, 2, 3},         // inner ECT(0)
    {3, 3, 3, 3},         // inner CE
};

TEST_CASE("I11-I27 the ECN table, both families, checksums kept right") {
  for (std::uint8_t inner = 0; inner < 4; ++inner) {
    for (std::uint8_t outer = 0; outer < 4; ++outer) {
      for (const int family : {4, 6}) {
        CAPTURE(inner);
        CAPTURE(outer);
        CAPTURE(family);
        const auto make = [&](int ecn) -> PacketBytes {
          const auto tos = static_cast<std::uint8_t>(0xb8 | ecn);
          return family == 4 ? inner4({.tos = tos}) : inner6({.traffic_class = tos});
        };
        Rig rig{{tunnel_of(Kind::gre)}};
        // The outer DSCP differs, and must not leak in (pipe model, RFC 2983 section 3).
        const std::uint16_t type = family == 4 ? 0x0800 : 0x86dd;
        rig.from_wire(wire::IpProtocol::gre,
                      {from_peer({.tos = static_cast<std::uint8_t>(0x20 | outer)})
                           .gre({.protocol = type})
                           .raw(make(inner))});
        const auto out = rig.to_host(0);
        const int expected = kEcnTable[inner][outer];
        if (expected == kDropped) {
          CHECK(out.empty());
          CHECK(rig.drops() == Drops{{"ecn_violation", 1}});
        } else {
          REQUIRE(out.size() == 1);
          check_same_packet(out[0].bytes, make(expected));
        }
      }
    }
  }
}

TEST_CASE("G22-G24 the sequence window") {
  struct Window {
    std::string name;
    std::vector<std::uint32_t> sent;
    std::vector<bool> accepted;
  };
  const std::vector<Window> rows = {
      {"G22", {5, 5, 4, 6, 100, 99}, {true, false, false, true, true, false}},
      {"G23 wrap", {0xfffffffe, 0xffffffff, 0, 1, 0xffffffff}, {true, true, true, true, false}},
      {"G24 half window: too old", {0, 0x80000001, 1}, {true, false, true}},
      {"G24 half window: just new", {0, 0x7fffffff}, {true, true}},
      {"starts anywhere", {0x90000000, 0x8fffffff, 0x90000001}, {true, false, true}},
  };
  for (const Window& row : rows) {
    CAPTURE(row.name);
    config::Tunnel tunnel = tunnel_of(Kind::gre);
    tunnel.iseq = true;
    Rig rig{{tunnel}};
    for (std::size_t i = 0; i < row.sent.size(); ++i) {
      CAPTURE(row.sent[i]);
      rig.from_wire(wire::IpProtocol::gre, {gre({.sequence = row.sent[i]})});
      CHECK(rig.to_host(0).size() == (row.accepted[i] ? 1U : 0U));
    }
  }
}

TEST_CASE("a packet that fails its checksum does not move the sequence window") {
  config::Tunnel tunnel = tunnel_of(Kind::gre);
  tunnel.iseq = true;
  Rig rig{{tunnel}};
  rig.from_wire(wire::IpProtocol::gre, {gre({.sequence = 1})});
  rig.from_wire(wire::IpProtocol::gre, {gre({.csum = true, .sequence = 1000, .checksum = 0x0bad})});
  rig.from_wire(wire::IpProtocol::gre, {gre({.sequence = 2})});
  CHECK(rig.to_host(0).size() == 2);
}

TEST_CASE("tunnels with the same ends are told apart by their keys, in one batch") {
  config::Tunnel plain = tunnel_of(Kind::gre, "plain");
  config::Tunnel zero = tunnel_of(Kind::gre, "zero");
  config::Tunnel seven = tunnel_of(Kind::gre, "seven");
  plain.remote = zero.remote = seven.remote = remote_end(0);
  zero.ikey = 0;
  seven.ikey = 7;
  Rig rig{{plain, zero, seven}};
  rig.from_wire(wire::IpProtocol::gre,
                {gre(), gre({.key = 0}), gre({.key = 7}), gre({.key = 7}), gre(), gre({.key = 8})});
  CHECK(rig.to_host(0).size() == 2);
  CHECK(rig.to_host(1).size() == 1);
  CHECK(rig.to_host(2).size() == 2);
  CHECK(rig.drops() == Drops{{"no_tunnel", 1}});
  CHECK(rig.all_counters().unclaimed.value(netio::Drop::no_tunnel) == 1);
}

TEST_CASE("an unspecified local accepts packets to any of our addresses") {
  config::Tunnel tunnel = tunnel_of(Kind::gre);
  tunnel.local = wire::Ipv4Address{};
  Rig rig{{tunnel}};
  rig.from_wire(
      wire::IpProtocol::gre,
      {gre(), packet().ipv4("10.0.0.2", "10.9.9.9").gre({.protocol = 0x0800}).raw(inner4())});
  CHECK(rig.to_host(0).size() == 2);
}

}  // namespace
}  // namespace ringway::test
