// The builder and the parsers against scapy: builder(x) == scapy(x) byte for byte, and what scapy
// found in a packet is what read_gre and find_upper_layer find. tests/golden/wire/generate.py makes
// the other side.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "netio/memory/pcap_file.h"
#include "netio/wire/checksum.h"
#include "netio/wire/describe.h"
#include "netio/wire/gre.h"
#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"
#include "tests/support/builder.h"
#include "tests/support/compare.h"

namespace ringway {

using test::packet;
using test::PacketBuilder;
using test::PacketBytes;

namespace {

struct Golden {
  std::string name;
  PacketBytes bytes;
  std::map<std::string, std::uint64_t> found;  // what scapy says: "gre_key" -> 7
};

std::uint64_t number_in(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  REQUIRE(result.ptr == text.data() + text.size());
  return value;
}

std::string folder() {
  return std::string{RINGWAY_SOURCE_DIR} + "/tests/golden/wire/";
}

std::vector<Golden> read_goldens() {
  std::ifstream in{folder() + "packets.txt"};
  std::vector<Golden> goldens;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    std::istringstream words{line};
    Golden golden;
    std::string hex;
    words >> golden.name >> hex;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      golden.bytes.push_back(
          static_cast<std::uint8_t>(number_in(std::string_view{hex}.substr(i, 2), 16)));
    }
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      golden.found[word.substr(0, equals)] =
          number_in(std::string_view{word}.substr(equals + 1), 10);
    }
    goldens.push_back(std::move(golden));
  }
  return goldens;
}

PacketBuilder ip(const test::Ipv4Fields& fields = {}) {
  return packet().ipv4("10.0.0.1", "10.0.0.2", fields);
}
PacketBuilder ip6(const test::Ipv6Fields& fields = {}) {
  return packet().ipv6("2001:db8::1", "2001:db8::2", fields);
}
PacketBuilder inner(const PacketBuilder& around) {
  return around.ipv4("192.168.1.1", "192.168.2.1", {.ttl = 63, .id = 7});
}
PacketBuilder inner6(const PacketBuilder& around) {
  return around.ipv6("fd00::1", "fd00::2", {.hop_limit = 63});
}
PacketBuilder gre(const test::GreFields& fields = {}) {
  return ip().gre(fields);
}

std::map<std::string, PacketBuilder> plain_twins() {
  const PacketBytes quote = inner(packet()).udp().payload(100).truncated(28);
  const PacketBytes options = {2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7};
  return {
      {"udp", ip().udp().payload(200)},
      {"udp_odd", ip().udp().payload(201)},
      {"udp_empty", ip().udp()},
      {"udp_no_checksum", ip().udp(1000, 2000, {.checksum = 0}).payload(3)},
      {"udp_computed_zero", ip().udp().raw({0xe0, 0x1f})},
      {"ipv4_fields", ip({.ttl = 1, .tos = 0xb9, .id = 0xfffe, .df = true}).udp().payload(4)},
      {"ipv4_options",
       ip({.options = {1, 7, 15, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}).udp().payload(9)},
      {"ipv4_first_fragment", ip({.id = 77, .mf = true}).payload(64)},
      {"ipv4_later_fragment", ip({.id = 77, .fragment_offset = 64, .protocol = 17}).payload(33)},
      {"tcp", ip().tcp(1000, 2000, {.seq = 1, .ack = 2, .window = 512}).payload(1460)},
      {"tcp_syn_options",
       ip().tcp(1000, 2000,
                {.seq = 0xffffffff, .flags = "SEC", .window = 65535, .options = options})},
      {"tcp_all_flags",
       ip().tcp(1000, 2000, {.seq = 5, .ack = 6, .flags = "FSRPAUEC", .urgent = 9}).payload(7)},
      {"icmp_echo", ip().icmp_echo().payload(56)},
      {"icmp_echo_reply",
       ip().icmp_echo({.id = 0x1234, .sequence = 0xffff, .reply = true}).payload(57)},
      {"icmp_too_big", ip().icmp({.type = 3, .code = 4, .rest = 1400}).raw(quote)},
      {"icmp_ttl", ip().icmp({.type = 11}).raw(quote)},
      {"udp6", ip6().udp().payload(200)},
      {"udp6_odd", ip6().udp().payload(1)},
      {"ipv6_fields",
       ip6({.hop_limit = 255, .traffic_class = 0xb9, .flow_label = 0xabcde}).udp().payload(4)},
      {"tcp6", ip6().tcp(1000, 2000, {.seq = 1, .ack = 2, .flags = "PA"}).payload(99)},
      {"icmp6_echo", ip6().icmp_echo().payload(56)},
      {"icmp6_echo_reply", ip6().icmp_echo({.id = 9, .sequence = 8, .reply = true}).payload(3)},
      {"icmp6_too_big",
       ip6().icmp({.type = 2, .rest = 1280}).raw(inner6(packet()).udp().payload(5))},
      {"icmp6_unreachable", ip6().icmp({.type = 1, .code = 4}).raw(inner6(packet()).udp())},
      {"icmp6_ttl", ip6().icmp({.type = 3}).raw(inner6(packet()).udp())},
      {"ipv6_nothing", ip6()},
      {"hop_by_hop", ip6().hop_by_hop().udp().payload(8)},
      {"destination_options",
       ip6().destination_options({1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}).tcp()},
      {"routing", ip6().routing({253}).udp().payload(2)},
      {"authentication", ip6().authentication().udp().payload(6)},
      {"atomic_fragment", ip6().fragment({.id = 0xdeadbeef}).udp().payload(6)},
      {"ipv6_later_fragment",
       ip6().fragment({.offset = 1480, .more = true, .id = 5, .next_header = 17}).payload(16)},
      {"all_extensions",
       ip6().hop_by_hop().destination_options().routing({253}).fragment({.id = 1}).udp().payload(
           11)},
  };
}

std::map<std::string, PacketBuilder> tunnel_twins() {
  return {
      {"ipip", inner(ip()).udp().payload(20)},
      {"sit", inner6(ip()).udp().payload(20)},
      {"gre", inner(gre()).udp().payload(20)},
      {"gre6", inner6(gre()).udp().payload(20)},
      {"gre_key", inner(gre({.key = 0x0a0b0c0d})).udp().payload(20)},
      {"gre_key_zero", inner6(gre({.key = 0})).tcp().payload(20)},
      {"gre_csum", inner(gre({.csum = true})).udp().payload(20)},
      {"gre_csum_odd", inner(gre({.csum = true})).udp().payload(21)},
      {"gre_sequence", inner(gre({.sequence = 0xffffffff})).udp().payload(20)},
      {"gre_csum_key", inner(gre({.key = 1, .csum = true})).udp().payload(20)},
      {"gre_csum_sequence", inner6(gre({.csum = true, .sequence = 2})).udp().payload(20)},
      {"gre_key_sequence", inner(gre({.key = 3, .sequence = 4})).udp().payload(20)},
      {"gre_all", inner6(gre({.key = 5, .csum = true, .sequence = 6})).udp().payload(23)},
      {"gre_keepalive", gre().ipv4("10.0.0.2", "10.0.0.1").gre()},
      {"gre_ethernet", inner(gre().ethernet()).udp().payload(20)},
      {"gre_vlan", inner(gre().ethernet({.vlan = 0x2005})).udp()},
      {"gre_reserved_bits", inner(gre({.extra_flags = 0x03f8})).udp()},
      {"gre_routing", inner(gre({.extra_flags = 0x4000})).udp()},
      {"gre_version", inner(gre({.extra_flags = 0x0001})).udp()},
  };
}

std::map<std::string, PacketBuilder> twins() {
  auto all = plain_twins();
  all.merge(tunnel_twins());
  return all;
}

std::optional<std::uint64_t> find(const Golden& golden, const std::string& key) {
  const auto found = golden.found.find(key);
  return found == golden.found.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace

TEST_CASE("the builder builds what scapy builds, and each side has every packet") {
  auto ours = twins();
  for (const Golden& golden : read_goldens()) {
    CAPTURE(golden.name);
    const auto twin = ours.find(golden.name);
    REQUIRE(twin != ours.end());
    test::check_same_packet(twin->second.bytes(), golden.bytes);
    ours.erase(twin);
  }
  for (const auto& [name, builder] : ours) {
    FAIL_CHECK("packets.txt lacks '", name, "': run tests/golden/wire/generate.py");
  }
}

TEST_CASE("describe finds nothing wrong with scapy's good packets") {
  for (const Golden& golden : read_goldens()) {
    const std::string text = wire::describe(golden.bytes);
    CAPTURE(text);
    const bool is_bad = golden.name == "gre_routing" || golden.name == "gre_version";
    CHECK((text.find('[') != std::string::npos) == is_bad);
  }
}

TEST_CASE("read_gre finds what scapy finds") {
  std::size_t checked = 0;
  for (const Golden& golden : read_goldens()) {
    if (!find(golden, "gre_protocol")) {
      continue;
    }
    CAPTURE(golden.name);
    ++checked;
    const wire::GreView view = wire::read_gre(wire::ConstBytes{golden.bytes}.subspan(20));
    CHECK(static_cast<std::uint64_t>(view.protocol) == find(golden, "gre_protocol"));
    CHECK((view.error == wire::GreError::bad_version) == (find(golden, "gre_version") != 0U));
    CHECK((view.error == wire::GreError::bad_flags) == (golden.name == "gre_routing"));
    if (view.error != wire::GreError::none) {
      continue;
    }
    CHECK(view.header_bytes == find(golden, "gre_bytes"));
    CHECK(view.has_checksum() == (find(golden, "gre_csum") == 1U));
    CHECK(view.has_key() == find(golden, "gre_key").has_value());
    CHECK(view.key == find(golden, "gre_key").value_or(0));
    CHECK(view.has_sequence() == find(golden, "gre_sequence").has_value());
    CHECK(view.sequence == find(golden, "gre_sequence").value_or(0));
  }
  CHECK(checked == 17);
}

TEST_CASE("find_upper_layer finds what scapy finds") {
  std::size_t checked = 0;
  for (const Golden& golden : read_goldens()) {
    if (!find(golden, "upper")) {
      continue;
    }
    CAPTURE(golden.name);
    ++checked;
    const wire::Ipv6UpperLayer upper = wire::find_upper_layer(golden.bytes);
    CHECK(upper.complete);
    CHECK(static_cast<std::uint64_t>(upper.protocol) == find(golden, "upper"));
    CHECK(upper.offset == find(golden, "upper_offset"));
    CHECK(upper.is_fragment == (find(golden, "fragment") == 1U));
    CHECK(upper.is_later_fragment == (golden.name == "ipv6_later_fragment"));
  }
  CHECK(checked == 17);
}

TEST_CASE("scapy's IPv4 header checksums verify") {
  for (const Golden& golden : read_goldens()) {
    CAPTURE(golden.name);
    const auto* ip = wire::header_at<wire::Ipv4Header>(wire::ConstBytes{golden.bytes});
    if (ip != nullptr && ip->version() == 4) {
      CHECK(wire::internet_checksum(wire::ConstBytes{golden.bytes}.first(ip->header_length()))
                .value() == 0);
    }
  }
}

TEST_CASE("read_pcap reads the file that scapy wrote") {
  const std::vector<Golden> goldens = read_goldens();
  const auto records = netio::read_pcap(folder() + "packets.pcap");
  REQUIRE(records.ok());
  REQUIRE(records.value().size() == goldens.size());
  for (std::size_t i = 0; i < goldens.size(); ++i) {
    test::check_same_packet(records.value()[i].bytes, goldens[i].bytes);
    CHECK(records.value()[i].time.count() == 1'000'002'000);
  }
}

}  // namespace ringway
