// From a configuration to ids, claims and routes.
#include "router/control/plan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "config/model.h"
#include "netio/open.h"
#include "netio/packet/packet.h"
#include "netio/wire/address.h"
#include "netio/wire/protocols.h"
#include "router/path/demux.h"
#include "router/path/forwarding.h"
#include "router/tunnel/kinds.h"

namespace ringway::router {

namespace {

using config::Kind;
using netio::PortId;
using netio::TunnelId;
using wire::IpProtocol;

wire::Ipv4Address ip(const char* text) {
  return *wire::parse_ipv4(text);
}

config::Tunnel tunnel(const char* name, Kind kind, std::optional<std::uint32_t> key = {}) {
  config::Tunnel out;
  out.name = out.interface = name;
  out.kind = kind;
  out.ikey = out.okey = key;
  return out;
}

// Two sites by gre, one by ipip, a broker by sit, and routes from one to the other.
struct Example {
  config::Config config;
  std::vector<Ends> ends;

  Example() {
    config.tunnels = {tunnel("paris", Kind::gre, 7), tunnel("berlin", Kind::gre, 8),
                      tunnel("rome", Kind::ipip), tunnel("he6", Kind::sit)};
    config.tunnels[0].routes = {{*wire::parse_prefix("10.1.0.0/16"), 5}};
    config.routes = {{*wire::parse_prefix("10.20.0.0/16"), "berlin", 200},
                     {*wire::parse_prefix("10.20.5.0/24"), "paris", 0},
                     {*wire::parse_prefix("2001:db8::/32"), "he6", 0}};
    const Ends same{ip("192.0.2.1"), ip("198.51.100.1")};
    ends = {same, same, same, {{}, ip("203.0.113.6")}};
  }
};

std::uint16_t one_number() {
  return 1;
}

}  // namespace

TEST_CASE("each protocol gets one socket, in the order of the tunnels") {
  const Example example;
  CHECK(needed_protocols(example.config) ==
        std::vector{IpProtocol::gre, IpProtocol::ipip, IpProtocol::ipv6});
  CHECK(needed_protocols({}).empty());
}

TEST_CASE("ids are positions, and every port knows what it carries") {
  const Example example;
  auto made = make_forwarding(example.config, example.ends, &one_number);
  REQUIRE(made.ok());
  const Forwarding& forwarding = *made.value();
  CHECK(forwarding.generation == 1);
  REQUIRE(forwarding.tunnels.size() == 4);
  REQUIRE(forwarding.ingress.size() == 7);
  const std::array<std::size_t, 4> underlay{4, 4, 5, 6};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(forwarding.tunnels[i].tunnel->info().name == example.config.tunnels[i].name);
    CHECK(static_cast<std::size_t>(forwarding.tunnels[i].overlay) == i);
    CHECK(static_cast<std::size_t>(forwarding.tunnels[i].underlay) == underlay[i]);
    CHECK(static_cast<std::size_t>(forwarding.ingress[i].tunnel) == i);
  }
  const std::array<IpProtocol, 3> protocols{IpProtocol::gre, IpProtocol::ipip, IpProtocol::ipv6};
  for (std::size_t i = 0; i < protocols.size(); ++i) {
    CHECK(forwarding.ingress[4 + i].tunnel == netio::kNoTunnel);
    CHECK(forwarding.ingress[4 + i].protocol == protocols[i]);
  }
}

TEST_CASE("outer packets find their tunnel") {
  const Example example;
  auto made = make_forwarding(example.config, example.ends, &one_number);
  REQUIRE(made.ok());
  struct Row {
    IpProtocol protocol;
    const char* source;
    std::optional<std::uint32_t> key;
    TunnelId tunnel;
  };
  const std::array<Row, 6> rows{{
      {IpProtocol::gre, "198.51.100.1", 7, TunnelId{0}},
      {IpProtocol::gre, "198.51.100.1", 8, TunnelId{1}},
      {IpProtocol::gre, "198.51.100.1", std::nullopt, netio::kNoTunnel},
      {IpProtocol::ipip, "198.51.100.1", std::nullopt, TunnelId{2}},
      {IpProtocol::ipv6, "203.0.113.6", std::nullopt, TunnelId{3}},
      {IpProtocol::ipv6, "198.51.100.1", std::nullopt, netio::kNoTunnel},
  }};
  for (const Row& row : rows) {
    const OuterFlow flow{.protocol = row.protocol,
                         .source = ip(row.source),
                         .destination = ip("192.0.2.1"),
                         .key = row.key};
    CHECK(made.value()->demux.lookup(flow) == row.tunnel);
  }
}

TEST_CASE("transit routes lead to their tunnels, and are installed in the host with the others") {
  const Example example;
  auto made = make_forwarding(example.config, example.ends, &one_number);
  REQUIRE(made.ok());
  const auto* wide = made.value()->routes4.lookup(ip("10.20.9.9"));
  const auto* narrow = made.value()->routes4.lookup(ip("10.20.5.9"));
  REQUIRE(wide != nullptr);
  REQUIRE(narrow != nullptr);
  CHECK(*wide == TunnelId{1});
  CHECK(*narrow == TunnelId{0});
  CHECK(made.value()->routes4.lookup(ip("10.1.0.1")) == nullptr);  // the host's alone
  const auto* ipv6 = made.value()->routes6.lookup(*wire::parse_ipv6("2001:db8::1"));
  REQUIRE(ipv6 != nullptr);
  CHECK(*ipv6 == TunnelId{3});

  CHECK(host_routes(example.config, 0) ==
        std::vector<config::Route>{{*wire::parse_prefix("10.1.0.0/16"), 5},
                                   {*wire::parse_prefix("10.20.5.0/24"), 0}});
  CHECK(host_routes(example.config, 1) ==
        std::vector<config::Route>{{*wire::parse_prefix("10.20.0.0/16"), 200}});
  CHECK(host_routes(example.config, 2).empty());
}

TEST_CASE("tunnels that nobody could tell apart are refused, with both names") {
  Example example;
  example.config.tunnels[1].ikey = 7;
  const auto made = make_forwarding(example.config, example.ends, &one_number);
  REQUIRE(!made.ok());
  CHECK(made.error().text() ==
        "cannot tell tunnels 'paris' and 'berlin' apart: tunnel lookup\n"
        "      = why:  both have type gre, remote 198.51.100.1 and the same local end and key\n"
        "      = fix:  give each its own key (gre), or different addresses");
}

TEST_CASE("a tunnel to oneself is refused") {
  Example example;
  example.ends[2].remote = example.ends[2].local;
  const auto made = make_forwarding(example.config, example.ends, &one_number);
  REQUIRE(!made.ok());
  CHECK(made.error().subject == "start tunnel 'rome'");
  CHECK(!made.error().fix.empty());
}

TEST_CASE("the engine that the file asks for") {
  CHECK(engine_choice(config::Engine::automatic) == netio::EngineChoice::automatic);
  CHECK(engine_choice(config::Engine::io_uring) == netio::EngineChoice::io_uring);
  CHECK(engine_choice(config::Engine::epoll) == netio::EngineChoice::epoll);
}

}  // namespace ringway::router
