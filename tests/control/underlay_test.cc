// MTU sums (reference: the kernel's own tunnels) and circles of tunnels.
#include "router/control/underlay.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "config/model.h"
#include "netio/wire/address.h"
#include "router/control/netlink.h"

namespace ringway::router {

namespace {

using config::Kind;
using config::Tunnel;

Tunnel tunnel(Kind kind) {
  Tunnel out;
  out.name = "paris";
  out.interface = "paris";
  out.kind = kind;
  return out;
}

Tunnel keyed() {
  Tunnel out = tunnel(Kind::gre);
  out.ikey = out.okey = 42;
  return out;
}

Tunnel full() {
  Tunnel out = keyed();
  out.icsum = out.ocsum = out.iseq = out.oseq = true;
  return out;
}

Tunnel with_address(Tunnel out, const char* address) {
  out.addresses.push_back(*wire::parse_prefix(address));
  return out;
}

Tunnel with_mtu(Tunnel out, std::uint32_t mtu) {
  out.mtu = mtu;
  return out;
}

std::optional<RemotePath> path(std::uint32_t mtu) {
  return RemotePath{2, "eth0", mtu, false};
}

}  // namespace

TEST_CASE("the MTU of an interface") {
  struct Row {
    const char* name;
    Tunnel tunnel;
    std::vector<config::Route> routes;
    std::optional<RemotePath> path;
    std::uint32_t mtu;
    const char* reason;
    bool warns;
  };
  const config::Route ipv6_route{*wire::parse_prefix("2001:db8::/32"), 0};
  const std::vector<Row> rows{
      {"ipip", tunnel(Kind::ipip), {}, path(1500), 1480, "eth0 1500 - 20", false},
      {"sit", tunnel(Kind::sit), {}, path(1500), 1480, "eth0 1500 - 20", false},
      {"gre", tunnel(Kind::gre), {}, path(1500), 1476, "eth0 1500 - 24", false},
      {"gre key", keyed(), {}, path(1500), 1472, "eth0 1500 - 28", false},
      {"gre key csum seq", full(), {}, path(1500), 1464, "eth0 1500 - 36", false},
      {"pppoe", tunnel(Kind::gre), {}, path(1492), 1468, "eth0 1492 - 24", false},
      {"jumbo", tunnel(Kind::gre), {}, path(9000), 8976, "eth0 9000 - 24", false},
      {"lo", tunnel(Kind::ipip), {}, path(65536), 65515, "eth0 65536 - 20", false},
      {"no route",
       tunnel(Kind::gre),
       {},
       std::nullopt,
       1476,
       "no route to the remote: 1500 - 24",
       true},
      {"configured", with_mtu(tunnel(Kind::gre), 1400), {}, path(1500), 1400, "configured", false},
      {"configured without route",
       with_mtu(tunnel(Kind::gre), 1400),
       {},
       std::nullopt,
       1400,
       "configured",
       false},
      {"configured too large",
       with_mtu(tunnel(Kind::gre), 1500),
       {},
       path(1500),
       1500,
       "configured",
       true},
      {"sit needs 1280",
       tunnel(Kind::sit),
       {},
       path(1280),
       1280,
       "eth0 1280 - 20, at least 1280",
       true},
      {"gre with ipv6 needs 1280",
       with_address(tunnel(Kind::gre), "fd00::1/64"),
       {},
       path(1000),
       1280,
       "eth0 1000 - 24, at least 1280",
       true},
      {"gre with an ipv6 route needs 1280",
       tunnel(Kind::gre),
       {ipv6_route},
       path(1000),
       1280,
       "eth0 1000 - 24, at least 1280",
       true},
      {"gre with ipv4 only does not",
       with_address(tunnel(Kind::gre), "10.0.0.1/24"),
       {},
       path(1000),
       976,
       "eth0 1000 - 24",
       false},
      {"no room at all", tunnel(Kind::ipip), {}, path(10), 68, "eth0 10 - 20, at least 68", true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const MtuChoice choice = choose_mtu(row.tunnel, row.routes, row.path);
    CHECK(choice.mtu == row.mtu);
    CHECK(choice.reason == row.reason);
    CHECK(choice.warning.empty() == !row.warns);
    CHECK(choice.automatic == !row.tunnel.mtu.has_value());
  }
}

TEST_CASE("which families a kind carries") {
  CHECK(carries_ipv4(Kind::gre));
  CHECK(carries_ipv6(Kind::gre));
  CHECK(carries_ipv4(Kind::ipip));
  CHECK(!carries_ipv6(Kind::ipip));
  CHECK(!carries_ipv4(Kind::sit));
  CHECK(carries_ipv6(Kind::sit));
}

TEST_CASE("circles are found, nesting is not one") {
  using Carrier = std::vector<std::optional<std::size_t>>;
  using Loop = std::vector<std::size_t>;
  struct Row {
    const char* name;
    Carrier carrier;
    Loop loop;
  };
  constexpr std::nullopt_t kHost = std::nullopt;
  const std::vector<Row> rows{
      {"none", {}, {}},
      {"side by side", {kHost, kHost}, {}},
      {"one within another", {kHost, 0, 1}, {}},
      {"two within one", {kHost, 0, 0}, {}},
      {"itself", {0}, {0}},
      {"the second itself", {kHost, 1}, {1}},
      {"two of each other", {1, 0}, {0, 1}},
      {"three, and one that leads in", {1, 2, 3, 1}, {1, 2, 3}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(find_loop(row.carrier) == row.loop);
  }
}

}  // namespace ringway::router
