// Files that are right, and exactly what they mean; and properties that every file must have.
#include "config/load.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include "config/fields.h"
#include "config/model.h"
#include "config/source.h"
#include "netio/wire/address.h"

namespace ringway::config {

namespace {

// A value that must be there; the test case ends if it is not.
template <class T>
const T& need(const std::optional<T>& value) {
  REQUIRE(value.has_value());
  return *value;  // NOLINT(bugprone-unchecked-optional-access): REQUIRE throws
}

wire::Ipv4Address ipv4(std::string_view text) {
  return need(wire::parse_ipv4(text));
}

wire::IpPrefix prefix(std::string_view text) {
  return need(wire::parse_prefix(text));
}

// Fails the test with the diagnostics if there are any.
Config load_valid(std::string_view text) {
  const Loaded loaded = load_text(text, "test.yaml");
  CHECK_MESSAGE(render(loaded, false).empty(), render(loaded, false));
  return need(loaded.config);
}

Tunnel tunnel_of(std::string_view body) {
  const std::string text =
      "version: 1\ntunnels:\n  paris: {remote: 192.0.2.1, " + std::string{body} + "}\n";
  return load_valid(text).tunnels.at(0);
}

// The codes of all diagnostics, in order.
std::vector<std::string> codes_of(std::string_view text) {
  std::vector<std::string> codes;
  for (const Diagnostic& diagnostic : load_text(text, "test.yaml").diagnostics) {
    codes.push_back(diagnostic.code);
  }
  return codes;
}

constexpr std::string_view kFull = R"(version: 1
daemon:
  engine: epoll
  log_level: debug
defaults:
  local: 192.0.2.9
  ttl: 32
  ignore_df: true
  pmtudisc: false
tunnels:
  paris:
    type: gre
    interface: gre-paris
    local: eth0
    remote: paris.example.net
    key: 42
    okey: 0.0.1.0
    csum: true
    icsum: false
    strict_csum: true
    seq: true
    iseq: false
    ttl: inherit
    tos: 184
    ecn: linux
    pmtudisc: true
    ignore_df: false
    mtu: 1400
    addresses: [10.255.0.1/30, "fd00:255::1/64"]
    routes: [10.20.0.0/16, {to: 10.30.0.0/16, metric: 200}, ::/0]
  rome:
    type: ipip
    remote: 198.51.100.7
    local: any
    addresses:
      - 10.9.0.1
  berlin:
    type: sit
    remote: 198.51.100.7
    ecn: off
    mtu: auto
    tos: inherit
    addresses: []
    routes:
routes:
  - {to: 10.40.0.0/16, via: paris}
  - {to: 10.50.0.0/16, via: rome, metric: 5}
)";

Config full_config() {
  Config config;
  config.daemon = {.engine = Engine::epoll, .log_level = LogLevel::debug};
  Tunnel paris;
  paris.name = "paris";
  paris.interface = "gre-paris";
  paris.kind = Kind::gre;
  paris.local = InterfaceName{"eth0"};
  paris.remote = HostName{"paris.example.net"};
  paris.ikey = 42;
  paris.okey = 256;
  paris.icsum = false;
  paris.ocsum = true;
  paris.strict_csum = true;
  paris.iseq = false;
  paris.oseq = true;
  paris.ttl = 0;
  paris.tos = {.inherit = false, .value = 184};
  paris.ecn = Ecn::linux;
  paris.pmtudisc = true;
  paris.ignore_df = false;
  paris.mtu = 1400;
  paris.addresses = {prefix("10.255.0.1/30"), prefix("fd00:255::1/64")};
  paris.routes = {{prefix("10.20.0.0/16"), 0}, {prefix("10.30.0.0/16"), 200}, {prefix("::/0"), 0}};
  Tunnel rome;
  rome.name = "rome";
  rome.interface = "rome";
  rome.kind = Kind::ipip;
  rome.remote = ipv4("198.51.100.7");
  rome.ttl = 32;
  rome.pmtudisc = false;
  rome.ignore_df = true;
  rome.addresses = {prefix("10.9.0.1/32")};
  Tunnel berlin;
  berlin.name = "berlin";
  berlin.interface = "berlin";
  berlin.kind = Kind::sit;
  berlin.local = ipv4("192.0.2.9");
  berlin.remote = ipv4("198.51.100.7");
  berlin.ttl = 32;
  berlin.ecn = Ecn::off;
  berlin.pmtudisc = false;
  config.tunnels = {paris, rome, berlin};
  config.routes = {{prefix("10.40.0.0/16"), "paris", 0}, {prefix("10.50.0.0/16"), "rome", 5}};
  return config;
}

}  // namespace

TEST_CASE("load: the six-line file has safe defaults") {
  const Config config = load_valid(
      "version: 1\n"
      "tunnels:\n"
      "  paris:\n"
      "    type: gre\n"
      "    remote: 192.0.2.1\n"
      "    addresses: [10.255.0.1/30]\n");
  Tunnel paris;
  paris.name = "paris";
  paris.interface = "paris";
  paris.kind = Kind::gre;
  paris.remote = ipv4("192.0.2.1");
  paris.addresses = {prefix("10.255.0.1/30")};
  Config expected;
  expected.tunnels = {paris};
  CHECK(config == expected);
  CHECK(config.tunnels[0].ttl == 64);
  CHECK(config.tunnels[0].pmtudisc);
  CHECK(config.tunnels[0].tos.inherit);
  CHECK(config.daemon.engine == Engine::automatic);
  CHECK(config.daemon.log_level == LogLevel::info);
}

TEST_CASE("load: every option means what it says") {
  CHECK(load_valid(kFull) == full_config());
}

TEST_CASE("load: forms of YAML that mean the same") {
  std::string crlf{kFull};
  for (std::size_t at = crlf.find('\n'); at != std::string::npos; at = crlf.find('\n', at + 2)) {
    crlf.replace(at, 1, "\r\n");
  }
  CHECK(load_valid(crlf) == full_config());
  CHECK(load_valid("\xef\xbb\xbf" + std::string{kFull}) == full_config());
  CHECK(load_valid("%YAML 1.2\n---\n" + std::string{kFull} + "...\n") == full_config());
  CHECK(load_valid("version: 1\ntunnels: {}\n") == Config{});
  CHECK(load_valid("{version: 1, tunnels: {}, daemon: , defaults: , routes: }") == Config{});
  CHECK(load_valid("version: 1\ntunnels:\n  # none yet\nroutes: []\n") == Config{});
  CHECK(load_valid("version: !!str 1\n\"tunnels\": {}\n") == Config{});
}

TEST_CASE("load: key, csum and seq are for both directions, i and o for one") {
  struct Row {
    std::string_view body;
    std::optional<std::uint32_t> ikey;
    std::optional<std::uint32_t> okey;
  };
  const std::vector<Row> keys = {
      {"type: gre", std::nullopt, std::nullopt},
      {"type: gre, key: 0", 0, 0},
      {"type: gre, key: 7", 7, 7},
      {"type: gre, ikey: 10, okey: 20", 10, 20},
      {"type: gre, key: 7, ikey: 10", 10, 7},
      {"type: gre, okey: 20, key: 7", 7, 20},
      {"type: gre, ikey: 10", 10, std::nullopt},
      {"type: gre, okey: 0xffffffff", std::nullopt, 4294967295U},
      {"type: gre, key: '0.0.0.1'", 1, 1},
  };
  for (const Row& row : keys) {
    CAPTURE(row.body);
    const Tunnel tunnel = tunnel_of(row.body);
    CHECK(tunnel.ikey == row.ikey);
    CHECK(tunnel.okey == row.okey);
  }
  CHECK(tunnel_of("type: gre, csum: true").icsum);
  CHECK(tunnel_of("type: gre, csum: true").ocsum);
  CHECK(!tunnel_of("type: gre, csum: true, ocsum: false").ocsum);
  CHECK(tunnel_of("type: gre, iseq: true").iseq);
  CHECK(!tunnel_of("type: gre, iseq: true").oseq);
  CHECK(tunnel_of("type: gre, seq: false, oseq: true").oseq);
}

TEST_CASE("load: overhead counts the options that are sent") {
  CHECK(overhead_bytes(tunnel_of("type: ipip")) == 20);
  CHECK(overhead_bytes(tunnel_of("type: sit")) == 20);
  CHECK(overhead_bytes(tunnel_of("type: gre")) == 24);
  CHECK(overhead_bytes(tunnel_of("type: gre, ikey: 1, icsum: true, iseq: true")) == 24);
  CHECK(overhead_bytes(tunnel_of("type: gre, key: 0")) == 28);
  CHECK(overhead_bytes(tunnel_of("type: gre, key: 1, csum: true, seq: true")) == 36);
  CHECK(tunnel_of("type: gre, mtu: 65511").mtu == 65511);
  CHECK(tunnel_of("type: ipip, mtu: 65515").mtu == 65515);
  CHECK(tunnel_of("type: sit, mtu: 1280").mtu == 1280);
  CHECK(tunnel_of("type: gre, mtu: 68").mtu == 68);
}

TEST_CASE("load: tunnels that look alike but can be told apart") {
  load_valid(
      "version: 1\n"
      "tunnels:\n"
      "  a: {type: gre, remote: 192.0.2.1}\n"
      "  b: {type: gre, remote: 192.0.2.1, key: 0}\n"  // no key and key 0 are two
      "  c: {type: gre, remote: 192.0.2.1, key: 7}\n"
      "  d: {type: gre, remote: 192.0.2.1, local: 192.0.2.9}\n"
      "  e: {type: gre, remote: 192.0.2.1, local: eth0}\n"
      "  f: {type: ipip, remote: 192.0.2.1}\n"
      "  g: {type: sit, remote: 192.0.2.1}\n"
      "  h: {type: sit, remote: 192.0.2.2}\n"
      "  i: {type: sit, remote: host}\n");
}

TEST_CASE("load: a tunnel inside another is no loop") {
  load_valid(
      "version: 1\n"
      "tunnels:\n"
      "  outer: {type: gre, remote: 192.0.2.1, routes: [198.51.100.7/32]}\n"
      "  inner: {type: gre, remote: 198.51.100.7, routes: [198.51.100.0/24, 10.0.0.0/8]}\n"
      "  six: {type: sit, remote: 203.0.113.1, routes: [::/0]}\n"
      "  both: {type: gre, remote: 203.0.113.2, addresses: [203.0.113.129/25]}\n");
  // The same without the outer tunnel's route.
  CHECK(codes_of("version: 1\n"
                 "tunnels:\n"
                 "  inner: {type: gre, remote: 198.51.100.7, routes: [198.51.100.0/24]}\n") ==
        std::vector<std::string>{"RW1301"});
  // Two tunnels to the same place, one the other's reserve.
  load_valid(
      "version: 1\n"
      "tunnels:\n"
      "  a: {type: gre, remote: 192.0.2.1, routes: [10.0.0.0/8, {to: ::/0, metric: 2000}]}\n"
      "  b: {type: gre, remote: 192.0.2.2, routes: [{to: 10.0.0.0/8, metric: 9}, ::/0]}\n");
}

TEST_CASE("load: the list of routes around a remote is exact") {
  std::mt19937 random{20260801};
  for (int round = 0; round < 200; ++round) {
    const auto length = static_cast<std::uint8_t>(round % 32);  // /32 leaves nothing to list
    const std::uint32_t mask = length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
    // A unicast address, so that the remote itself is taken.
    const auto remote = static_cast<std::uint32_t>(random()) % 0x50000000U + 0x80000000U;
    const wire::IpPrefix whole{wire::Ipv4Address::from_u32(remote & mask), length};
    const std::string text = "version: 1\ntunnels:\n  a: {type: gre, remote: " +
                             to_string(wire::Ipv4Address::from_u32(remote)) + ", routes: [" +
                             to_string(whole) + "]}\n";
    CAPTURE(text);
    const Loaded loaded = load_text(text, "test.yaml");
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].code == "RW1301");
    std::string list = loaded.diagnostics[0].help;
    list.erase(0, list.find("write  ") + 7);
    // Walk from the first address of the whole to its last: no gap but the remote, no overlap.
    std::uint64_t next = remote & mask;
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(", "), list.size());
      const wire::IpPrefix part = prefix(list.substr(0, end));
      list.erase(0, end + 2);
      next += next == remote ? 1 : 0;
      CHECK(std::get<wire::Ipv4Address>(part.address).to_u32() == next);
      next += std::uint64_t{1} << (32 - part.length);
    }
    next += next == remote ? 1 : 0;
    CHECK(next == (std::uint64_t{remote & mask} + (std::uint64_t{1} << (32 - length))));
    // And it is accepted.
    const std::string help = loaded.diagnostics[0].help;
    load_valid("version: 1\ntunnels:\n  a: {type: gre, remote: " +
               to_string(wire::Ipv4Address::from_u32(remote)) + ", routes: [" +
               help.substr(help.find("write  ") + 7) + "]}\n");
  }
}

TEST_CASE("load: warnings do not refuse a file") {
  const Loaded loaded =
      load_text("version: 1\ntunnels:\n  a: {type: gre, remote: 192.0.2.1, tos: 1}\n", "test.yaml");
  REQUIRE(loaded.diagnostics.size() == 1);
  CHECK(loaded.diagnostics[0].severity == Severity::warning);
  CHECK(need(loaded.config).tunnels[0].tos.value == 1);
}

TEST_CASE("load: so many diagnostics that only some are shown, and all counted") {
  std::string warned = "version: 1\ntunnels:\n";
  std::string wrong = "version: 1\ntunnels: {}\n";
  constexpr int kCount = 5000;
  for (int i = 0; i < kCount; ++i) {
    const std::string number = std::to_string(i);
    wrong.append("k").append(number).append(": 1\n");
    if (i < 60) {
      warned.append("  t").append(number).append(": {type: gre, remote: 192.0.2.1, tos: 1, key: ");
      warned.append(number).append("}\n");
    }
  }
  const Loaded fine = load_text(warned, "test.yaml");
  CHECK(fine.ok());
  REQUIRE(fine.diagnostics.size() == kDiagnosticsMax);
  CHECK(fine.diagnostics.back().code == "RW1020");
  CHECK(fine.diagnostics.back().severity == Severity::warning);
  CHECK(fine.diagnostics.back().message == "11 more are not shown");
  const Loaded bad = load_text(wrong, "test.yaml");
  CHECK(!bad.ok());
  REQUIRE(bad.diagnostics.size() == kDiagnosticsMax);
  CHECK(bad.diagnostics[0].line == 3);
  CHECK(bad.diagnostics[48].line == 51);
  CHECK(bad.diagnostics.back().message == "4951 more are not shown");
}

TEST_CASE("load: a key that is mistyped or misplaced is refused in its line") {
  const Source source{kFull};
  std::size_t mutants = 0;
  for (std::size_t number = 1; !source.line(number).empty(); ++number) {
    const std::string_view line = source.line(number);
    const std::size_t start = line.find_first_not_of(' ');
    const std::size_t colon = line.find(':');
    const bool is_tunnel =
        start == 2 && (line == "  paris:" || line == "  rome:" || line == "  berlin:");
    if (line[start] == '-' || is_tunnel) {
      continue;
    }
    const auto at = static_cast<std::size_t>(line.data() - kFull.data());
    const std::string key{line.substr(start, colon - start)};
    const std::vector<std::string> wrong = {
        key + "x", "x" + key, key.substr(0, 1) + "_" + key.substr(1), "X" + key.substr(1), "remot"};
    for (const std::string& other : wrong) {
      std::string text{kFull};
      text.replace(at + start, key.size(), other);
      CAPTURE(text.substr(at, 40));
      const Loaded loaded = load_text(text, "test.yaml");
      CHECK(!loaded.ok());
      CHECK(std::any_of(
          loaded.diagnostics.begin(), loaded.diagnostics.end(), [&](const Diagnostic& one) {
            return one.code == "RW1002" && one.line == number && one.column == start + 1;
          }));
      ++mutants;
    }
    if (start > 0) {  // one level up
      std::string text{kFull};
      text.erase(at, 2);
      CAPTURE(text.substr(at, 40));
      CHECK(!load_text(text, "test.yaml").ok());
      ++mutants;
    }
  }
  CHECK(mutants > 150);
}

TEST_CASE("load: no prefix of a file is a trap") {
  // Cut anywhere: an answer, never a crash; and no cut of the tunnels' part is taken for whole.
  std::size_t accepted = 0;
  for (std::size_t length = 0; length < kFull.size(); ++length) {
    const Loaded loaded = load_text(kFull.substr(0, length), "test.yaml");
    CHECK(loaded.ok() ==
          std::all_of(loaded.diagnostics.begin(), loaded.diagnostics.end(),
                      [](const Diagnostic& one) { return one.severity == Severity::warning; }));
    accepted += loaded.ok() ? 1U : 0U;
  }
  CHECK(accepted > 0);
  CHECK(accepted < kFull.size() / 2);
}

TEST_CASE("load: files from the file system") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("ringway-load-test-" + std::to_string(::getpid()));
  std::ofstream{file} << kFull;
  const Loaded loaded = load_file(file);
  std::filesystem::remove(file);
  CHECK(loaded.file == file);
  CHECK(loaded.text == kFull);
  CHECK(need(loaded.config) == full_config());
  const Loaded gone = load_file(file);
  REQUIRE(gone.diagnostics.size() == 1);
  CHECK(gone.diagnostics[0].code == "RW1000");
  CHECK(gone.diagnostics[0].line == 0);
}

TEST_CASE("render: colours wrap the words and change none") {
  const Loaded loaded = load_text("version: 1\ntunels: {}\n", "test.yaml");
  const std::string plain = render(loaded, false);
  std::string colored = render(loaded, true);
  CHECK(colored != plain);
  for (std::size_t at = colored.find('\033'); at != std::string::npos; at = colored.find('\033')) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }
  CHECK(colored == plain);
  CHECK(plain.find('\033') == std::string::npos);
}

TEST_CASE("fields: what the table gives as default is what the model has") {
  for (const Field& row : fields()) {
    if (row.fallback.empty() || row.section != Section::tunnel) {
      continue;
    }
    CAPTURE(row.path);
    for (const Kind kind : {Kind::gre, Kind::ipip, Kind::sit}) {
      if ((row.kinds & kind_bit(kind)) != 0) {
        const std::string type = std::string{"type: "} + name(kind);
        std::string with_default = type;
        with_default.append(", ").append(row.name()).append(": ").append(row.fallback);
        CHECK(tunnel_of(with_default) == tunnel_of(type));
      }
    }
  }
  CHECK(load_valid("version: 1\ntunnels: {}\ndaemon: {engine: " +
                   std::string{field(FieldId::engine).fallback} + ", log_level: " +
                   std::string{field(FieldId::log_level).fallback} + "}\n") == Config{});
}

TEST_CASE("fields: the table is sound") {
  for (const Field& row : fields()) {
    CAPTURE(row.path);
    CHECK(find_field(row.section, row.name()) == &row);
    CHECK(!row.doc.empty());
    CHECK(row.doc.ends_with('.'));
    CHECK(row.minimum <= row.maximum);
    CHECK((!row.is_required || row.fallback.empty()));
    CHECK((!row.in_defaults || row.section == Section::tunnel));
  }
}

TEST_CASE("fields: the manual page says what the table says") {
  std::ifstream in{std::string{RINGWAY_SOURCE_DIR} + "/packaging/man/ringway.yaml.5"};
  REQUIRE(in);
  const std::string page{std::istreambuf_iterator<char>{in}, {}};
  std::string joined = page;
  std::replace(joined.begin(), joined.end(), '\n', ' ');
  for (const Field& row : fields()) {
    CAPTURE(row.path);
    const std::string tag = "\n.It Cm " + std::string{row.path} + "\n";
    const std::size_t at = page.find(tag);
    REQUIRE(at != std::string::npos);
    CHECK(page.find(tag, at + 1) == std::string::npos);
    const std::size_t body = at + tag.size() - 1;
    // The entry ends where the next key's begins, or the section does.
    std::size_t end = std::min(page.find("\n.Sh ", body), page.find("\n.Ss ", body));
    for (const Field& other : fields()) {
      end = std::min(end, page.find("\n.It Cm " + std::string{other.path} + "\n", body));
    }
    const std::string entry = joined.substr(body, end - body);
    if (!row.fallback.empty()) {
      CHECK(entry.find("Default: " + std::string{row.fallback} + ".") != std::string::npos);
    }
    CHECK((entry.find("Required") != std::string::npos) == row.is_required);
    CHECK((entry.find("Kinds: " + kinds_text(row.kinds) + ".") != std::string::npos) ==
          (row.kinds != kAllKinds));
    if (row.type == Type::number && row.id != FieldId::version) {
      CHECK(entry.find(std::to_string(row.minimum) + ".." + std::to_string(row.maximum)) !=
            std::string::npos);
    }
    if (row.type == Type::choice) {
      for (const std::string_view word : split_words(row.words)) {
        CHECK(entry.find(word) != std::string::npos);
      }
    }
  }
  const std::size_t defaults = page.find("\n.Sh DEFAULTS");
  const std::string section = page.substr(defaults, page.find("\n.Sh", defaults + 1) - defaults);
  for (const Field& row : fields()) {
    if (row.section == Section::tunnel) {
      CAPTURE(row.path);
      const std::string word{row.name()};
      const bool named = section.find(" " + word + " ") != std::string::npos ||
                         section.find(" " + word + "\n") != std::string::npos;
      CHECK(named == row.in_defaults);
    }
  }
}

TEST_CASE("fields: the examples of the manual page are right") {
  std::ifstream in{std::string{RINGWAY_SOURCE_DIR} + "/packaging/man/ringway.yaml.5"};
  const std::string page{std::istreambuf_iterator<char>{in}, {}};
  constexpr std::string_view kBegin = ".Bd -literal -offset indent\nversion: 1\n";
  std::size_t examples = 0;
  for (std::size_t at = page.find(kBegin); at != std::string::npos;
       at = page.find(kBegin, at + 1)) {
    const std::size_t begin = page.find('\n', at) + 1;
    load_valid(page.substr(begin, page.find("\n.Ed", begin) + 1 - begin));
    ++examples;
  }
  CHECK(examples == 4);
}

}  // namespace ringway::config
