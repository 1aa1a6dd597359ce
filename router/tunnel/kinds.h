// From a configured tunnel to a living one: the table of kinds.
#pragma once

#include <cstdint>
#include <memory>

#include "config/model.h"
#include "netio/wire/address.h"
#include "netio/wire/protocols.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

// The two ends after names and interfaces have become addresses. An unspecified local lets the host
// choose the source and accepts any destination.
struct Ends {
  wire::Ipv4Address local;
  wire::Ipv4Address remote;
};

// The IP protocol whose raw socket carries this kind.
[[nodiscard]] wire::IpProtocol protocol_of(config::Kind kind) noexcept;

// `identification` is where the outer IPv4 id starts; pass a random number.
[[nodiscard]] std::unique_ptr<Tunnel> make_tunnel(const config::Tunnel& tunnel, const Ends& ends,
                                                  std::uint16_t identification);

}  // namespace ringway::router
