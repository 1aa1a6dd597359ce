// The strict readers as tables, and the small tools under them.
#include "config/scalar.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "config/codes.h"
#include "config/fields.h"
#include "config/model.h"
#include "config/source.h"
#include "config/tree.h"
#include "netio/wire/address.h"

namespace ringway::config {

namespace {

ConfigNode scalar(std::string_view text, bool is_quoted = false) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::scalar;
  node.text = text;
  node.is_quoted = is_quoted;
  return node;
}

// The code of the complaint, or 0 if the text is taken.
template <class T>
unsigned complaint_of(const Read<T>& read) {
  const auto* complaint = std::get_if<Complaint>(&read);
  return complaint == nullptr ? 0 : static_cast<unsigned>(complaint->code);
}

std::optional<Code> code_of(const std::optional<Complaint>& complaint) {
  return complaint ? std::optional{complaint->code} : std::nullopt;
}

std::string remote_text(const Remote& remote) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&remote)) {
    return "address " + to_string(*address);
  }
  return "name " + std::get<HostName>(remote).name;
}

std::string local_text(const Local& local) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&local)) {
    return "address " + to_string(*address);
  }
  const auto* interface = std::get_if<InterfaceName>(&local);
  return interface == nullptr ? "any" : "interface " + interface->name;
}

}  // namespace

TEST_CASE("booleans: exactly true and false") {
  CHECK(std::get<bool>(read_boolean(scalar("true"))));
  CHECK(!std::get<bool>(read_boolean(scalar("false"))));
  for (const auto* text :
       {"True", "FALSE", "yes", "no", "on", "off", "y", "n", "1", "0", "", "t"}) {
    CAPTURE(text);
    CHECK(complaint_of(read_boolean(scalar(text))) == 1101);
  }
  CHECK(complaint_of(read_boolean(scalar("true", true))) == 1101);
}

TEST_CASE("numbers: decimal, in range, or the word") {
  struct Row {
    FieldId id;
    std::string_view text;
    unsigned complaint;  // 0: taken
    Number value;
  };
  const std::vector<Row> rows = {
      {FieldId::ttl, "1", 0, {1, false}},
      {FieldId::ttl, "255", 0, {255, false}},
      {FieldId::ttl, "inherit", 0, {0, true}},
      {FieldId::ttl, "0", 1104, {}},
      {FieldId::ttl, "256", 1104, {}},
      {FieldId::ttl, "-1", 1104, {}},
      {FieldId::ttl, "auto", 1102, {}},
      {FieldId::ttl, "Inherit", 1102, {}},
      {FieldId::ttl, "064", 1011, {}},
      {FieldId::tos, "0", 0, {0, false}},
      {FieldId::tos, "0x10", 1102, {}},
      {FieldId::tos, "0o17", 1102, {}},
      {FieldId::tos, "0b1", 1102, {}},
      {FieldId::tos, "00", 1011, {}},
      {FieldId::mtu, "68", 0, {68, false}},
      {FieldId::mtu, "67", 1104, {}},
      {FieldId::mtu, "auto", 0, {0, true}},
      {FieldId::mtu, "1_400", 1102, {}},
      {FieldId::mtu, "1400 ", 1102, {}},
      {FieldId::mtu, "+1400", 1102, {}},
      {FieldId::mtu, "1e3", 1102, {}},
      {FieldId::mtu, "1400.0", 1102, {}},
      {FieldId::mtu, "", 1102, {}},
      {FieldId::mtu, "-", 1102, {}},
      {FieldId::mtu, "99999999999999999999", 1104, {}},
      {FieldId::route_metric, "4294967295", 0, {4294967295U, false}},
      {FieldId::route_metric, "4294967296", 1104, {}},
      {FieldId::route_metric, "inherit", 1102, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto read = read_number(scalar(row.text), field(row.id));
    CHECK(complaint_of(read) == row.complaint);
    if (row.complaint == 0) {
      CHECK(std::get<Number>(read) == row.value);
    }
  }
  CHECK(complaint_of(read_number(scalar("64", true), field(FieldId::ttl))) == 1102);
}

TEST_CASE("GRE keys: decimal, hexadecimal, dotted quad") {
  struct Row {
    std::string_view text;
    unsigned complaint;
    std::uint32_t value;
  };
  const std::vector<Row> rows = {
      {"0", 0, 0},
      {"1", 0, 1},
      {"33490175", 0, 33490175},
      {"4294967295", 0, 4294967295U},
      {"0x0", 0, 0},
      {"0x2a", 0, 42},
      {"0xFFFFFFFF", 0, 4294967295U},
      {"0x000000001", 0, 1},
      {"0.0.0.1", 0, 1},
      {"1.2.3.4", 0, 0x01020304},
      {"255.255.255.255", 0, 4294967295U},
      {"4294967296", 1104, 0},
      {"0x100000000", 1104, 0},
      {"99999999999999999999999", 1104, 0},
      {"-1", 1104, 0},
      {"010", 1011, 0},
      {"1.5", 1115, 0},
      {"0.0.0.01", 1115, 0},
      {"0X2a", 1115, 0},
      {"0x", 1115, 0},
      {"2a", 1115, 0},
      {"0x-1", 1115, 0},
      {"", 1115, 0},
      {"true", 1115, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto read = read_gre_key(scalar(row.text));
    CHECK(complaint_of(read) == row.complaint);
    if (row.complaint == 0) {
      CHECK(std::get<Number>(read).value == row.value);
    }
  }
}

TEST_CASE("remote: unicast IPv4 address or host name") {
  struct Row {
    std::string_view text;
    unsigned complaint;
    std::string_view meaning;
  };
  const std::string label(63, 'a');
  const std::string long_label(64, 'a');
  const std::string long_name = label + "." + label + "." + label + "." + label;
  const std::vector<Row> rows = {
      {"192.0.2.1", 0, "address 192.0.2.1"},
      {"240.0.0.1", 0, "address 240.0.0.1"},
      {"paris", 0, "name paris"},
      {"paris.example.net", 0, "name paris.example.net"},
      {"paris.example.net.", 0, "name paris.example.net."},
      {"site_a", 0, "name site_a"},
      {"3com.example", 0, "name 3com.example"},
      {"xn--bcher-kva.example", 0, "name xn--bcher-kva.example"},
      {label, 0, "name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
      {long_label, 1103, ""},
      {long_name, 1103, ""},
      {"1.2.3.400", 1103, ""},
      {"1.2.3.4.5", 1103, ""},
      {"10.1", 1103, ""},
      {"0x7f000001.1", 1103, ""},
      {"192.0.2.1/32", 1103, ""},
      {"192.0.2.1:80", 1103, ""},
      {"a..b", 1103, ""},
      {".a", 1103, ""},
      {".", 1103, ""},
      {"-a", 1103, ""},
      {"a-", 1103, ""},
      {"a b", 1103, ""},
      {"", 1103, ""},
      {"2001:db8::1", 1107, ""},
      {"[2001:db8::1]", 1107, ""},
      {"fe80::1%eth0", 1107, ""},
      {"::", 1107, ""},
      {"any", 1110, ""},
      {"0.0.0.0", 1110, ""},
      {"224.0.0.1", 1110, ""},
      {"239.255.255.255", 1110, ""},
      {"255.255.255.255", 1110, ""},
      {"127.0.0.1", 1110, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto read = read_remote(scalar(row.text));
    CHECK(complaint_of(read) == row.complaint);
    if (row.complaint == 0) {
      CHECK(remote_text(std::get<Remote>(read)) == row.meaning);
    }
  }
}

TEST_CASE("local: address, interface or any") {
  struct Row {
    std::string_view text;
    unsigned complaint;
    std::string_view meaning;
  };
  const std::vector<Row> rows = {
      {"192.0.2.1", 0, "address 192.0.2.1"},
      {"any", 0, "any"},
      {"0.0.0.0", 0, "any"},
      {"eth0", 0, "interface eth0"},
      {"eth0.100", 0, "interface eth0.100"},
      {"br-lan", 0, "interface br-lan"},
      {"fifteen-letters", 0, "interface fifteen-letters"},
      {"sixteen-letters-", 1103, ""},
      {"eth0:1", 1103, ""},
      {"eth 0", 1103, ""},
      {"e/0", 1103, ""},
      {".", 1103, ""},
      {"", 1103, ""},
      {"1.2.3", 1103, ""},
      {"12", 1103, ""},
      {"gateway.example.net", 1103, ""},
      {"2001:db8::1", 1107, ""},
      {"127.0.0.1", 1111, ""},
      {"224.0.0.1", 1111, ""},
      {"255.255.255.255", 1111, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto read = read_local(scalar(row.text));
    CHECK(complaint_of(read) == row.complaint);
    if (row.complaint == 0) {
      CHECK(local_text(std::get<Local>(read)) == row.meaning);
    }
  }
}

TEST_CASE("names of interfaces and tunnels") {
  for (const auto* good : {"paris", "gre0", "a", "fifteen-letters", "x.1", "1", "a_b+c@d"}) {
    CAPTURE(good);
    CHECK(!check_new_interface_name(good));
    CHECK(!check_tunnel_name(good));
  }
  for (const auto* bad : {"", ".", "..", "lo", "all", "default", "a b", "a\tb", "a/b", "a:b", "t%d",
                          "-a", "\xc3\xa4", "a\x7f", "\"", "a\\b"}) {
    CAPTURE(bad);
    CHECK(code_of(check_new_interface_name(bad)) == Code::bad_name);
    CHECK(check_tunnel_name(bad));
  }
  CHECK(code_of(check_new_interface_name("sixteen-letters-")) == Code::name_too_long);
  CHECK(!check_tunnel_name("sixteen-letters-"));
  CHECK(!check_tunnel_name(std::string(kTunnelNameMax, 'a')));
  CHECK(code_of(check_tunnel_name(std::string(kTunnelNameMax + 1, 'a'))) == Code::name_too_long);
}

TEST_CASE("UTF-8: what RFC 3629 allows and nothing else") {
  struct Row {
    std::string_view bytes;
    bool valid;
    std::uint32_t value;
    std::uint8_t length;
  };
  const std::vector<Row> rows = {
      {"a", true, 'a', 1},
      {"\xc3\xa9", true, 0xe9, 2},
      {"\xe2\x82\xac", true, 0x20ac, 3},
      {"\xf0\x9f\x9a\x87", true, 0x1f687, 4},
      {"\xf4\x8f\xbf\xbf", true, 0x10ffff, 4},
      {"\xed\x9f\xbf", true, 0xd7ff, 3},
      {"\xee\x80\x80", true, 0xe000, 3},
      {"\x80", false, 0x80, 1},
      {"\xc0\x80", false, 0xc0, 1},          // overlong NUL
      {"\xc1\xbf", false, 0xc1, 1},          // overlong
      {"\xe0\x9f\xbf", false, 0xe0, 1},      // overlong
      {"\xf0\x8f\xbf\xbf", false, 0xf0, 1},  // overlong
      {"\xed\xa0\x80", false, 0xed, 1},      // surrogate
      {"\xf4\x90\x80\x80", false, 0xf4, 1},  // above U+10FFFF
      {"\xf5\x80\x80\x80", false, 0xf5, 1},
      {"\xc3", false, 0xc3, 1},  // cut
      {"\xe2\x82", false, 0xe2, 1},
      {"\xc3(", false, 0xc3, 1},
  };
  for (const Row& row : rows) {
    const CodePoint point = decode_utf8(row.bytes);
    CAPTURE(row.value);
    CHECK(point.valid == row.valid);
    CHECK(point.value == row.value);
    CHECK(point.length == row.length);
  }
}

TEST_CASE("positions count code points") {
  const Source source{"a\n\xc3\xa9\xc3\xa9x\r\n\nend"};
  CHECK(source.position(0).line == 1);
  CHECK(source.position(2).line == 2);
  CHECK(source.position(6).line == 2);
  CHECK(source.position(6).column == 3);
  CHECK(source.columns({2, 5}) == 3);
  CHECK(source.columns({6, 99}) == 1);  // not beyond the line
  CHECK(source.line(2) == "\xc3\xa9\xc3\xa9x");
  CHECK(source.line(3).empty());
  CHECK(source.line(4) == "end");
  CHECK(source.line(5).empty());
  CHECK(source.position(1000).line == 4);
  CHECK(source.position(1000).column == 4);
}

TEST_CASE("suggestions: near words only") {
  const std::vector<std::string_view> words = {"remote", "local", "mtu", "ttl", "tos", "key"};
  CHECK(nearest("remot", words) == "remote");
  CHECK(nearest("ermorte", words) == "remote");  // two errors
  CHECK(nearest("ermortx", words).empty());      // three
  CHECK(nearest("rmeote", words) == "remote");   // neighbours swapped
  CHECK(nearest("mtoo", words) == "mtu");
  CHECK(nearest("tll", words) == "ttl");
  CHECK(nearest("remote", words) == "remote");
  CHECK(nearest("colour", words).empty());
  CHECK(nearest("x", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest(std::string(5000, 'k'), words).empty());
}

}  // namespace ringway::config
