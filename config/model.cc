// What the model says about itself.
#include "config/model.h"

#include <cstdint>

namespace ringway::config {

const char* name(Kind kind) noexcept {
  switch (kind) {
    case Kind::gre:
      return "gre";
    case Kind::ipip:
      return "ipip";
    case Kind::sit:
      break;
  }
  return "sit";
}

std::uint32_t overhead_bytes(const Tunnel& tunnel) noexcept {
  constexpr std::uint32_t kIpv4Bytes = 20;  // RFC 791, no options
  constexpr std::uint32_t kWordBytes = 4;
  if (tunnel.kind != Kind::gre) {
    return kIpv4Bytes;
  }
  // RFC 2890 section 2: flags and type, then one word each for checksum, key, sequence number.
  const std::uint32_t words =
      1U + (tunnel.ocsum ? 1U : 0U) + (tunnel.okey ? 1U : 0U) + (tunnel.oseq ? 1U : 0U);
  return kIpv4Bytes + words * kWordBytes;
}

}  // namespace ringway::config
