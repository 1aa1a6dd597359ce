// IpTunnel: what every tunnel of IP packets over IPv4 does, around a codec that says what its own
// header looks like. ipip and sit are here whole, since they have no header of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "config/model.h"
#include "netio/packet/batch.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/packet/parse.h"
#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"
#include "router/tunnel/outer.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

// A Codec is a struct with
//   std::optional<Drop> put_header(Packet&, const InnerFacts&)   puts its header before the inner
//   std::optional<Drop> take_header(Packet&)   takes it off; begin is then the inner packet's
//   std::optional<Drop> admit(const Packet&)   refuses inner packets, parsed, that may not come out
// all noexcept. They are called per packet, resolved at compile time.
template <class Codec>
class IpTunnel final : public Tunnel {
 public:
  IpTunnel(TunnelInfo info, wire::Ipv4Address remote, OuterIpv4 outer, Codec codec)
      : Tunnel{std::move(info)}, remote_{remote}, outer_{outer}, codec_{codec} {}

  void encapsulate(netio::Run run, Outbox& out) noexcept override {
    for (netio::Packet* packet : run) {
      if (const auto reason = encapsulate_one(*packet)) {
        out.drop(packet, *reason);
      } else {
        out.underlay.push(packet);
      }
    }
  }

  void decapsulate(netio::Run run, Outbox& out) noexcept override {
    for (netio::Packet* packet : run) {
      if (const auto reason = decapsulate_one(*packet)) {
        out.drop(packet, *reason);
      } else {
        out.overlay.push(packet);
      }
    }
  }

 private:
  std::optional<netio::Drop> encapsulate_one(netio::Packet& packet) noexcept {
    const InnerFacts inner = inner_facts(packet);
    if (packet.length + info().overhead_bytes > wire::kIpPacketBytesMax) {
      return netio::Drop::too_big;
    }
    if (const auto reason = codec_.put_header(packet, inner)) {
      return reason;
    }
    outer_.put(packet, inner);
    return std::nullopt;
  }

  std::optional<netio::Drop> decapsulate_one(netio::Packet& packet) noexcept {
    packet.outer_tos = wire::header_at<wire::Ipv4Header>(packet.bytes())->tos;
    packet.strip(static_cast<std::uint16_t>(packet.l4 - packet.begin));
    if (const auto reason = codec_.take_header(packet)) {
      return reason;
    }
    if (netio::parse_ip(packet)) {
      return netio::Drop::bad_inner_header;
    }
    if (const auto reason = codec_.admit(packet)) {
      return reason;
    }
    // RFC 2784 section 3.1: a packet back to the encapsulator would go round for ever.
    if (netio::ip_version(packet) == 4 &&
        wire::header_at<wire::Ipv4Header>(packet.bytes())->destination == remote_) {
      return netio::Drop::loop;
    }
    return decapsulate_ecn(packet);
  }

  wire::Ipv4Address remote_;
  OuterIpv4 outer_;
  Codec codec_;
};

// IPv4 straight in IPv4, protocol 4 (RFC 2003).
struct IpipCodec {
  static std::optional<netio::Drop> put_header(netio::Packet& /*packet*/,
                                               const InnerFacts& inner) noexcept {
    return inner.version == 4 ? std::nullopt : std::optional{netio::Drop::wrong_family};
  }
  static std::optional<netio::Drop> take_header(netio::Packet& /*packet*/) noexcept {
    return std::nullopt;
  }
  static std::optional<netio::Drop> admit(const netio::Packet& packet) noexcept {
    return netio::ip_version(packet) == 4 ? std::nullopt
                                          : std::optional{netio::Drop::bad_inner_header};
  }
};

// IPv6 straight in IPv4, protocol 41 (RFC 4213).
struct SitCodec {
  static std::optional<netio::Drop> put_header(netio::Packet& /*packet*/,
                                               const InnerFacts& inner) noexcept {
    return inner.version == 6 ? std::nullopt : std::optional{netio::Drop::wrong_family};
  }
  static std::optional<netio::Drop> take_header(netio::Packet& /*packet*/) noexcept {
    return std::nullopt;
  }
  // RFC 4213 section 3.6: sources that no host may have are silently discarded. The unspecified
  // address passes, since duplicate address detection sends from it.
  static std::optional<netio::Drop> admit(const netio::Packet& packet) noexcept;
};

}  // namespace ringway::router
