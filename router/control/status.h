// Status: what a running daemon knows about itself, and how it is told as JSON.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/model.h"
#include "netio/open.h"
#include "netio/packet/drop.h"
#include "netio/port.h"
#include "router/control/underlay.h"
#include "router/tunnel/kinds.h"

namespace ringway::router {

// Keeps the order of keys, which is part of how a document reads.
using Json = nlohmann::ordered_json;

// In every document. A number is never given other meanings; keys are only added within it.
inline constexpr std::string_view kSchema = "ringway/1";

using DropCounts = std::array<std::uint64_t, netio::kDropCount>;

// Something that a user should know about a tunnel, and what to do about it.
struct Note {
  std::string text;
  std::string next;  // the next step; empty if there is none
};

struct TunnelStatus {
  config::Tunnel config;
  Ends ends;
  std::uint32_t interface_index = 0;
  bool up = false;
  std::uint32_t mtu = 0;  // of the interface now
  MtuChoice mtu_choice;   // how we chose it
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t forwarded = 0;
  DropCounts drops{};
  std::uint64_t host_drops = 0;  // by the host in front of the TUN, before we saw the packet
  std::vector<Note> notes;       // each one makes the tunnel "degraded"
};

struct PortStatus {
  std::string name;
  std::uint32_t mtu = 0;
  std::string receive_by;
  std::string transmit_by;
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_doorbells = 0;
  std::uint64_t tx_doorbells = 0;
  std::uint64_t rx_faults = 0;
  DropCounts drops{};
};

using WallClock = std::chrono::system_clock;

// One moment of a daemon. Ports stand in the order of their ids: the TUN of tunnel i is ports[i].
struct Snapshot {
  std::int64_t pid = 0;
  WallClock::time_point started;
  std::chrono::seconds uptime{0};
  netio::EngineReport engine;
  std::string config_path;
  WallClock::time_point config_loaded;
  std::vector<TunnelStatus> tunnels;
  std::vector<PortStatus> ports;
  DropCounts unclaimed{};
};

// "2026-11-30T20:11:02Z" (RFC 3339).
[[nodiscard]] std::string rfc3339(WallClock::time_point time);
[[nodiscard]] std::uint64_t total(const DropCounts& drops) noexcept;
[[nodiscard]] DropCounts read_drops(const netio::DropCounters& counters) noexcept;
// Ports in their order. The counters of what came in are read after those of what went out, of all
// ports: a packet that moves on meanwhile is seen as in flight, never as sent but not received.
[[nodiscard]] std::vector<PortStatus> read_ports(const std::vector<const netio::Port*>& ports);

// The documents of the control socket, one per method. Counts are raw, in packets and bytes.
[[nodiscard]] Json status_document(const Snapshot& snapshot);
[[nodiscard]] Json drops_document(const Snapshot& snapshot);
[[nodiscard]] Json tunnels_document(const Snapshot& snapshot);
[[nodiscard]] Json ports_document(const Snapshot& snapshot);

}  // namespace ringway::router
