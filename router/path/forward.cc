// The way of a packet, top to bottom:
//
//   overlay port  -> parse -------------------------------------> encapsulate -> underlay port
//   underlay port -> parse -> demux -> decapsulate -> lookup -+-> encapsulate -> underlay port
//                                                             +-> overlay port (the host)
//
// Each step takes a run of packets, ends the ones it refuses, and passes on the rest in order.
#include "router/path/forward.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "netio/base/assert.h"
#include "netio/packet/batch.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/packet/parse.h"
#include "netio/wire/gre.h"
#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"
#include "netio/wire/protocols.h"
#include "router/path/counters.h"
#include "router/path/demux.h"
#include "router/path/forwarding.h"
#include "router/path/merged.h"
#include "router/tunnel/tunnel.h"

namespace ringway::router {

namespace {

using netio::Batch;
using netio::Drop;
using netio::DropCounters;
using netio::Packet;
using netio::Run;
using netio::TunnelId;

// Keeps the packets that `step` lets pass (it returns no Drop) and ends the others. Works in place.
template <class Step>
Run pass(Run run, DropCounters& drops, Step step) noexcept {
  std::size_t kept = 0;
  for (Packet* packet : run) {
    if (const std::optional<Drop> reason = step(*packet)) {
      drops.count(*reason);
      netio::recycle(packet);
    } else {
      run[kept++] = packet;
    }
  }
  return run.first(kept);
}

// Calls `action(value, part)` for each longest stretch of neighbours with the same `value(packet)`.
template <class Value, class Action>
void for_each_stretch(Run run, Value value, Action action) noexcept {
  while (!run.empty()) {
    const auto first = value(*run.front());
    std::size_t count = 1;
    while (count < run.size() && value(*run[count]) == first) {
      ++count;
    }
    action(first, run.first(count));
    run = run.subspan(count);
  }
}

// RFC 2003 section 3.1: the packet inside is forwarded by the ordinary rule, which costs it a hop.
std::optional<Drop> decrement_ttl(Packet& packet) noexcept {
  if (netio::ip_version(packet) == 4) {
    auto* ip = wire::header_at<wire::Ipv4Header>(packet.bytes());
    if (ip->ttl <= 1) {
      return Drop::ttl_exceeded;
    }
    ip->decrement_ttl();
  } else {
    auto* ip = wire::header_at<wire::Ipv6Header>(packet.bytes());
    if (ip->hop_limit <= 1) {
      return Drop::ttl_exceeded;
    }
    --ip->hop_limit;
  }
  return std::nullopt;
}

Drop drop_for(wire::GreError error) noexcept {
  switch (error) {
    case wire::GreError::bad_version:
      return Drop::bad_gre_version;
    case wire::GreError::bad_flags:
      return Drop::bad_gre_flags;
    case wire::GreError::none:
    case wire::GreError::truncated:
      break;
  }
  return Drop::truncated;
}

// Finds the tunnel of an outer packet and notes it in the packet.
std::optional<Drop> find_tunnel(Packet& packet, const Forwarding& forwarding,
                                wire::IpProtocol expected) noexcept {
  if (const auto reason = netio::parse_ip(packet)) {
    return reason;
  }
  const auto* ip = wire::header_at<wire::Ipv4Header>(packet.bytes());
  if (ip == nullptr || ip->version() != 4 || ip->protocol != expected) {
    return Drop::unknown_protocol;
  }
  if (ip->is_fragment()) {
    return Drop::outer_fragment;
  }
  OuterFlow flow{
      .protocol = expected, .source = ip->source, .destination = ip->destination, .key = {}};
  if (expected == wire::IpProtocol::gre) {
    const wire::GreView gre = wire::read_gre(packet.bytes().subspan(packet.l4 - packet.l3));
    if (gre.error != wire::GreError::none) {
      return drop_for(gre.error);
    }
    if (gre.has_key()) {
      flow.key = gre.key;
    }
  }
  packet.tunnel = forwarding.demux.lookup(flow);
  return packet.tunnel == netio::kNoTunnel ? std::optional{Drop::no_tunnel} : std::nullopt;
}

// The tunnel into which a packet goes on without the host, or kNoTunnel.
TunnelId transit(const Packet& packet, const Forwarding& forwarding) noexcept {
  const TunnelId* next = nullptr;
  if (netio::ip_version(packet) == 4) {
    next =
        forwarding.routes4.lookup(wire::header_at<wire::Ipv4Header>(packet.bytes())->destination);
  } else {
    next =
        forwarding.routes6.lookup(wire::header_at<wire::Ipv6Header>(packet.bytes())->destination);
  }
  return next == nullptr ? netio::kNoTunnel : *next;
}

std::uint64_t bytes_in(Run run) noexcept {
  std::uint64_t bytes = 0;
  for (const Packet* packet : run) {
    bytes += packet->length;
  }
  return bytes;
}

// Inner packets, parsed, enter a tunnel and leave through its underlay.
void enter_tunnel(TunnelId id, Run run, const Path& path) noexcept {
  if (run.empty()) {
    return;
  }
  const TunnelSlot& slot = path.forwarding.tunnels[static_cast<std::size_t>(id)];
  TunnelCounters& counters = path.counters.tunnel(static_cast<std::size_t>(id));
  Batch underlay;
  Batch overlay;
  Outbox out{.underlay = underlay, .overlay = overlay, .drops = counters.drops};
  slot.tunnel->encapsulate(run, out);
  counters.tx_packets.add(underlay.size());
  counters.tx_bytes.add(bytes_in(underlay.packets()) -
                        underlay.size() * slot.tunnel->info().overhead_bytes);
  if (!underlay.empty()) {
    path.egress.send(slot.underlay, underlay);
  }
  ASSERT(overlay.empty());
}

// Inner packets that came out of a tunnel go on to another one, or to the host.
void leave_tunnel(TunnelId id, Run run, const Path& path) noexcept {
  const TunnelSlot& slot = path.forwarding.tunnels[static_cast<std::size_t>(id)];
  TunnelCounters& counters = path.counters.tunnel(static_cast<std::size_t>(id));
  for_each_stretch(
      run, [&](const Packet& packet) { return transit(packet, path.forwarding); },
      [&](TunnelId next, Run part) {
        if (next != netio::kNoTunnel) {
          part = pass(part, counters.drops, decrement_ttl);
          counters.forwarded.add(part.size());
          enter_tunnel(next, part, path);
          return;
        }
        Batch host;
        for (Packet* packet : part) {
          recognise_merged(*packet, slot.overlay_mtu);
          host.push(packet);
        }
        path.egress.send(slot.overlay, host);
      });
}

void from_underlay(Run run, wire::IpProtocol protocol, const Path& path) noexcept {
  run = pass(run, path.counters.unclaimed,
             [&](Packet& packet) { return find_tunnel(packet, path.forwarding, protocol); });
  for_each_stretch(
      run, [](const Packet& packet) { return packet.tunnel; },
      [&](TunnelId id, Run part) {
        const TunnelSlot& slot = path.forwarding.tunnels[static_cast<std::size_t>(id)];
        TunnelCounters& counters = path.counters.tunnel(static_cast<std::size_t>(id));
        Batch underlay;
        Batch overlay;
        Outbox out{.underlay = underlay, .overlay = overlay, .drops = counters.drops};
        slot.tunnel->decapsulate(part, out);
        counters.rx_packets.add(overlay.size());
        counters.rx_bytes.add(bytes_in(overlay.packets()));
        const Run inner = overlay.packets();
        overlay.release_all();
        leave_tunnel(id, inner, path);
        ASSERT(underlay.empty());
      });
}

void from_overlay(Run run, TunnelId id, const Path& path) noexcept {
  TunnelCounters& counters = path.counters.tunnel(static_cast<std::size_t>(id));
  run = pass(run, counters.drops, netio::parse_ip);
  enter_tunnel(id, run, path);
}

}  // namespace

void forward(Batch& batch, Path path) noexcept {
  if (batch.empty()) {
    return;
  }
  const auto port = static_cast<std::size_t>(batch[0].ingress);
  ASSERT(port < path.forwarding.ingress.size());
  const Ingress& ingress = path.forwarding.ingress[port];
  const Run run = batch.packets();
  batch.release_all();
  if (ingress.tunnel != netio::kNoTunnel) {
    from_overlay(run, ingress.tunnel, path);
  } else {
    from_underlay(run, ingress.protocol, path);
  }
}

}  // namespace ringway::router
