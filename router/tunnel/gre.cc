// GRE, both ways. The order of the checks is that of Linux (gre_demux.c, ip_tunnel.c), so that the
// same bad packet is counted for the same reason.
#include "router/tunnel/gre.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "config/model.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/packet/parse.h"
#include "netio/wire/checksum.h"
#include "netio/wire/gre.h"
#include "netio/wire/header.h"
#include "netio/wire/protocols.h"
#include "router/tunnel/outer.h"

namespace ringway::router {

using netio::Drop;
using wire::EtherType;

namespace {

// WCCP's redirect header: 4 bytes that may or may not precede an IPv4 packet
// (Linux net/ipv4/gre_demux.c gre_parse_header).
constexpr std::uint16_t kWccpRedirectBytes = 4;

template <class Field>
void put_at(std::span<std::uint8_t> header, std::size_t offset, Field field) noexcept {
  std::memcpy(header.data() + offset, &field, sizeof field);
}

std::uint16_t sent_flags(const config::Tunnel& tunnel) noexcept {
  return static_cast<std::uint16_t>((tunnel.ocsum ? wire::kGreChecksum : 0) |
                                    (tunnel.okey.has_value() ? wire::kGreKey : 0) |
                                    (tunnel.oseq ? wire::kGreSequence : 0));
}

}  // namespace

GreCodec::GreCodec(const config::Tunnel& tunnel) noexcept
    : flags_{sent_flags(tunnel)},
      header_bytes_{wire::gre_header_bytes(flags_)},
      key_{tunnel.okey.value_or(0)},
      want_checksum_{tunnel.icsum},
      strict_checksum_{tunnel.strict_csum},
      want_sequence_{tunnel.iseq} {}

std::optional<Drop> GreCodec::put_header(netio::Packet& packet, const InnerFacts& inner) noexcept {
  const std::span<std::uint8_t> header = packet.prepend(header_bytes_);
  const EtherType protocol = inner.version == 4 ? EtherType::ipv4 : EtherType::ipv6;
  put_at(header, 0, wire::GreBaseHeader{.flags = flags_, .protocol = protocol});
  std::size_t at = sizeof(wire::GreBaseHeader);
  if ((flags_ & wire::kGreChecksum) != 0) {
    put_at(header, at, wire::Be32{0});  // checksum and Reserved1
    at += 4;
  }
  if ((flags_ & wire::kGreKey) != 0) {
    put_at(header, at, wire::Be32{key_});
    at += 4;
  }
  if ((flags_ & wire::kGreSequence) != 0) {
    put_at(header, at, wire::Be32{next_sequence_++});
  }
  if ((flags_ & wire::kGreChecksum) != 0) {
    put_at(header, sizeof(wire::GreBaseHeader), wire::internet_checksum(packet.bytes()));
  }
  return std::nullopt;
}

std::optional<Drop> GreCodec::take_header(netio::Packet& packet) noexcept {
  const wire::GreView gre = wire::read_gre(packet.bytes());
  if (gre.error != wire::GreError::none) {
    return Drop::truncated;  // demultiplexing has read the same header: unreachable, but counted
  }
  if (gre.has_checksum()) {
    if (wire::internet_checksum(packet.bytes()).value() != 0) {
      return Drop::bad_gre_checksum;
    }
    if (strict_checksum_ && !want_checksum_) {
      return Drop::unexpected_gre_checksum;
    }
  } else if (want_checksum_) {
    return Drop::missing_gre_checksum;
  }
  if (want_sequence_) {
    if (!gre.has_sequence()) {
      return Drop::missing_sequence;
    }
    if (!accept_sequence(gre.sequence)) {
      return Drop::old_sequence;
    }
  }
  packet.strip(gre.header_bytes);
  switch (gre.protocol) {
    case EtherType::ipv4:
      announced_version_ = 4;
      return std::nullopt;
    case EtherType::ipv6:
      announced_version_ = 6;
      return std::nullopt;
    case EtherType::wccp:
      announced_version_ = 4;
      if (packet.length > kWccpRedirectBytes && netio::ip_version(packet) != 4) {
        packet.strip(kWccpRedirectBytes);
      }
      return std::nullopt;
    default:
      return Drop::unknown_protocol;
  }
}

std::optional<Drop> GreCodec::admit(const netio::Packet& packet) const noexcept {
  return netio::ip_version(packet) == announced_version_ ? std::nullopt
                                                         : std::optional{Drop::bad_inner_header};
}

// Linux net/ipv4/ip_tunnel.c: only what is older than expected is refused; a gap moves the window
// at once. The comparison is modulo 2^32 (RFC 2890 section 2.2).
bool GreCodec::accept_sequence(std::uint32_t sequence) noexcept {
  const auto ahead = static_cast<std::int32_t>(sequence - expected_sequence_);
  if (expected_sequence_ != 0 && ahead < 0) {
    return false;
  }
  expected_sequence_ = sequence + 1;
  return true;
}

}  // namespace ringway::router
