// Capabilities: what this process may do on this machine, found out by trying and reading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "netio/open.h"
#include "router/control/status.h"

namespace ringway::router {

struct EngineAvailability {
  netio::Engine engine = netio::Engine::epoll;
  bool available = false;
  std::string reason;                 // of the refusal, or of the choice
  std::vector<std::string> features;  // in use if available
};

struct Capabilities {
  std::string kernel;              // "6.1.0-18-amd64"
  std::string machine;             // "x86_64"
  std::int64_t user_id = 0;        // effective
  bool net_admin = false;          // CAP_NET_ADMIN: make and change interfaces
  bool net_raw = false;            // CAP_NET_RAW: raw sockets of gre, ipip, sit
  bool tun = false;                // /dev/net/tun can be opened
  std::string tun_reason;          // why not
  std::string io_uring_disabled;   // sysctl kernel.io_uring_disabled; empty if it has none
  std::int64_t memlock_bytes = 0;  // RLIMIT_MEMLOCK; -1: unlimited
  std::vector<EngineAvailability> engines;
  netio::EngineReport automatic;  // what `engine: auto` would choose
};

// Opens each engine once and closes it again; changes nothing. Any one thread.
[[nodiscard]] Capabilities probe_capabilities();

[[nodiscard]] Json capabilities_document(const Capabilities& capabilities);

// What this process lacks to run tunnels of today's kinds, one sentence with its remedy each; empty
// if nothing.
[[nodiscard]] std::vector<std::string> missing_rights(const Capabilities& capabilities);

// The CapEff line of /proc/PID/status as a bit set, 0 if there is none.
[[nodiscard]] std::uint64_t effective_capabilities(std::string_view proc_status);

}  // namespace ringway::router
