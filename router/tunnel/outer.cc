// Putting on the outer IPv4 header, and the ECN rules of both directions.
#include "router/tunnel/outer.h"

#include <cstdint>
#include <cstring>
#include <optional>

#include "config/model.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/packet/parse.h"
#include "netio/wire/address.h"
#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"
#include "netio/wire/protocols.h"

namespace ringway::router {

using wire::EcnField;
using wire::Ipv4Header;
using wire::Ipv6Header;

InnerFacts inner_facts(const netio::Packet& packet) noexcept {
  if (netio::ip_version(packet) == 4) {
    const auto* ip = wire::header_at<Ipv4Header>(packet.bytes());
    return {.version = 4, .tos = ip->tos, .ttl = ip->ttl, .dont_fragment = ip->dont_fragment()};
  }
  const auto* ip = wire::header_at<Ipv6Header>(packet.bytes());
  return {.version = 6, .tos = ip->traffic_class(), .ttl = ip->hop_limit, .dont_fragment = false};
}

EcnField encapsulated_ecn(config::Ecn mode, EcnField inner) noexcept {
  switch (mode) {
    case config::Ecn::rfc6040:
      return inner;
    case config::Ecn::linux:
      return inner == EcnField::ce ? EcnField::ect0 : inner;
    case config::Ecn::off:
      return EcnField::not_ect;
  }
  return EcnField::not_ect;
}

std::optional<netio::Drop> decapsulate_ecn(netio::Packet& packet) noexcept {
  const EcnField outer = wire::ecn_of(packet.outer_tos);
  if (outer == EcnField::not_ect || outer == EcnField::ect0) {
    return std::nullopt;  // the two columns of the table that change nothing
  }
  const InnerFacts facts = inner_facts(packet);
  const EcnField inner = wire::ecn_of(facts.tos);
  if (inner == EcnField::not_ect) {
    // ECT(1) on Not-ECT is odd but harmless; CE would hide congestion from a sender that cannot
    // be told of it.
    return outer == EcnField::ce ? std::optional{netio::Drop::ecn_violation} : std::nullopt;
  }
  if (inner == EcnField::ce || inner == outer) {
    return std::nullopt;
  }
  const auto tos =
      static_cast<std::uint8_t>((facts.tos & ~wire::kEcnMask) | static_cast<std::uint8_t>(outer));
  if (facts.version == 4) {
    wire::header_at<Ipv4Header>(packet.bytes())->set_tos(tos);
  } else {
    wire::header_at<Ipv6Header>(packet.bytes())->set_traffic_class(tos);
  }
  return std::nullopt;
}

OuterIpv4::OuterIpv4(const config::Tunnel& tunnel, wire::Ipv4Address local,
                     wire::Ipv4Address remote, wire::IpProtocol protocol,
                     std::uint16_t identification) noexcept
    : identification_{identification},
      tos_{tunnel.tos},
      ecn_{tunnel.ecn},
      always_df_{tunnel.pmtudisc},
      inherit_df_{!tunnel.ignore_df} {
  template_.ttl = tunnel.ttl;
  template_.protocol = protocol;
  template_.source = local;
  template_.destination = remote;
  const auto add = [this](std::uint32_t words) {
    constant_sum_ += (words >> 16) + (words & 0xffff);
  };
  add(local.to_u32());
  add(remote.to_u32());
  add(std::uint32_t{template_.version_ihl} << 8);
  add(static_cast<std::uint8_t>(protocol));
}

void OuterIpv4::put(netio::Packet& packet, const InnerFacts& inner) noexcept {
  Ipv4Header header = template_;
  const std::uint8_t dscp = tos_.inherit ? inner.tos : tos_.value;
  header.tos = static_cast<std::uint8_t>(
      (dscp & ~wire::kEcnMask) |
      static_cast<std::uint8_t>(encapsulated_ecn(ecn_, wire::ecn_of(inner.tos))));
  if (header.ttl == 0) {
    header.ttl = inner.ttl;
  }
  // +1 per outer packet also when DF makes the id meaningless (RFC 6864 section 4): receivers merge
  // trains only while the outer ids stand still or count up (Linux inet_gro_receive).
  header.identification = identification_++;
  const bool dont_fragment = always_df_ || (inherit_df_ && inner.dont_fragment);
  header.flags_offset = dont_fragment ? wire::kIpv4DontFragment : std::uint16_t{0};
  const auto total_length = static_cast<std::uint16_t>(packet.length + wire::kIpv4HeaderBytes);
  header.total_length = total_length;

  std::uint32_t sum = constant_sum_ + header.tos + total_length + header.identification.value() +
                      header.flags_offset.value() + (std::uint32_t{header.ttl} << 8);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  header.checksum = static_cast<std::uint16_t>(~sum);

  std::memcpy(packet.prepend(wire::kIpv4HeaderBytes).data(), &header, sizeof header);
  packet.l4 = packet.l3;
  packet.l3 = packet.begin;
}

}  // namespace ringway::router
