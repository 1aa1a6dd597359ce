// Routes against each other and against the remotes: twice the same, and packets that would be
// encapsulated again and again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "config/codes.h"
#include "config/draft.h"
#include "config/fields.h"
#include "config/model.h"
#include "config/report.h"
#include "config/source.h"
#include "config/validate.h"
#include "netio/wire/address.h"

namespace ringway::config {

namespace {

// A route that this file puts into the host's table.
struct Installed {
  wire::IpPrefix to;
  std::uint32_t metric = 0;
  std::size_t tunnel = 0;
  Span where;
  enum class From : std::uint8_t { route, address, transit } from = From::route;
};

std::string describe(const Installed& route) {
  const std::string_view what = route.from == Installed::From::address ? "address" : "route";
  return fmt::format("{} {}", what, to_string(route.to));
}

// The routes around an address: together they hold all of `whole` but this one address.
std::vector<wire::IpPrefix> prefixes_around(const wire::IpPrefix& whole,
                                            wire::Ipv4Address address) {
  std::vector<std::pair<std::uint32_t, std::uint8_t>> parts;
  for (std::uint32_t length = whole.length + 1U; length <= 32; ++length) {
    const std::uint32_t bit = 1U << (32 - length);
    const std::uint32_t sibling = (address.to_u32() ^ bit) & ~(bit - 1);
    parts.emplace_back(sibling, static_cast<std::uint8_t>(length));
  }
  std::sort(parts.begin(), parts.end());
  std::vector<wire::IpPrefix> prefixes;
  prefixes.reserve(parts.size());
  for (const auto& [network, length] : parts) {
    prefixes.push_back({wire::Ipv4Address::from_u32(network), length});
  }
  return prefixes;
}

class RouteChecker {
 public:
  RouteChecker(const Draft& draft, const Config& config, Report& report)
      : draft_{draft}, config_{config}, report_{report} {}

  void run();

 private:
  // What chooses among the routes to one network: the metric that is in effect.
  [[nodiscard]] static std::uint32_t effective_metric(const Installed& route) noexcept {
    constexpr std::uint32_t kIpv6Default = 1024;  // net/ipv6/route.c IP6_RT_PRIO_USER
    return route.to.is_ipv4() || route.metric != 0 ? route.metric : kIpv6Default;
  }
  [[nodiscard]] static std::uint64_t index_key(std::uint32_t network, std::uint32_t length) {
    return (std::uint64_t{length} << 32) | network;
  }

  void collect();
  void add(const PrefixItem& item, std::size_t tunnel, Installed::From from);
  void check_twice();
  void index_ipv4();
  [[nodiscard]] const Installed* way_to(wire::Ipv4Address remote) const;
  [[nodiscard]] const wire::Ipv4Address* remote_of(std::size_t tunnel) const;
  void check_named_remote(std::size_t tunnel);
  void follow(std::size_t tunnel);
  void report_loop(const Installed& route, wire::Ipv4Address remote);
  void report_ring(const std::vector<std::size_t>& path, const Installed& last);

  const Draft& draft_;
  const Config& config_;
  Report& report_;
  std::vector<Installed> routes_;
  std::unordered_map<std::uint64_t, const Installed*> ipv4_;  // the best per network
};

void RouteChecker::run() {
  collect();
  check_twice();
  index_ipv4();
  for (std::size_t i = 0; i < draft_.tunnels.size(); ++i) {
    check_named_remote(i);
    follow(i);
  }
}

void RouteChecker::add(const PrefixItem& item, std::size_t tunnel, Installed::From from) {
  routes_.push_back({item.prefix, item.metric, tunnel, item.where, from});
}

void RouteChecker::collect() {
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < draft_.tunnels.size(); ++i) {
    const TunnelDraft& tunnel = draft_.tunnels[i];
    by_name.emplace(tunnel.name, i);
    if (const auto* items = tunnel.slots.get<std::vector<PrefixItem>>(FieldId::addresses)) {
      for (const PrefixItem& item : *items) {
        add(item, i, Installed::From::address);
      }
    }
    if (const auto* items = tunnel.slots.get<std::vector<PrefixItem>>(FieldId::routes)) {
      for (const PrefixItem& item : *items) {
        add(item, i, Installed::From::route);
      }
    }
  }
  for (const PrefixItem& item : draft_.transit) {
    if (const auto found = by_name.find(item.via); found != by_name.end()) {
      add(item, found->second, Installed::From::transit);
    }
  }
}

// Two routes to one network with one metric: the kernel takes the first only (EEXIST). And a second
// route to one network through one tunnel leads nowhere new, whatever its metric.
void RouteChecker::check_twice() {
  std::vector<const Installed*> sorted;
  for (const Installed& route : routes_) {
    if (route.from != Installed::From::address) {
      sorted.push_back(&route);
    }
  }
  const auto rank = [](const Installed* route) {
    return std::tie(route->to.address, route->to.length, route->where.offset);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&rank](const Installed* a, const Installed* b) { return rank(a) < rank(b); });
  std::size_t first = 0;  // of those to one network
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Installed& ours = *sorted[i];
    if (!(sorted[first]->to == ours.to)) {
      first = i;
      continue;
    }
    for (std::size_t j = first; j < i; ++j) {
      const Installed& theirs = *sorted[j];
      const bool same_tunnel = theirs.tunnel == ours.tunnel;
      if (!same_tunnel && effective_metric(theirs) != effective_metric(ours)) {
        continue;
      }
      auto& error = report_.error(
          Code::route_twice, ours.where,
          fmt::format("route {} stands twice{}", to_string(ours.to),
                      same_tunnel ? " for " + quoted(config_.tunnels[ours.tunnel].name)
                                  : " with the same metric"));
      error.hint =
          fmt::format("first in line {}{}", report_.source().position(theirs.where.offset).line,
                      same_tunnel ? "" : "; give one of them another metric");
      break;
    }
  }
}

void RouteChecker::index_ipv4() {
  for (const Installed& route : routes_) {
    const wire::IpPrefix network = network_of(route.to);
    const auto* address = std::get_if<wire::Ipv4Address>(&network.address);
    if (address == nullptr) {
      continue;
    }
    const auto [known, is_new] =
        ipv4_.emplace(index_key(address->to_u32(), network.length), &route);
    if (!is_new && effective_metric(route) < effective_metric(*known->second)) {
      known->second = &route;
    }
  }
}

// The longest match among the routes of this file. What else is in the host's table is not known
// here: a route there may be longer, or may be gone tomorrow.
const Installed* RouteChecker::way_to(wire::Ipv4Address remote) const {
  for (std::uint32_t length = 33; length-- > 0;) {
    const std::uint32_t mask = length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
    const auto found = ipv4_.find(index_key(remote.to_u32() & mask, length));
    if (found != ipv4_.end()) {
      return found->second;
    }
  }
  return nullptr;
}

const wire::Ipv4Address* RouteChecker::remote_of(std::size_t tunnel) const {
  const auto* remote = draft_.tunnels[tunnel].slots.get<Remote>(FieldId::remote);
  return remote == nullptr ? nullptr : std::get_if<wire::Ipv4Address>(remote);
}

// The address behind a name is not known yet, but some routes hold every address there is: the
// default route, and its two halves, which many write to win over the host's default route.
void RouteChecker::check_named_remote(std::size_t tunnel) {
  const auto* remote = draft_.tunnels[tunnel].slots.get<Remote>(FieldId::remote);
  const auto* name = remote == nullptr ? nullptr : std::get_if<HostName>(remote);
  const auto ours = [this, tunnel](std::uint32_t network, std::uint32_t length) {
    const auto found = ipv4_.find(index_key(network, length));
    return found != ipv4_.end() && found->second->tunnel == tunnel ? found->second : nullptr;
  };
  const Installed* whole = ours(0, 0);
  const Installed* half = ours(0, 1);
  const Installed* other_half = ours(0x80000000U, 1);
  const Installed* route = half != nullptr && other_half != nullptr ? half : whole;
  if (name == nullptr || route == nullptr) {
    return;
  }
  report_
      .error(
          Code::route_loop, route->where,
          fmt::format("{} via {} would carry the tunnel's own remote {} (loop)", describe(*route),
                      quoted(config_.tunnels[tunnel].name), quoted(name->name)))
      .help = "give the remote by its address, and routes that leave this address out";
}

void RouteChecker::report_loop(const Installed& route, wire::Ipv4Address remote) {
  auto& error = report_.error(
      Code::route_loop, route.where,
      fmt::format("{} via {} would carry the tunnel's own remote {} (loop)", describe(route),
                  quoted(config_.tunnels[route.tunnel].name), to_string(remote)));
  if (route.from == Installed::From::address) {
    error.help = "inside the tunnel use a network that does not hold the remote";
    return;
  }
  const auto around = prefixes_around(route.to, remote);
  if (around.empty()) {
    error.help = "leave this route out: the remote is reached outside the tunnel";
    return;
  }
  std::string list;
  for (const wire::IpPrefix& prefix : around) {
    list += (list.empty() ? "" : ", ") + to_string(prefix);
  }
  error.help =
      fmt::format("to route all of {} but the remote, write  {}", to_string(route.to), list);
}

// `last` leads from the end of the path back to its beginning.
void RouteChecker::report_ring(const std::vector<std::size_t>& path, const Installed& last) {
  constexpr std::size_t kNamesMax = 6;
  std::string names;
  for (std::size_t i = 0; i < std::min(path.size(), kNamesMax); ++i) {
    names += (i == 0 ? "" : ", ") + quoted(config_.tunnels[path[i]].name);
  }
  report_
      .error(Code::mutual_loop, last.where,
             fmt::format("tunnels {}{} would carry each other: {} via {} holds the remote of {}",
                         names, path.size() > kNamesMax ? ", ..." : "", describe(last),
                         quoted(config_.tunnels[last.tunnel].name),
                         quoted(config_.tunnels[path.back()].name)))
      .hint = "leave that remote out";
}

// Follows the way of a tunnel's outer packets from tunnel to tunnel. One tunnel inside another is
// fine; coming back is not.
void RouteChecker::follow(std::size_t tunnel) {
  std::vector<std::size_t> path{tunnel};
  const wire::Ipv4Address* remote = remote_of(tunnel);
  while (remote != nullptr) {
    const Installed* way = way_to(*remote);
    if (way == nullptr) {
      return;
    }
    if (way->tunnel == path.back()) {
      // Further along, the inner tunnel reports its own loop itself.
      if (path.size() == 1) {
        report_loop(*way, *remote);
      }
      return;
    }
    const auto seen = std::find(path.begin(), path.end(), way->tunnel);
    if (seen != path.end()) {
      // Said once for the whole ring: by its first tunnel in the file, which sees itself again.
      const bool is_first =
          seen == path.begin() && *std::min_element(path.begin(), path.end()) == tunnel;
      if (is_first) {
        report_ring(path, *way);
      }
      return;
    }
    path.push_back(way->tunnel);
    remote = remote_of(way->tunnel);
  }
}

}  // namespace

void validate_routes(const Draft& draft, const Config& config, Report& report) {
  RouteChecker{draft, config, report}.run();
}

}  // namespace ringway::config
