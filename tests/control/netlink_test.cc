// rtnetlink in a namespace of our own; the oracle is iproute2.
#include "router/control/netlink.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "config/model.h"
#include "netio/wire/address.h"
#include "router/control/resolve.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

using nlohmann::json;

wire::IpPrefix prefix(const char* text) {
  return *wire::parse_prefix(text);
}
wire::Ipv4Address ip(const char* text) {
  return *wire::parse_ipv4(text);
}

Netlink open() {
  auto netlink = Netlink::open();
  REQUIRE(netlink.ok());
  return std::move(netlink).value();
}

json ip_json(const std::string& command) {
  return json::parse(test::must("ip -j " + command));
}

// A dummy interface, which needs no module on most kernels; else half a veth pair.
void make_interface(const std::string& name) {
  if (test::shell("ip link add " + name + " type dummy").status != 0) {
    test::must("ip link add " + name + " type veth peer name " + name + "p");
    test::must("ip link set " + name + "p up");
  }
}

Interface interface(Netlink& netlink, const std::string& name) {
  auto link = netlink.link(name);
  REQUIRE(link.ok());
  REQUIRE(link.value().has_value());
  return link.value()->interface;
}

}  // namespace

TEST_CASE("links are found by name and by index, and changed") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_interface("d0");
  Netlink netlink = open();
  auto link = netlink.link("d0");
  REQUIRE(link.ok());
  REQUIRE(link.value().has_value());
  const json oracle = ip_json("link show d0")[0];
  CHECK(link.value()->interface.index == oracle["ifindex"]);
  CHECK(link.value()->interface.name == "d0");
  CHECK(link.value()->mtu == oracle["mtu"]);
  CHECK(link.value()->queue_length == oracle["txqlen"]);
  CHECK(!link.value()->up);
  CHECK(netlink.link(link.value()->interface.index).value()->interface.name == "d0");
  CHECK(!netlink.link("absent").value().has_value());
  CHECK(!netlink.link(4711).value().has_value());

  const Interface d0 = link.value()->interface;
  CHECK(netlink.set_mtu(d0, 1400).ok());
  CHECK(netlink.set_queue_length(d0, 777).ok());
  CHECK(netlink.set_up(d0, true).ok());
  const json after = ip_json("link show d0")[0];
  CHECK(after["mtu"] == 1400);
  CHECK(after["txqlen"] == 777);
  CHECK(std::count(after["flags"].begin(), after["flags"].end(), "UP") == 1);
  CHECK(netlink.link("d0").value()->up);
  CHECK(netlink.set_up(d0, false).ok());
  CHECK(!netlink.link("d0").value()->up);
  CHECK(netlink.remove_link(d0).ok());
  CHECK(!netlink.link("d0").value().has_value());
}

TEST_CASE("a failure carries errno, what was tried, and the kernel's own words") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_interface("d0");
  Netlink netlink = open();
  const Interface d0 = interface(netlink, "d0");
  const auto mtu = netlink.set_mtu(d0, 1);
  REQUIRE(!mtu.ok());
  CHECK(mtu.error().operation == "RTM_NEWLINK");
  CHECK(mtu.error().number == EINVAL);
  CHECK(mtu.error().subject == "set the MTU of 'd0' to 1");
  CHECK(mtu.error().why.find("mtu less than") != std::string::npos);  // net/core/dev.c
  const auto gone = netlink.add_address({4711, "gone"}, prefix("10.0.0.1/24"));
  REQUIRE(!gone.ok());
  CHECK(gone.error().number == ENODEV);
  // The conversation goes on after an error.
  CHECK(netlink.link("d0").value().has_value());
}

TEST_CASE("addresses of both families are added, listed and removed") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_interface("d0");
  Netlink netlink = open();
  const Interface d0 = interface(netlink, "d0");
  CHECK(netlink.add_address(d0, prefix("10.1.2.3/24")).ok());
  CHECK(netlink.add_address(d0, prefix("10.1.2.4/24")).ok());
  CHECK(netlink.add_address(d0, prefix("fd00:1::3/64")).ok());
  auto twice = netlink.add_address(d0, prefix("10.1.2.3/24"));
  REQUIRE(!twice.ok());
  CHECK(twice.error().number == EEXIST);

  auto listed = netlink.addresses(d0.index);
  REQUIRE(listed.ok());
  REQUIRE(listed.value().size() == 3);
  CHECK(listed.value()[0].prefix == prefix("10.1.2.3/24"));
  CHECK(!listed.value()[0].secondary);
  CHECK(listed.value()[1].secondary);
  CHECK(listed.value()[2].prefix == prefix("fd00:1::3/64"));
  const auto all = netlink.addresses(0);
  REQUIRE(all.ok());
  CHECK(std::any_of(all.value().begin(), all.value().end(), [](const InterfaceAddress& one) {
    return one.prefix == prefix("127.0.0.1/8") && one.host_scope;
  }));

  const json info = ip_json("addr show d0")[0]["addr_info"];
  REQUIRE(info.size() == 3);
  CHECK(info[0]["local"] == "10.1.2.3");
  CHECK(info[0]["prefixlen"] == 24);
  CHECK(!info[0].contains("address"));  // no peer: a plain prefix
  CHECK(info[2]["local"] == "fd00:1::3");
  CHECK(info[2].value("nodad", false));

  for (const char* text : {"10.1.2.4/24", "10.1.2.3/24", "fd00:1::3/64"}) {
    CHECK(netlink.remove_address(d0, prefix(text)).ok());
  }
  CHECK(netlink.addresses(d0.index).value().empty());
  CHECK(ip_json("addr show d0")[0]["addr_info"].empty());
}

TEST_CASE("routes of both families are added, listed and removed") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_interface("d0");
  test::must("ip link set d0 up");
  Netlink netlink = open();
  const Interface d0 = interface(netlink, "d0");
  const std::vector<config::Route> routes{{prefix("10.20.0.0/16"), 0},
                                          {prefix("10.20.0.0/16"), 200},
                                          {prefix("0.0.0.0/0"), 5},
                                          {prefix("2001:db8:20::/48"), 0},
                                          {prefix("::/0"), 99}};
  for (const config::Route& route : routes) {
    CHECK(netlink.add_route(d0, route).ok());
  }
  const std::string shown = test::must("ip route show proto 217; ip -6 route show proto 217");
  for (const char* line :
       {"10.20.0.0/16 dev d0 scope link \n", "10.20.0.0/16 dev d0 scope link metric 200",
        "default dev d0 scope link metric 5", "2001:db8:20::/48 dev d0 metric 1024",
        "default dev d0 metric 99"}) {
    CAPTURE(line);
    CAPTURE(shown);
    CHECK(shown.find(line) != std::string::npos);
  }
  auto listed = netlink.routes(d0.index);
  REQUIRE(listed.ok());
  for (const config::Route& route : routes) {
    CHECK(std::count_if(listed.value().begin(), listed.value().end(), [&](const HostRoute& one) {
            return one.route.to == route.to && one.route.metric == kernel_metric(route) &&
                   one.protocol == kRouteProtocol;
          }) == 1);
  }
  const auto twice = netlink.add_route(d0, routes[0]);
  REQUIRE(!twice.ok());
  CHECK(twice.error().number == EEXIST);
  CHECK(twice.error().fix.find("metric") != std::string::npos);
  for (const config::Route& route : routes) {
    CHECK(netlink.remove_route(d0, route).ok());
  }
  CHECK(test::must("ip route show proto 217; ip -6 route show proto 217").empty());
  CHECK(netlink.remove_route(d0, routes[0]).error().number == ESRCH);
}

TEST_CASE("the way to a remote: interface, MTU, or none") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_interface("d0");
  make_interface("d1");
  test::must(
      "ip link set d0 up mtu 1400; ip addr add 192.0.2.1/24 dev d0; ip link set d1 up;"
      "ip route add 198.51.100.0/24 via 192.0.2.254 mtu 1300;"
      "ip route add unreachable 198.51.100.66/32; ip route add blackhole 198.51.100.67/32;"
      "ip addr add 203.0.113.1/32 dev d1;"
      "ip rule add from 203.0.113.1 lookup 77; ip route add 198.51.100.0/24 dev d1 table 77");
  Netlink netlink = open();
  struct Row {
    const char* name;
    const char* remote;
    const char* source;
    const char* interface;  // null: no route
    std::uint32_t mtu;
    bool local;
  };
  const std::array<Row, 8> rows{{
      {"on the link", "192.0.2.9", "0.0.0.0", "d0", 1400, false},
      {"a route with an MTU of its own", "198.51.100.7", "0.0.0.0", "d0", 1300, false},
      {"by source, with a policy rule", "198.51.100.7", "203.0.113.1", "d1", 1500, false},
      {"by a source that is not ours", "198.51.100.7", "192.0.2.77", "d0", 1300, false},
      {"unreachable", "198.51.100.66", "0.0.0.0", nullptr, 0, false},
      {"blackhole", "198.51.100.67", "0.0.0.0", nullptr, 0, false},
      {"no route", "8.8.8.8", "192.0.2.1", nullptr, 0, false},
      {"ourselves", "192.0.2.1", "0.0.0.0", "lo", 65536, true},
  }};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto path = netlink.path_to(ip(row.remote), ip(row.source));
    REQUIRE(path.ok());
    CHECK(path.value().has_value() == (row.interface != nullptr));
    if (path.value() && row.interface != nullptr) {
      CHECK(path.value()->interface_name == row.interface);
      CHECK(path.value()->mtu == row.mtu);
      CHECK(path.value()->local == row.local);
    }
  }
}

TEST_CASE("the local end: unspecified, an address, or that of an interface") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_interface("d0");
  make_interface("d1");
  test::must(
      "ip addr add 192.0.2.1/24 dev d0; ip addr add 192.0.2.2/24 dev d0; "
      "ip addr add fd00::1/64 dev d1");
  Netlink netlink = open();
  CHECK(resolve_local(netlink, {}, "paris").value().is_unspecified());
  CHECK(resolve_local(netlink, ip("203.0.113.9"), "paris").value() == ip("203.0.113.9"));
  CHECK(resolve_local(netlink, config::InterfaceName{"d0"}, "paris").value() == ip("192.0.2.1"));
  const auto bare = resolve_local(netlink, config::InterfaceName{"d1"}, "paris");
  REQUIRE(!bare.ok());
  CHECK(bare.error().number == EADDRNOTAVAIL);
  CHECK(bare.error().why == "it has no IPv4 address");
  const auto absent = resolve_local(netlink, config::InterfaceName{"eth7"}, "paris");
  REQUIRE(!absent.ok());
  CHECK(absent.error().number == ENODEV);
  CHECK(absent.error().subject.find("'paris'") != std::string::npos);
}

TEST_CASE("the remote end: an address, or a name that has one") {
  CHECK(resolve_remote(ip("198.51.100.7"), "paris").value() == ip("198.51.100.7"));
  // From /etc/hosts, so that no name server is asked.
  CHECK(resolve_remote(config::HostName{"localhost"}, "paris").value() == ip("127.0.0.1"));
  // RFC 6761 section 6.4: never resolves. In a namespace without a way out no server answers.
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  const auto absent = resolve_remote(config::HostName{"paris.invalid"}, "paris");
  REQUIRE(!absent.ok());
  CHECK(absent.error().subject ==
        "find the address of 'paris.invalid', the remote of tunnel 'paris'");
  CHECK(!absent.error().why.empty());
  CHECK(!absent.error().fix.empty());
}

}  // namespace ringway::router
