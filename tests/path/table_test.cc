// Demux and Lpm against slow models that are right by inspection.
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "netio/wire/address.h"
#include "router/path/demux.h"
#include "router/path/lpm.h"

namespace ringway::test {
namespace {

using netio::TunnelId;
using router::DemuxClaim;
using router::OuterFlow;

// Linux's passes, one after the other (net/ipv4/ip_tunnel.c ip_tunnel_lookup).
TunnelId slow_lookup(const std::vector<DemuxClaim>& claims, const OuterFlow& flow) {
  const wire::Ipv4Address any;
  for (const auto& [remote, local] :
       {std::pair{flow.source, flow.destination}, std::pair{flow.source, any},
        std::pair{any, flow.destination}, std::pair{any, any}}) {
    // The last equal claim counts, as add() replaces.
    for (std::size_t i = claims.size(); i-- > 0;) {
      if (claims[i].protocol == flow.protocol && claims[i].remote == remote &&
          claims[i].local == local && claims[i].key == flow.key) {
        return static_cast<TunnelId>(i);
      }
    }
  }
  return netio::kNoTunnel;
}

TEST_CASE("demux agrees with the passes of Linux on random claims and packets") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto below = [&](std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>{0, limit - 1}(random);
  };
  // Few values, so that claims overlap and packets hit.
  const auto address = [&](std::uint32_t wildcard_odds) {
    return below(wildcard_odds) == 0 ? wire::Ipv4Address{}
                                     : wire::Ipv4Address::from_u32(0x0a000000 + below(12));
  };
  const auto protocol = [&] {
    return below(2) == 0 ? wire::IpProtocol::gre : wire::IpProtocol::ipip;
  };
  const auto key = [&] { return below(2) == 0 ? std::optional{below(3)} : std::nullopt; };
  for (int round = 0; round < 50; ++round) {
    router::Demux demux;
    std::vector<DemuxClaim> claims;
    const std::uint32_t count = 1 + below(120);
    for (std::uint32_t i = 0; i < count; ++i) {
      claims.push_back(
          {.protocol = protocol(), .local = address(3), .remote = address(3), .key = key()});
      demux.add(claims.back(), static_cast<TunnelId>(i));
    }
    for (int i = 0; i < 500; ++i) {
      const OuterFlow flow{.protocol = protocol(),
                           .source = address(1000),
                           .destination = address(1000),
                           .key = key()};
      REQUIRE(demux.lookup(flow) == slow_lookup(claims, flow));
    }
  }
}

TEST_CASE("an empty demux knows nobody") {
  const router::Demux demux;
  CHECK(demux.lookup(OuterFlow{}) == netio::kNoTunnel);
}

template <class Address>
struct SlowRoute {
  wire::Prefix<Address> prefix;
  int value = 0;
};

template <class Address>
bool covers(const wire::Prefix<Address>& prefix, const Address& address) {
  for (std::uint32_t bit = 0; bit < prefix.length; ++bit) {
    const auto at = [bit](const Address& a) { return (a.bytes[bit / 8] >> (7 - bit % 8)) & 1; };
    if (at(prefix.address) != at(address)) {
      return false;
    }
  }
  return true;
}

template <class Address>
std::optional<int> slow_match(const std::vector<SlowRoute<Address>>& routes,
                              const Address& address) {
  const SlowRoute<Address>* best = nullptr;
  for (const auto& route : routes) {
    if (covers(route.prefix, address) &&
        (best == nullptr || route.prefix.length >= best->prefix.length)) {
      best = &route;  // >=: a prefix inserted twice has its last value
    }
  }
  return best == nullptr ? std::nullopt : std::optional{best->value};
}

template <class Address>
void compare_with_model() {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto address = [&] {
    // Clustered: the first bytes take few values, so that prefixes nest.
    Address made;
    for (std::size_t i = 0; i < made.bytes.size(); ++i) {
      made.bytes[i] = static_cast<std::uint8_t>(random() % (i < made.bytes.size() / 2 ? 2 : 256));
    }
    return made;
  };
  for (int round = 0; round < 20; ++round) {
    router::Lpm<Address, int> lpm;
    std::vector<SlowRoute<Address>> routes;
    for (int i = 0; i < 150; ++i) {
      const auto length = static_cast<std::uint8_t>(random() % (sizeof(Address) * 8 + 1));
      routes.push_back({{address(), length}, i});
      lpm.insert(routes.back().prefix, i);
    }
    for (int i = 0; i < 300; ++i) {
      // Half of the addresses lie in some inserted prefix for sure.
      Address wanted = address();
      if (i % 2 == 0) {
        wanted = routes[random() % routes.size()].prefix.address;
      }
      const int* found = lpm.lookup(wanted);
      const auto expected = slow_match(routes, wanted);
      REQUIRE((found != nullptr) == expected.has_value());
      if (found != nullptr) {
        REQUIRE(*found == *expected);
      }
    }
  }
}

TEST_CASE("lpm agrees with a linear search, IPv4") {
  compare_with_model<wire::Ipv4Address>();
}
TEST_CASE("lpm agrees with a linear search, IPv6") {
  compare_with_model<wire::Ipv6Address>();
}

TEST_CASE("lpm at its edges") {
  router::Lpm<wire::Ipv4Address, int> lpm;
  CHECK(lpm.empty());
  CHECK(lpm.lookup({{1, 2, 3, 4}}) == nullptr);
  lpm.insert({{{0, 0, 0, 0}}, 0}, 1);
  lpm.insert({{{255, 255, 255, 255}}, 32}, 2);
  lpm.insert({{{10, 1, 2, 3}}, 8}, 3);  // host bits do not count
  CHECK(*lpm.lookup({{1, 2, 3, 4}}) == 1);
  CHECK(*lpm.lookup({{255, 255, 255, 255}}) == 2);
  CHECK(*lpm.lookup({{255, 255, 255, 254}}) == 1);
  CHECK(*lpm.lookup({{10, 255, 0, 0}}) == 3);
}

}  // namespace
}  // namespace ringway::test
