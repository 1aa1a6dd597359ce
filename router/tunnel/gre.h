// GRE over IPv4, protocol 47 (RFC 2784, RFC 2890), as a codec for IpTunnel.
#pragma once

#include <cstdint>
#include <optional>

#include "config/model.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "router/tunnel/outer.h"

namespace ringway::router {

class GreCodec {
 public:
  explicit GreCodec(const config::Tunnel& tunnel) noexcept;

  [[nodiscard]] std::optional<netio::Drop> put_header(netio::Packet& packet,
                                                      const InnerFacts& inner) noexcept;
  [[nodiscard]] std::optional<netio::Drop> take_header(netio::Packet& packet) noexcept;
  [[nodiscard]] std::optional<netio::Drop> admit(const netio::Packet& packet) const noexcept;

 private:
  [[nodiscard]] bool accept_sequence(std::uint32_t sequence) noexcept;

  // Sending.
  std::uint16_t flags_;
  std::uint16_t header_bytes_;
  std::uint32_t key_;
  std::uint32_t next_sequence_ = 0;  // RFC 2890 section 2.2: the first packet carries 0

  // Receiving.
  bool want_checksum_;
  bool strict_checksum_;
  bool want_sequence_;
  std::uint8_t announced_version_ = 0;   // of the packet in hand, by its GRE protocol type
  std::uint32_t expected_sequence_ = 0;  // last accepted + 1; 0 accepts anything
};

}  // namespace ringway::router
