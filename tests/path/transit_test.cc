// Packets that go from one tunnel straight into another, and large packets that the host merged.
#include <cstdint>
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
using Drops = std::map<std::string, std::uint64_t>;

// A hub with a gre tunnel (0), an ipip tunnel (1) and a sit tunnel (2).
std::vector<config::Tunnel> hub() {
  return {tunnel_of(Kind::gre, "a"), tunnel_of(Kind::ipip, "b"), tunnel_of(Kind::sit, "c")};
}

PacketBuilder from_a(const PacketBytes& inner, std::uint16_t type = 0x0800) {
  return packet().ipv4("10.0.0.2", "10.0.0.1").gre({.protocol = type}).raw(inner);
}

PacketBytes to_b(std::uint8_t ttl) {
  return packet().ipv4("192.168.1.1", "192.168.2.2", {.ttl = ttl}).udp().payload(20);
}

TEST_CASE("a transit route leads from tunnel to tunnel and costs one hop") {
  Rig rig{hub()};
  rig.route("192.168.2.0/24", 1);
  rig.from_wire(wire::IpProtocol::gre, {from_a(to_b(64))});
  CHECK(rig.to_host(0).empty());
  const auto out = rig.to_wire(wire::IpProtocol::ipip);
  REQUIRE(out.size() == 1);
  check_same_packet(out[0].bytes,
                    packet()
                        .ipv4("10.0.0.1", "10.0.0.3", {.id = 0x1000, .df = true, .protocol = 4})
                        .raw(to_b(63))
                        .bytes());
  CHECK(rig.counters(0).rx_packets.value() == 1);
  CHECK(rig.counters(0).forwarded.value() == 1);
  CHECK(rig.counters(1).tx_packets.value() == 1);
}

TEST_CASE("IPv6 in transit loses one hop of its limit") {
  const auto inner = [](std::uint8_t hops) -> PacketBytes {
    return packet().ipv6("2001:db8:1::1", "2001:db8:2::2", {.hop_limit = hops}).udp().payload(9);
  };
  Rig rig{hub()};
  rig.route("2001:db8:2::/48", 2);
  rig.from_wire(wire::IpProtocol::gre, {from_a(inner(2), 0x86dd), from_a(inner(1), 0x86dd)});
  const auto out = rig.to_wire(wire::IpProtocol::ipv6);
  REQUIRE(out.size() == 1);
  check_same_packet(out[0].bytes,
                    packet()
                        .ipv4("10.0.0.1", "10.0.0.4", {.id = 0x1000, .df = true, .protocol = 41})
                        .raw(inner(1))
                        .bytes());
  CHECK(rig.drops() == Drops{{"ttl_exceeded", 1}});
}

TEST_CASE("a used-up TTL ends in transit, but not on its way to the host") {
  Rig rig{hub()};
  rig.route("192.168.2.0/24", 1);
  const PacketBytes to_host = packet().ipv4("192.168.1.1", "192.168.9.9", {.ttl = 1}).udp();
  rig.from_wire(wire::IpProtocol::gre, {from_a(to_b(1)), from_a(to_b(0)), from_a(to_host)});
  CHECK(rig.to_wire(wire::IpProtocol::ipip).empty());
  CHECK(rig.drops() == Drops{{"ttl_exceeded", 2}});
  const auto out = rig.to_host(0);
  REQUIRE(out.size() == 1);
  check_same_packet(out[0].bytes, to_host);
}

TEST_CASE("the longest prefix decides, and one batch may go three ways in order") {
  Rig rig{hub()};
  rig.route("192.168.0.0/16", 1);
  rig.route("192.168.2.128/25", 0);
  std::vector<PacketBytes> in;
  const std::vector<const char*> destinations = {"192.168.2.1", "192.168.2.200", "172.16.0.1",
                                                 "192.168.3.1", "192.168.2.1"};
  for (const char* destination : destinations) {
    in.push_back(from_a(packet().ipv4("192.168.1.1", destination).udp().payload(8)));
  }
  rig.from_wire(wire::IpProtocol::gre, in);
  CHECK(rig.to_wire(wire::IpProtocol::ipip).size() == 3);
  CHECK(rig.to_wire(wire::IpProtocol::gre).size() == 1);  // back through the tunnel it came from
  CHECK(rig.to_host(0).size() == 1);
}

TEST_CASE("a tunnel that does not carry the family ends the packet") {
  Rig rig{hub()};
  rig.route("192.168.2.0/24", 2);
  rig.from_wire(wire::IpProtocol::gre, {from_a(to_b(64))});
  CHECK(rig.drops() == Drops{{"wrong_family", 1}});
  CHECK(rig.counters(2).drops.value(netio::Drop::wrong_family) == 1);
}

// What GRO leaves: one TCP packet with lengths summed up and only the pseudo-header sum in place of
// the checksum (here computed by its definition).
PacketBytes merged(int family, std::size_t payload, const TcpFields& fields = {}) {
  TcpFields zero = fields;
  zero.checksum = 0;
  const auto ip = family == 4 ? packet().ipv4("192.168.2.2", "192.168.1.1")
                              : packet().ipv6("2001:db8::2", "2001:db8::1");
  PacketBytes bytes = ip.tcp(80, 4000, zero).payload(payload);
  const std::size_t header = family == 4 ? 20 : 40;
  const std::size_t addresses = family == 4 ? 12 : 8;
  PacketBytes pseudo(bytes.begin() + static_cast<std::ptrdiff_t>(addresses),
                     bytes.begin() + static_cast<std::ptrdiff_t>(header));
  const std::size_t length = bytes.size() - header;
  for (const std::size_t word : {std::size_t{6}, length >> 16, length & 0xffff}) {
    pseudo.push_back(static_cast<std::uint8_t>(word >> 8));
    pseudo.push_back(static_cast<std::uint8_t>(word));
  }
  const auto sum = static_cast<std::uint16_t>(~plain_checksum(pseudo));
  bytes[header + 16] = static_cast<std::uint8_t>(sum >> 8);
  bytes[header + 17] = static_cast<std::uint8_t>(sum);
  return bytes;
}

TEST_CASE("C13 a train that the host merged is passed on whole, as a super-packet") {
  for (const int family : {4, 6}) {
    CAPTURE(family);
    const TcpFields timestamps{.options = PacketBytes(12, 1)};
    const PacketBytes inner = merged(family, 20'000, timestamps);
    Rig rig{{tunnel_of(Kind::gre)}};
    const std::uint16_t type = family == 4 ? 0x0800 : 0x86dd;
    rig.from_wire(wire::IpProtocol::gre, {from_a(inner, type)});
    const auto out = rig.to_host(0);
    REQUIRE(out.size() == 1);
    check_same_packet(out[0].bytes, inner);
    const std::uint16_t ip_bytes = family == 4 ? 20 : 40;
    CHECK(out[0].gso_kind == (family == 4 ? netio::GsoKind::tcp4 : netio::GsoKind::tcp6));
    CHECK(out[0].gso_size == 1476 - ip_bytes - 32);
    CHECK(out[0].checksum == netio::ChecksumState::partial);
    CHECK(out[0].checksum_start == ip_bytes);
    CHECK(out[0].checksum_offset == 16);
  }
}

TEST_CASE("what is not a merged train is left alone") {
  const PacketBytes finished = packet().ipv4("192.168.2.2", "192.168.1.1").tcp().payload(20'000);
  const PacketBytes datagram = packet().ipv4("192.168.2.2", "192.168.1.1").udp().payload(20'000);
  const PacketBytes small = merged(4, 1000);
  PacketBytes no_header = merged(4, 20'000);
  no_header[20 + 12] = 0x40;  // a data offset of four words
  PacketBytes all_header =
      packet().ipv4("192.168.2.2", "192.168.1.1", {.protocol = 6}).raw(PacketBytes(4, 0));
  const PacketBytes fragment = packet()
                                   .ipv4("192.168.2.2", "192.168.1.1", {.mf = true, .protocol = 6})
                                   .raw(PacketBytes(20'000, 0));
  for (const PacketBytes& inner : {finished, datagram, small, no_header, all_header, fragment}) {
    Rig rig{{tunnel_of(Kind::gre)}};
    rig.from_wire(wire::IpProtocol::gre, {from_a(inner)});
    const auto out = rig.to_host(0);
    REQUIRE(out.size() == 1);
    CHECK(out[0].gso_kind == netio::GsoKind::none);
    CHECK(out[0].checksum == netio::ChecksumState::unknown);
    CHECK(out[0].bytes == inner);
  }
}

}  // namespace
}  // namespace ringway::test
