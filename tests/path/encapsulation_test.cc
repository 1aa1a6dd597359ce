// What goes into a tunnel comes out of the underlay port: one row per rule of the outer header.
#include <cstdint>
#include <functional>
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

// Inner packets of the rows.
PacketBuilder inner4(const Ipv4Fields& ip = {}) {
  return packet().ipv4("192.168.1.1", "192.168.2.2", ip).udp(1000, 2000).payload(101);
}
PacketBuilder inner6(const Ipv6Fields& ip = {}) {
  return packet().ipv6("2001:db8:1::1", "2001:db8:2::2", ip).udp(1000, 2000).payload(101);
}

// What stands in front of the inner packet: the rig's ends, DF by default (pmtudisc), id 0x1000.
Ipv4Fields outer(std::uint8_t tos = 0, std::uint8_t ttl = 64, bool df = true) {
  return {.ttl = ttl, .tos = tos, .id = 0x1000, .df = df};
}

Ipv4Fields with_protocol(std::uint8_t protocol) {
  Ipv4Fields ip = outer();
  ip.protocol = protocol;
  return ip;
}

struct Row {
  std::string name;
  Kind kind;
  Change change;  // of the tunnel's configuration
  PacketBytes in;
  PacketBytes out;
};

PacketBuilder wrapped(const Ipv4Fields& ip) {
  return packet().ipv4("10.0.0.1", "10.0.0.2", ip);
}

PacketBytes gre4(const GreFields& gre, const Ipv4Fields& ip = outer()) {
  return wrapped(ip).gre(gre).raw(inner4().bytes());
}

const std::uint16_t kIpv4Type = 0x0800;
const std::uint16_t kIpv6Type = 0x86dd;

const std::vector<Row> kRows = {
    {"G01 plain gre, IPv4 inside", Kind::gre, {}, inner4(), gre4({.protocol = kIpv4Type})},
    {"G02 plain gre, IPv6 inside",
     Kind::gre,
     {},
     inner6(),
     wrapped(outer()).gre({.protocol = kIpv6Type}).raw(inner6().bytes())},
    {"G03 key", Kind::gre, [](auto& t) { t.okey = 0x01020304; }, inner4(),
     gre4({.key = 0x01020304, .protocol = kIpv4Type})},
    {"G10 key 0 is a key", Kind::gre, [](auto& t) { t.okey = 0; }, inner4(),
     gre4({.key = 0, .protocol = kIpv4Type})},
    {"G04 checksum over an odd length", Kind::gre, [](auto& t) { t.ocsum = true; }, inner4(),
     gre4({.csum = true, .protocol = kIpv4Type})},
    {"G05 sequence numbers begin with 0", Kind::gre, [](auto& t) { t.oseq = true; }, inner4(),
     gre4({.sequence = 0, .protocol = kIpv4Type})},
    {"G06 checksum, key, sequence, in this order", Kind::gre,
     [](auto& t) {
       t.ocsum = t.oseq = true;
       t.okey = 7;
     },
     inner4(), gre4({.key = 7, .csum = true, .sequence = 0, .protocol = kIpv4Type})},
    {"what is asked of received packets does not show in sent ones", Kind::gre,
     [](auto& t) {
       t.icsum = t.iseq = true;
       t.ikey = 9;
     },
     inner4(), gre4({.protocol = kIpv4Type})},
    {"I01 ipip leaves the inner packet alone",
     Kind::ipip,
     {},
     inner4({.ttl = 1}),
     wrapped(with_protocol(4)).raw(inner4({.ttl = 1}).bytes())},
    {"I09 ttl fixed", Kind::gre, [](auto& t) { t.ttl = 10; }, inner4({.ttl = 33}),
     wrapped(outer(0, 10)).gre({.protocol = kIpv4Type}).raw(inner4({.ttl = 33}).bytes())},
    {"I09 ttl inherited from IPv4", Kind::gre, [](auto& t) { t.ttl = 0; }, inner4({.ttl = 33}),
     wrapped(outer(0, 33)).gre({.protocol = kIpv4Type}).raw(inner4({.ttl = 33}).bytes())},
    {"ttl inherited from an IPv6 hop limit", Kind::gre, [](auto& t) { t.ttl = 0; },
     inner6({.hop_limit = 5}),
     wrapped(outer(0, 5)).gre({.protocol = kIpv6Type}).raw(inner6({.hop_limit = 5}).bytes())},
    {"I08 tos inherited with its ECN",
     Kind::gre,
     {},
     inner4({.tos = 0xb9}),
     wrapped(outer(0xb9)).gre({.protocol = kIpv4Type}).raw(inner4({.tos = 0xb9}).bytes())},
    {"traffic class inherited",
     Kind::gre,
     {},
     inner6({.traffic_class = 0xba}),
     wrapped(outer(0xba))
         .gre({.protocol = kIpv6Type})
         .raw(inner6({.traffic_class = 0xba}).bytes())},
    {"I08 tos fixed: the DSCP is ours, the ECN the packet's", Kind::gre,
     [](auto& t) { t.tos = {.inherit = false, .value = 0x10}; }, inner4({.tos = 0xb9}),
     wrapped(outer(0x11)).gre({.protocol = kIpv4Type}).raw(inner4({.tos = 0xb9}).bytes())},
    {"I10 CE is copied by RFC 6040",
     Kind::gre,
     {},
     inner4({.tos = 3}),
     wrapped(outer(3)).gre({.protocol = kIpv4Type}).raw(inner4({.tos = 3}).bytes())},
    {"I10 CE becomes ECT(0) as in Linux", Kind::gre, [](auto& t) { t.ecn = config::Ecn::linux; },
     inner4({.tos = 3}),
     wrapped(outer(2)).gre({.protocol = kIpv4Type}).raw(inner4({.tos = 3}).bytes())},
    {"I10 ECN off", Kind::gre, [](auto& t) { t.ecn = config::Ecn::off; }, inner4({.tos = 0xbb}),
     wrapped(outer(0xb8)).gre({.protocol = kIpv4Type}).raw(inner4({.tos = 0xbb}).bytes())},
    {"I05 nopmtudisc, inner without DF: outer without DF", Kind::gre,
     [](auto& t) { t.pmtudisc = false; }, inner4(),
     gre4({.protocol = kIpv4Type}, outer(0, 64, false))},
    {"I05 nopmtudisc, inner with DF: outer with DF", Kind::gre, [](auto& t) { t.pmtudisc = false; },
     inner4({.df = true}),
     wrapped(outer()).gre({.protocol = kIpv4Type}).raw(inner4({.df = true}).bytes())},
    {"I06 ignore_df: outer without DF all the same", Kind::gre,
     [](auto& t) {
       t.pmtudisc = false;
       t.ignore_df = true;
     },
     inner4({.df = true}),
     wrapped(outer(0, 64, false)).gre({.protocol = kIpv4Type}).raw(inner4({.df = true}).bytes())},
    {"nopmtudisc with IPv6 inside: outer without DF", Kind::gre,
     [](auto& t) { t.pmtudisc = false; }, inner6(),
     wrapped(outer(0, 64, false)).gre({.protocol = kIpv6Type}).raw(inner6().bytes())},
    {"bytes behind the inner packet's own length are not carried",
     Kind::gre,
     {},
     inner4().trailing({1, 2, 3}),
     gre4({.protocol = kIpv4Type})},
    {"a fragment is carried like any packet",
     Kind::gre,
     {},
     packet()
         .ipv4("192.168.1.1", "192.168.2.2", {.fragment_offset = 1480, .protocol = 17})
         .raw(PacketBytes(24, 0xff)),
     wrapped(outer())
         .gre({.protocol = kIpv4Type})
         .raw(packet()
                  .ipv4("192.168.1.1", "192.168.2.2", {.fragment_offset = 1480, .protocol = 17})
                  .raw(PacketBytes(24, 0xff))
                  .bytes())},
};

TEST_CASE("encapsulation, row by row") {
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    config::Tunnel tunnel = tunnel_of(row.kind);
    if (row.change) {
      row.change(tunnel);
    }
    Rig rig{{tunnel}};
    rig.from_host(0, {row.in});
    const auto out = rig.to_wire(router::protocol_of(row.kind));
    REQUIRE(out.size() == 1);
    check_same_packet(out[0].bytes, row.out);
    CHECK(rig.counters(0).tx_packets.value() == 1);
    CHECK(rig.drops().empty());
  }
}

TEST_CASE("sit carries IPv6 in protocol 41") {
  Rig rig{{tunnel_of(Kind::sit)}};
  rig.from_host(0, {inner6()});
  const auto out = rig.to_wire(wire::IpProtocol::ipv6);
  REQUIRE(out.size() == 1);
  check_same_packet(out[0].bytes, wrapped(with_protocol(41)).raw(inner6().bytes()).bytes());
}

TEST_CASE("outer ids and sequence numbers count up by one per packet, in order") {
  config::Tunnel tunnel = tunnel_of(Kind::gre);
  tunnel.oseq = true;
  Rig rig{{tunnel}};
  std::vector<PacketBytes> in;
  for (std::uint16_t i = 0; i < 64; ++i) {
    in.push_back(packet().ipv4("192.168.1.1", "192.168.2.2").udp(i, 2000).payload(i));
  }
  for (std::uint32_t round = 0; round < 3; ++round) {
    rig.from_host(0, in);
    const auto out = rig.to_wire(wire::IpProtocol::gre);
    REQUIRE(out.size() == in.size());
    for (std::uint32_t i = 0; i < out.size(); ++i) {
      const std::uint32_t count = round * 64 + i;
      Ipv4Fields ip = outer();
      ip.id = static_cast<std::uint16_t>(0x1000 + count);
      check_same_packet(
          out[i].bytes,
          wrapped(ip).gre({.sequence = count, .protocol = kIpv4Type}).raw(in[i]).bytes());
    }
  }
}

TEST_CASE("what may not enter a tunnel is counted and ends") {
  struct Refused {
    std::string name;
    Kind kind;
    PacketBytes in;
    std::string reason;
  };
  const std::vector<Refused> rows = {
      {"I02 IPv6 into ipip", Kind::ipip, inner6(), "wrong_family"},
      {"IPv4 into sit", Kind::sit, inner4(), "wrong_family"},
      {"neither IPv4 nor IPv6", Kind::gre, PacketBytes(40, 0x50), "not_ip"},
      {"empty", Kind::gre, {}, "truncated"},
      {"19 bytes of IPv4", Kind::gre, inner4().truncated(19), "truncated"},
      {"39 bytes of IPv6", Kind::gre, inner6().truncated(39), "truncated"},
      {"cut IPv4", Kind::gre, inner4().truncated(100), "truncated"},
      {"cut IPv6", Kind::gre, inner6().truncated(100), "truncated"},
      {"IHL 4", Kind::gre, inner4({.ihl = 4}), "bad_header_length"},
      {"total length below the header", Kind::gre, inner4({.total_length = 19}),
       "bad_header_length"},
      {"IHL beyond total length", Kind::gre, inner4({.ihl = 15, .total_length = 40}),
       "bad_header_length"},
      {"header checksum", Kind::gre, inner4({.checksum = 0x1234}), "bad_header_checksum"},
  };
  for (const Refused& row : rows) {
    CAPTURE(row.name);
    Rig rig{{tunnel_of(row.kind)}};
    rig.from_host(0, {row.in});
    CHECK(rig.to_wire(router::protocol_of(row.kind)).empty());
    CHECK(rig.drops() == std::map<std::string, std::uint64_t>{{row.reason, 1}});
    CHECK(rig.counters(0).tx_packets.value() == 0);
  }
}

TEST_CASE("C12 an outer packet never exceeds 65,535 bytes") {
  for (const std::size_t payload : {65535U - 24 - 20 - 8, 65535U - 24 - 20 - 8 + 1}) {
    Rig rig{{tunnel_of(Kind::gre)}};
    rig.from_host(0, {packet().ipv4("192.168.1.1", "192.168.2.2").udp().payload(payload)});
    const auto out = rig.to_wire(wire::IpProtocol::gre);
    if (payload == 65535U - 24 - 20 - 8) {
      REQUIRE(out.size() == 1);
      CHECK(out[0].bytes.size() == 65535);
    } else {
      CHECK(out.empty());
      CHECK(rig.drops() == std::map<std::string, std::uint64_t>{{"too_big", 1}});
    }
  }
}

TEST_CASE("a bad packet in the middle of a batch takes nobody with it") {
  Rig rig{{tunnel_of(Kind::gre)}};
  rig.from_host(0, {inner4(), PacketBytes(20, 0), inner6(), inner4({.checksum = 1}), inner4()});
  CHECK(rig.to_wire(wire::IpProtocol::gre).size() == 3);
  CHECK(rig.drops() ==
        std::map<std::string, std::uint64_t>{{"not_ip", 1}, {"bad_header_checksum", 1}});
  CHECK(rig.counters(0).tx_packets.value() == 3);
  CHECK(rig.counters(0).tx_bytes.value() == inner4().bytes().size() * 2 + inner6().bytes().size());
}

}  // namespace
}  // namespace ringway::test
