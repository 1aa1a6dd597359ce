// Ids are positions: tunnel i, its TUN port i, then the sockets.
#include "router/control/plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <sys/random.h>

#include "config/model.h"
#include "netio/base/assert.h"
#include "netio/base/result.h"
#include "netio/open.h"
#include "netio/packet/packet.h"
#include "netio/wire/address.h"
#include "netio/wire/protocols.h"
#include "router/path/forwarding.h"
#include "router/tunnel/kinds.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

namespace {

using ClaimKey = std::tuple<wire::IpProtocol, wire::Ipv4Address, wire::Ipv4Address,
                            std::optional<std::uint32_t>>;

Error same_claim(const config::Tunnel& one, const config::Tunnel& other, const Ends& ends) {
  return {"tunnel lookup", 0, "tell tunnels '" + one.name + "' and '" + other.name + "' apart",
          "both have type " + std::string{config::name(one.kind)} + ", remote " +
              wire::to_string(ends.remote) + " and the same local end and key",
          "give each its own key (gre), or different addresses"};
}

Error same_ends(const config::Tunnel& tunnel, const Ends& ends) {
  return {"remote", 0, "start tunnel '" + tunnel.name + "'",
          "its local and its remote end are both " + wire::to_string(ends.local),
          "set 'remote' to the address of the other side"};
}

std::optional<std::size_t> tunnel_index(const config::Config& config, const std::string& name) {
  const auto found =
      std::find_if(config.tunnels.begin(), config.tunnels.end(),
                   [&](const config::Tunnel& tunnel) { return tunnel.name == name; });
  if (found == config.tunnels.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::distance(config.tunnels.begin(), found));
}

// Transit routes; validation has made sure that each names a tunnel.
void add_routes(const config::Config& config, Forwarding& forwarding) {
  for (const config::TransitRoute& route : config.routes) {
    const auto index = tunnel_index(config, route.via);
    ASSERT(index.has_value());
    const auto id = static_cast<netio::TunnelId>(*index);
    if (const auto* ipv4 = std::get_if<wire::Ipv4Address>(&route.to.address)) {
      forwarding.routes4.insert({*ipv4, route.to.length}, id);
    } else {
      forwarding.routes6.insert({std::get<wire::Ipv6Address>(route.to.address), route.to.length},
                                id);
    }
  }
}

}  // namespace

std::vector<wire::IpProtocol> needed_protocols(const config::Config& config) {
  std::vector<wire::IpProtocol> out;
  for (const config::Tunnel& tunnel : config.tunnels) {
    const wire::IpProtocol protocol = protocol_of(tunnel.kind);
    if (std::find(out.begin(), out.end(), protocol) == out.end()) {
      out.push_back(protocol);
    }
  }
  return out;
}

std::uint16_t random_identification() {
  std::uint16_t number = 0;
  // At most 256 bytes never fail and never come short, once the pool is initialised (getrandom(2)).
  const ssize_t got = ::getrandom(&number, sizeof(number), 0);
  ASSERT(got == static_cast<ssize_t>(sizeof(number)));
  return number;
}

Result<std::unique_ptr<Forwarding>> make_forwarding(const config::Config& config,
                                                    const std::vector<Ends>& ends,
                                                    const RandomStart& start) {
  ASSERT(ends.size() == config.tunnels.size());
  const std::vector<wire::IpProtocol> protocols = needed_protocols(config);
  auto forwarding = std::make_unique<Forwarding>();
  forwarding->generation = 1;
  std::map<ClaimKey, std::size_t> claimed;
  for (std::size_t i = 0; i < config.tunnels.size(); ++i) {
    const config::Tunnel& tunnel = config.tunnels[i];
    if (ends[i].local == ends[i].remote) {
      return same_ends(tunnel, ends[i]);
    }
    TunnelSlot slot{make_tunnel(tunnel, ends[i], start()), static_cast<netio::PortId>(i), {}};
    const auto socket = std::find(protocols.begin(), protocols.end(), protocol_of(tunnel.kind));
    slot.underlay = static_cast<netio::PortId>(config.tunnels.size() +
                                               std::distance(protocols.begin(), socket));
    for (const DemuxClaim& claim : slot.tunnel->info().claims) {
      const auto [entry, fresh] =
          claimed.try_emplace({claim.protocol, claim.local, claim.remote, claim.key}, i);
      if (!fresh) {
        return same_claim(config.tunnels[entry->second], tunnel, ends[i]);
      }
      forwarding->demux.add(claim, static_cast<netio::TunnelId>(i));
    }
    forwarding->ingress.push_back({static_cast<netio::TunnelId>(i), {}});
    forwarding->tunnels.push_back(std::move(slot));
  }
  for (const wire::IpProtocol protocol : protocols) {
    forwarding->ingress.push_back({netio::kNoTunnel, protocol});
  }
  add_routes(config, *forwarding);
  return forwarding;
}

std::vector<config::Route> host_routes(const config::Config& config, std::size_t index) {
  std::vector<config::Route> out = config.tunnels[index].routes;
  for (const config::TransitRoute& route : config.routes) {
    if (route.via == config.tunnels[index].name) {
      out.push_back({route.to, route.metric});
    }
  }
  return out;
}

netio::EngineChoice engine_choice(config::Engine engine) noexcept {
  switch (engine) {
    case config::Engine::io_uring:
      return netio::EngineChoice::io_uring;
    case config::Engine::epoll:
      return netio::EngineChoice::epoll;
    case config::Engine::automatic:
      break;
  }
  return netio::EngineChoice::automatic;
}

}  // namespace ringway::router
