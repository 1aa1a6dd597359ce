// The table of kinds. A new kind is its own file and a line in each switch here.
#include "router/tunnel/kinds.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "config/model.h"
#include "netio/wire/protocols.h"
#include "router/tunnel/gre.h"
#include "router/tunnel/ip_tunnel.h"
#include "router/tunnel/outer.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

wire::IpProtocol protocol_of(config::Kind kind) noexcept {
  switch (kind) {
    case config::Kind::gre:
      return wire::IpProtocol::gre;
    case config::Kind::ipip:
      return wire::IpProtocol::ipip;
    case config::Kind::sit:
      return wire::IpProtocol::ipv6;
  }
  return {};
}

std::unique_ptr<Tunnel> make_tunnel(const config::Tunnel& tunnel, const Ends& ends,
                                    std::uint16_t identification) {
  const wire::IpProtocol protocol = protocol_of(tunnel.kind);
  TunnelInfo info{
      .name = tunnel.name,
      .overhead_bytes = config::overhead_bytes(tunnel),
      .ordering = tunnel.oseq ? Ordering::per_tunnel : Ordering::per_flow,
      .claims =
          {{.protocol = protocol, .local = ends.local, .remote = ends.remote, .key = tunnel.ikey}},
  };
  const OuterIpv4 outer{tunnel, ends.local, ends.remote, protocol, identification};
  const auto make = [&]<class Codec>(Codec codec) -> std::unique_ptr<Tunnel> {
    return std::make_unique<IpTunnel<Codec>>(std::move(info), ends.remote, outer, codec);
  };
  switch (tunnel.kind) {
    case config::Kind::gre:
      return make(GreCodec{tunnel});
    case config::Kind::ipip:
      return make(IpipCodec{});
    case config::Kind::sit:
      return make(SitCodec{});
  }
  return nullptr;
}

}  // namespace ringway::router
