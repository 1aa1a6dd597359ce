// Which IPv6 packets may come out of a 6in4 tunnel.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/packet/parse.h"
#include "netio/wire/address.h"
#include "netio/wire/header.h"
#include "netio/wire/ipv6.h"
#include "router/tunnel/ip_tunnel.h"

namespace ringway::router {

namespace {

bool is_martian_source(const wire::Ipv6Address& source) noexcept {
  if (source.is_multicast() || source.is_loopback()) {
    return true;
  }
  if (source.is_unspecified()) {
    return false;
  }
  const std::span<const std::uint8_t> bytes{source.bytes};
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  if (!std::all_of(bytes.begin(), bytes.begin() + 10, is_zero)) {
    return false;
  }
  const bool compatible = bytes[10] == 0 && bytes[11] == 0;    // ::/96
  const bool mapped = bytes[10] == 0xff && bytes[11] == 0xff;  // ::ffff:0:0/96
  return compatible || mapped;
}

}  // namespace

std::optional<netio::Drop> SitCodec::admit(const netio::Packet& packet) noexcept {
  if (netio::ip_version(packet) != 6) {
    return netio::Drop::bad_inner_header;
  }
  const auto* ip = wire::header_at<wire::Ipv6Header>(packet.bytes());
  return is_martian_source(ip->source) ? std::optional{netio::Drop::martian_source} : std::nullopt;
}

}  // namespace ringway::router
