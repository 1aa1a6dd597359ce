// OuterIpv4: the IPv4 header that carries a tunnel, and what it takes from the packet inside.
#pragma once

#include <cstdint>
#include <optional>

#include "config/model.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/wire/address.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/protocols.h"

namespace ringway::router {

// What the outer header may inherit.
struct InnerFacts {
  std::uint8_t version = 0;  // 4 or 6
  std::uint8_t tos = 0;      // TOS or traffic class, ECN included
  std::uint8_t ttl = 0;      // TTL or hop limit, after forwarding has decremented it
  bool dont_fragment = false;
};

// Reads them from a packet that parse_ip() accepted.
[[nodiscard]] InnerFacts inner_facts(const netio::Packet& packet) noexcept;

// The ECN field of the outer header for an inner one (RFC 6040 section 4.1, 4.3).
[[nodiscard]] wire::EcnField encapsulated_ecn(config::Ecn mode, wire::EcnField inner) noexcept;

// Merges the ECN field of the outer header just taken off (packet.outer_tos) into the inner header
// at l3, by the table of RFC 6040 section 4.2. Outer CE on an inner Not-ECT packet is a violation.
[[nodiscard]] std::optional<netio::Drop> decapsulate_ecn(netio::Packet& packet) noexcept;

// A ready header with a checksum that is half done; four fields differ from packet to packet.
class OuterIpv4 {
 public:
  OuterIpv4(const config::Tunnel& tunnel, wire::Ipv4Address local, wire::Ipv4Address remote,
            wire::IpProtocol protocol, std::uint16_t identification) noexcept;

  // Puts the header in front. Precondition: the sum fits into 65,535 bytes.
  void put(netio::Packet& packet, const InnerFacts& inner) noexcept;

 private:
  wire::Ipv4Header template_;
  std::uint32_t constant_sum_ = 0;  // of the words that never change
  std::uint16_t identification_;
  config::Tos tos_;
  config::Ecn ecn_;
  bool always_df_;
  bool inherit_df_;
};

}  // namespace ringway::router
