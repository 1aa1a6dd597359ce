// Plan: from a configuration and resolved ends to what a shard runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/open.h"
#include "netio/wire/protocols.h"
#include "router/path/forwarding.h"
#include "router/tunnel/kinds.h"

namespace ringway::router {

// The protocols that need a raw socket, each once, in the order of their first tunnel. The port of
// protocols[i] has the id tunnels.size() + i: TUN devices come first (ShardPlan).
[[nodiscard]] std::vector<wire::IpProtocol> needed_protocols(const config::Config& config);

// Where the outer IPv4 identification of a tunnel starts.
using RandomStart = std::function<std::uint16_t()>;

// From getrandom(2), so that nobody guesses the next one after a restart.
[[nodiscard]] std::uint16_t random_identification();

// The forwarding state of generation 1. `ends[i]` belongs to config.tunnels[i], which gets TunnelId
// i and the TUN of PortId i. Fails if two tunnels could not be told apart, or a tunnel leads back
// to its own end: names may turn out to be the same address only now.
[[nodiscard]] Result<std::unique_ptr<Forwarding>> make_forwarding(const config::Config& config,
                                                                  const std::vector<Ends>& ends,
                                                                  const RandomStart& start);

// The routes that the host needs for tunnel `index`: its own, and the transit routes via it.
[[nodiscard]] std::vector<config::Route> host_routes(const config::Config& config,
                                                     std::size_t index);

[[nodiscard]] netio::EngineChoice engine_choice(config::Engine engine) noexcept;

}  // namespace ringway::router
