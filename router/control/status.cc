// Snapshots to JSON. Names of keys are a promise to users: see ringway(1).
#include "router/control/status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "config/model.h"
#include "netio/open.h"
#include "netio/packet/drop.h"
#include "netio/port.h"
#include "netio/wire/address.h"

namespace ringway::router {

namespace {

Json new_document(std::string_view kind) {
  return Json{{"schema", kSchema}, {"kind", kind}};
}

Json engine_json(const netio::EngineReport& engine) {
  return Json{{"name", netio::name(engine.engine)},
              {"reason", engine.reason},
              {"features", engine.features}};
}

Json notes_json(const std::vector<Note>& notes) {
  Json out = Json::array();
  for (const Note& note : notes) {
    out.push_back(Json{{"text", note.text}, {"next", note.next}});
  }
  return out;
}

template <class Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

// What was written for `local`: null, an address, or an interface's name.
Json configured(const config::Local& local) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&local)) {
    return wire::to_string(*address);
  }
  if (const auto* interface = std::get_if<config::InterfaceName>(&local)) {
    return interface->name;
  }
  return nullptr;
}

Json configured(const config::Remote& remote) {
  if (const auto* address = std::get_if<wire::Ipv4Address>(&remote)) {
    return wire::to_string(*address);
  }
  return std::get<config::HostName>(remote).name;
}

// "any" while the host chooses the source of each packet.
std::string local_text(const Ends& ends) {
  return ends.local.is_unspecified() ? "any" : wire::to_string(ends.local);
}

std::string_view state_word(const TunnelStatus& tunnel) {
  if (!tunnel.up) {
    return "down";
  }
  return tunnel.notes.empty() ? "up" : "degraded";
}

// What `status` and `show tunnels` have in common. Drops at the TUN are the tunnel's as well: it is
// nobody else's port.
Json tunnel_json(const TunnelStatus& tunnel, const PortStatus& tun) {
  return Json{{"name", tunnel.config.name},
              {"type", config::name(tunnel.config.kind)},
              {"state", state_word(tunnel)},
              {"interface", tunnel.config.interface},
              {"ifindex", tunnel.interface_index},
              {"local", local_text(tunnel.ends)},
              {"remote", wire::to_string(tunnel.ends.remote)},
              {"remote_configured", configured(tunnel.config.remote)},
              {"ikey", number_or_null(tunnel.config.ikey)},
              {"okey", number_or_null(tunnel.config.okey)},
              {"mtu", tunnel.mtu},
              {"mtu_automatic", tunnel.mtu_choice.automatic},
              {"mtu_reason", tunnel.mtu_choice.reason},
              {"rx_packets", tunnel.rx_packets},
              {"rx_bytes", tunnel.rx_bytes},
              {"tx_packets", tunnel.tx_packets},
              {"tx_bytes", tunnel.tx_bytes},
              {"forwarded", tunnel.forwarded},
              {"drops", total(tunnel.drops) + total(tun.drops)},
              {"host_drops", tunnel.host_drops},
              {"notes", notes_json(tunnel.notes)}};
}

Json options_json(const config::Tunnel& tunnel) {
  Json addresses = Json::array();
  for (const wire::IpPrefix& address : tunnel.addresses) {
    addresses.push_back(wire::to_string(address));
  }
  Json routes = Json::array();
  for (const config::Route& route : tunnel.routes) {
    routes.push_back(Json{{"to", wire::to_string(route.to)}, {"metric", route.metric}});
  }
  constexpr std::array<std::string_view, 3> kEcnWords{"rfc6040", "linux", "off"};
  return Json{{"local_configured", configured(tunnel.local)},
              {"icsum", tunnel.icsum},
              {"ocsum", tunnel.ocsum},
              {"strict_csum", tunnel.strict_csum},
              {"iseq", tunnel.iseq},
              {"oseq", tunnel.oseq},
              {"ttl", tunnel.ttl == 0 ? Json("inherit") : Json(tunnel.ttl)},
              {"tos", tunnel.tos.inherit ? Json("inherit") : Json(tunnel.tos.value)},
              {"ecn", kEcnWords[static_cast<std::size_t>(tunnel.ecn)]},
              {"pmtudisc", tunnel.pmtudisc},
              {"ignore_df", tunnel.ignore_df},
              {"overhead_bytes", config::overhead_bytes(tunnel)},
              {"addresses", std::move(addresses)},
              {"routes", std::move(routes)}};
}

// Packets in = packets out + drops. What is in flight has been read and neither sent nor dropped.
Json balance_json(const Snapshot& snapshot) {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  std::uint64_t dropped = total(snapshot.unclaimed);
  for (const PortStatus& port : snapshot.ports) {
    received += port.rx_packets;
    sent += port.tx_packets;
    dropped += total(port.drops);
  }
  for (const TunnelStatus& tunnel : snapshot.tunnels) {
    dropped += total(tunnel.drops);
  }
  return Json{{"received", received},
              {"sent", sent},
              {"dropped", dropped},
              {"in_flight", static_cast<std::int64_t>(received - sent - dropped)}};
}

bool healthy(const Snapshot& snapshot) {
  return std::all_of(snapshot.tunnels.begin(), snapshot.tunnels.end(),
                     [](const TunnelStatus& tunnel) { return tunnel.up && tunnel.notes.empty(); });
}

// Appends the reasons that occurred, each with its place.
void append_drops(Json& out, const Json& place, const DropCounts& drops) {
  for (std::size_t i = 0; i < drops.size(); ++i) {
    if (drops[i] == 0) {
      continue;
    }
    const auto reason = static_cast<netio::Drop>(i);
    Json entry = place;
    entry["reason"] = netio::name(reason);
    entry["count"] = drops[i];
    entry["explanation"] = netio::explanation(reason);
    out.push_back(std::move(entry));
  }
}

void add(DropCounts& sum, const DropCounts& drops) {
  std::transform(sum.begin(), sum.end(), drops.begin(), sum.begin(), std::plus<>{});
}

// Every reason with its count over all places, those that occurred first.
Json reasons_json(const DropCounts& sum) {
  std::vector<std::size_t> order(sum.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return sum[one] > sum[other]; });
  Json out = Json::array();
  for (const std::size_t i : order) {
    const auto reason = static_cast<netio::Drop>(i);
    out.push_back(Json{{"reason", netio::name(reason)},
                       {"count", sum[i]},
                       {"explanation", netio::explanation(reason)}});
  }
  return out;
}

}  // namespace

std::string rfc3339(WallClock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::floor<std::chrono::seconds>(time)));
}

std::uint64_t total(const DropCounts& drops) noexcept {
  return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

DropCounts read_drops(const netio::DropCounters& counters) noexcept {
  DropCounts out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = counters.value(static_cast<netio::Drop>(i));
  }
  return out;
}

std::vector<PortStatus> read_ports(const std::vector<const netio::Port*>& ports) {
  std::vector<PortStatus> out;
  for (const netio::Port* port : ports) {
    const netio::PortCounters& counters = port->counters();
    PortStatus status;
    status.name = port->info().name;
    status.mtu = port->info().mtu;
    status.receive_by = port->info().receive_by;
    status.transmit_by = port->info().transmit_by;
    status.drops = read_drops(counters.drops);
    status.tx_packets = counters.tx_packets.value();
    status.tx_bytes = counters.tx_bytes.value();
    status.tx_doorbells = counters.tx_doorbells.value();
    out.push_back(std::move(status));
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const netio::PortCounters& counters = ports[i]->counters();
    out[i].rx_packets = counters.rx_packets.value();
    out[i].rx_bytes = counters.rx_bytes.value();
    out[i].rx_doorbells = counters.rx_doorbells.value();
    out[i].rx_faults = counters.rx_faults.value();
  }
  return out;
}

Json status_document(const Snapshot& snapshot) {
  Json out = new_document("status");
  out["version"] = RINGWAY_VERSION;
  out["pid"] = snapshot.pid;
  out["started"] = rfc3339(snapshot.started);
  out["uptime_seconds"] = snapshot.uptime.count();
  out["shards"] = 1;
  out["engine"] = engine_json(snapshot.engine);
  out["config"] = Json{{"path", snapshot.config_path}, {"loaded", rfc3339(snapshot.config_loaded)}};
  out["health"] = healthy(snapshot) ? "ok" : "degraded";
  out["tunnels"] = Json::array();
  for (std::size_t i = 0; i < snapshot.tunnels.size(); ++i) {
    out["tunnels"].push_back(tunnel_json(snapshot.tunnels[i], snapshot.ports[i]));
  }
  out["balance"] = balance_json(snapshot);
  return out;
}

Json drops_document(const Snapshot& snapshot) {
  Json out = new_document("drops");
  DropCounts sum = snapshot.unclaimed;
  Json drops = Json::array();
  for (const TunnelStatus& tunnel : snapshot.tunnels) {
    add(sum, tunnel.drops);
    append_drops(drops, Json{{"place", "tunnel"}, {"tunnel", tunnel.config.name}}, tunnel.drops);
  }
  for (const PortStatus& port : snapshot.ports) {
    add(sum, port.drops);
    append_drops(drops, Json{{"place", "port"}, {"port", port.name}}, port.drops);
  }
  append_drops(drops, Json{{"place", "unclaimed"}}, snapshot.unclaimed);
  out["total"] = total(sum);
  out["drops"] = std::move(drops);
  out["reasons"] = reasons_json(sum);
  return out;
}

Json tunnels_document(const Snapshot& snapshot) {
  Json out = new_document("tunnels");
  out["tunnels"] = Json::array();
  for (std::size_t i = 0; i < snapshot.tunnels.size(); ++i) {
    Json tunnel = tunnel_json(snapshot.tunnels[i], snapshot.ports[i]);
    tunnel.update(options_json(snapshot.tunnels[i].config));
    out["tunnels"].push_back(std::move(tunnel));
  }
  return out;
}

Json ports_document(const Snapshot& snapshot) {
  Json out = new_document("ports");
  out["ports"] = Json::array();
  for (const PortStatus& port : snapshot.ports) {
    out["ports"].push_back(Json{{"name", port.name},
                                {"mtu", port.mtu},
                                {"receive_by", port.receive_by},
                                {"transmit_by", port.transmit_by},
                                {"rx_packets", port.rx_packets},
                                {"rx_bytes", port.rx_bytes},
                                {"tx_packets", port.tx_packets},
                                {"tx_bytes", port.tx_bytes},
                                {"rx_doorbells", port.rx_doorbells},
                                {"tx_doorbells", port.tx_doorbells},
                                {"rx_faults", port.rx_faults},
                                {"drops", total(port.drops)}});
  }
  return out;
}

}  // namespace ringway::router
