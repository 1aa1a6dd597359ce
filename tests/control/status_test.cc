// Documents and how they look on a screen.
#include "router/control/status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "config/model.h"
#include "netio/open.h"
#include "netio/packet/drop.h"
#include "netio/wire/address.h"
#include "router/cli/render.h"

namespace ringway::router {

namespace {

void count(DropCounts& drops, netio::Drop reason, std::uint64_t number) {
  drops[static_cast<std::size_t>(reason)] = number;
}

TunnelStatus paris() {
  TunnelStatus out;
  out.config.name = out.config.interface = "paris";
  out.config.remote = config::HostName{"paris.example.net"};
  out.config.ikey = out.config.okey = 42;
  out.config.addresses = {*wire::parse_prefix("10.255.0.1/30"),
                          *wire::parse_prefix("fd00:255::1/64")};
  out.config.routes = {{*wire::parse_prefix("10.20.0.0/16"), 0},
                       {*wire::parse_prefix("10.30.0.0/16"), 200}};
  out.ends = {{}, *wire::parse_ipv4("198.51.100.7")};
  out.interface_index = 5;
  out.up = true;
  out.mtu = 1472;
  out.mtu_choice = {1472, true, "eth0 1500 - 28", ""};
  out.rx_packets = 1'000'000;
  out.rx_bytes = 1'200'000'000;
  out.tx_packets = 98'000;
  out.tx_bytes = 900'000'000;
  out.forwarded = 3;
  count(out.drops, netio::Drop::bad_gre_checksum, 2);
  return out;
}

TunnelStatus six() {
  TunnelStatus out;
  out.config.name = "he6";
  out.config.interface = "he0";
  out.config.kind = config::Kind::sit;
  out.config.local = config::InterfaceName{"eth0"};
  out.config.remote = *wire::parse_ipv4("216.66.80.26");
  out.config.ttl = 0;
  out.config.tos = {false, 0x20};
  out.ends = {*wire::parse_ipv4("192.0.2.1"), *wire::parse_ipv4("216.66.80.26")};
  out.interface_index = 6;
  out.mtu = 1480;
  out.mtu_choice = {1480, false, "configured", ""};
  out.notes = {{"interface 'he0' is down", "sudo ip link set he0 up"}};
  return out;
}

PortStatus port(const char* name, std::uint64_t rx, std::uint64_t tx) {
  PortStatus out;
  out.name = name;
  out.receive_by = "recvmmsg";
  out.transmit_by = "sendmmsg";
  out.rx_packets = rx;
  out.rx_bytes = rx * 100;
  out.tx_packets = tx;
  out.tx_bytes = tx * 100;
  out.rx_doorbells = 4;
  out.tx_doorbells = 5;
  return out;
}

Snapshot example() {
  Snapshot out;
  out.pid = 4711;
  out.started = WallClock::time_point{std::chrono::seconds{1'796'069'463}};
  out.uptime = std::chrono::seconds{3 * 86'400 + 4 * 3600};
  out.engine = {netio::Engine::io_uring, "the kernel allows it", {"SINGLE_ISSUER"}};
  out.config_path = "/etc/ringway/ringway.yaml";
  out.config_loaded = WallClock::time_point{std::chrono::seconds{1'796'069'462}};
  out.tunnels = {paris(), six()};
  out.ports = {port("paris", 98'000, 999'990), port("he0", 0, 0),
               port("raw:gre", 1'000'015, 98'000), port("raw:sit", 0, 0)};
  count(out.ports[0].drops, netio::Drop::queue_full, 7);
  count(out.unclaimed, netio::Drop::no_tunnel, 13);
  return out;
}

}  // namespace

TEST_CASE("times are RFC 3339 in UTC") {
  // Oracle: date -u -d @N +%FT%TZ
  CHECK(rfc3339(WallClock::time_point{}) == "1970-01-01T00:00:00Z");
  CHECK(rfc3339(WallClock::time_point{std::chrono::seconds{951'782'400}}) ==
        "2000-02-29T00:00:00Z");
  CHECK(rfc3339(WallClock::time_point{std::chrono::milliseconds{1'796'069'462'999}}) ==
        "2026-11-30T20:11:02Z");
}

TEST_CASE("the status document") {
  const Json document = status_document(example());
  CHECK(document["schema"] == "ringway/1");
  CHECK(document["kind"] == "status");
  CHECK(document["version"] == RINGWAY_VERSION);
  CHECK(document["pid"] == 4711);
  CHECK(document["started"] == "2026-11-30T20:11:03Z");
  CHECK(document["uptime_seconds"] == 273'600);
  CHECK(document["engine"] == Json{{"name", "io_uring"},
                                   {"reason", "the kernel allows it"},
                                   {"features", Json::array({"SINGLE_ISSUER"})}});
  CHECK(document["config"] ==
        Json{{"path", "/etc/ringway/ringway.yaml"}, {"loaded", "2026-11-30T20:11:02Z"}});
  CHECK(document["health"] == "degraded");
  const Json& tunnel = document["tunnels"][0];
  CHECK(tunnel["name"] == "paris");
  CHECK(tunnel["type"] == "gre");
  CHECK(tunnel["state"] == "up");
  CHECK(tunnel["interface"] == "paris");
  CHECK(tunnel["ifindex"] == 5);
  CHECK(tunnel["local"] == "any");
  CHECK(tunnel["remote"] == "198.51.100.7");
  CHECK(tunnel["remote_configured"] == "paris.example.net");
  CHECK(tunnel["ikey"] == 42);
  CHECK(tunnel["mtu"] == 1472);
  CHECK(tunnel["mtu_reason"] == "eth0 1500 - 28");
  CHECK(tunnel["rx_bytes"] == 1'200'000'000);
  CHECK(tunnel["forwarded"] == 3);
  CHECK(tunnel["drops"] == 9);  // two of the tunnel, seven at its TUN
  CHECK(tunnel["notes"].empty());
  CHECK(document["tunnels"][1]["state"] == "down");
  CHECK(document["tunnels"][1]["okey"].is_null());
}

TEST_CASE("packets in = packets out + drops + packets in flight") {
  const Json balance = status_document(example())["balance"];
  CHECK(balance["received"] == 1'098'015);
  CHECK(balance["sent"] == 1'097'990);
  CHECK(balance["dropped"] == 22);
  CHECK(balance["in_flight"] == 3);
}

TEST_CASE("all is well only if every tunnel is") {
  Snapshot snapshot = example();
  snapshot.tunnels.pop_back();
  CHECK(status_document(snapshot)["health"] == "ok");
  snapshot.tunnels[0].notes = {{"mtu", "less"}};
  CHECK(status_document(snapshot)["health"] == "degraded");
  CHECK(status_document(snapshot)["tunnels"][0]["state"] == "degraded");
}

TEST_CASE("the drops document: what occurred by place, and every reason") {
  const Json document = drops_document(example());
  CHECK(document["total"] == 22);
  const Json& drops = document["drops"];
  REQUIRE(drops.size() == 3);
  CHECK(drops[0]["place"] == "tunnel");
  CHECK(drops[0]["tunnel"] == "paris");
  CHECK(drops[0]["reason"] == "bad_gre_checksum");
  CHECK(drops[0]["count"] == 2);
  CHECK(drops[1]["place"] == "port");
  CHECK(drops[1]["port"] == "paris");
  CHECK(drops[1]["reason"] == "queue_full");
  CHECK(drops[2]["place"] == "unclaimed");
  CHECK(drops[2]["count"] == 13);
  CHECK(document["reasons"].size() == netio::kDropCount);
  CHECK(document["reasons"][0]["reason"] == "no_tunnel");
  CHECK(document["reasons"][1]["reason"] == "queue_full");
  CHECK(document["reasons"][2]["reason"] == "bad_gre_checksum");
  CHECK(document["reasons"][3]["count"] == 0);
  for (const Json& reason : document["reasons"]) {
    CHECK(!reason["explanation"].get<std::string>().empty());
  }
}

TEST_CASE("the tunnels document holds every option") {
  const Json document = tunnels_document(example());
  const Json& gre = document["tunnels"][0];
  CHECK(gre["local_configured"].is_null());
  CHECK(gre["ttl"] == 64);
  CHECK(gre["tos"] == "inherit");
  CHECK(gre["ecn"] == "rfc6040");
  CHECK(gre["overhead_bytes"] == 28);
  CHECK(gre["addresses"] == Json::array({"10.255.0.1/30", "fd00:255::1/64"}));
  CHECK(gre["routes"][1] == Json{{"to", "10.30.0.0/16"}, {"metric", 200}});
  for (const char* key :
       {"icsum", "ocsum", "strict_csum", "iseq", "oseq", "pmtudisc", "ignore_df"}) {
    CAPTURE(key);
    CHECK(gre[key].is_boolean());
  }
  const Json& sit = document["tunnels"][1];
  CHECK(sit["local_configured"] == "eth0");
  CHECK(sit["local"] == "192.0.2.1");
  CHECK(sit["ttl"] == "inherit");
  CHECK(sit["tos"] == 0x20);
}

TEST_CASE("a counter read from a live port is told as it is") {
  const Json document = ports_document(example());
  REQUIRE(document["ports"].size() == 4);
  const Json& tun = document["ports"][0];
  CHECK(tun["name"] == "paris");
  CHECK(tun["rx_packets"] == 98'000);
  CHECK(tun["tx_bytes"] == 99'999'000);
  CHECK(tun["rx_doorbells"] == 4);
  CHECK(tun["tx_doorbells"] == 5);
  CHECK(tun["drops"] == 7);
  CHECK(tun["receive_by"] == "recvmmsg");
}

TEST_CASE("the status screen") {
  const std::string head = std::string{"ringway "} + RINGWAY_VERSION +
                           "  up 3d 4h  engine io_uring (1 shard)  config 2026-11-30T20:11:02Z "
                           "/etc/ringway/ringway.yaml  ";
  CHECK(render_status(status_document(example()), false) ==
        head +
            "DEGRADED\n"
            "NAME   TYPE  STATE  REMOTE                            RX               TX       "
            "       DROPS  NOTE\n"
            "he6    sit   DOWN   216.66.80.26                      0B 0 pkts        0B 0 pkts"
            "       0      interface 'he0' is down\n"
            "paris  gre   up     198.51.100.7 (paris.example.net)  1.2GB 1.0M pkts  900MB 98k"
            " pkts  9      -\n"
            "1 note. Next:\n"
            "  he6: sudo ip link set he0 up\n");
  Snapshot well = example();
  well.tunnels.pop_back();
  const std::string colored = render_status(status_document(well), true);
  CHECK(colored.find("\x1b[32mOK\x1b[0m") != std::string::npos);
  CHECK(colored.find("\x1b[32mup\x1b[0m") != std::string::npos);
  CHECK(colored.find("note") == std::string::npos);
  well.tunnels.clear();
  CHECK(render_status(status_document(well), false) == head + "OK\nno tunnels\n");
}

TEST_CASE("the drops screen") {
  const std::string text = render_drops(drops_document(example()), false);
  const std::string checksum{netio::explanation(netio::Drop::bad_gre_checksum)};
  const std::string queue{netio::explanation(netio::Drop::queue_full)};
  const std::string nobody{netio::explanation(netio::Drop::no_tunnel)};
  CHECK(text ==
        "PLACE         REASON            COUNT  MEANING\n"
        "tunnel paris  bad_gre_checksum  2      " +
            checksum + "\n" + "port paris    queue_full        7      " + queue + "\n" +
            "no tunnel     no_tunnel         13     " + nobody + "\n");
  CHECK(render_drops(drops_document(Snapshot{}), false) == "no packet has been dropped\n");
}

TEST_CASE("the tunnels screen") {
  CHECK(render_tunnels(tunnels_document(example()), false) ==
        "paris  gre  up\n"
        "  interface  paris (index 5)\n"
        "  local      any\n"
        "  remote     198.51.100.7 (paris.example.net)\n"
        "  mtu        1472 (auto: eth0 1500 - 28)\n"
        "  key        in 42, out 42\n"
        "  csum       in no, out no, strict no\n"
        "  seq        in no, out no\n"
        "  ttl        64\n"
        "  tos        inherit, ecn rfc6040\n"
        "  pmtudisc   yes, ignore_df no\n"
        "  addresses  10.255.0.1/30, fd00:255::1/64\n"
        "  routes     10.20.0.0/16, 10.30.0.0/16 metric 200\n"
        "  received   1.2GB 1.0M pkts, 3 forwarded\n"
        "  sent       900MB 98k pkts\n"
        "  drops      9, by the host in front of the interface 0\n"
        "\n"
        "he6  sit  DOWN\n"
        "  interface  he0 (index 6)\n"
        "  local      192.0.2.1\n"
        "  remote     216.66.80.26\n"
        "  mtu        1480 (configured)\n"
        "  ttl        inherit\n"
        "  tos        32, ecn rfc6040\n"
        "  pmtudisc   yes, ignore_df no\n"
        "  addresses  none\n"
        "  routes     none\n"
        "  received   0B 0 pkts, 0 forwarded\n"
        "  sent       0B 0 pkts\n"
        "  drops      0, by the host in front of the interface 0\n"
        "  note: interface 'he0' is down\n");
}

TEST_CASE("the ports screen") {
  CHECK(render_ports(ports_document(example()), false) ==
        "NAME     RX               TX               DROPS  RX CALLS  TX CALLS  FAULTS  "
        "READS BY  WRITES BY\n"
        "paris    9.8MB 98k pkts   100MB 1.0M pkts  7      4         5         0       "
        "recvmmsg  sendmmsg\n"
        "he0      0B 0 pkts        0B 0 pkts        0      4         5         0       "
        "recvmmsg  sendmmsg\n"
        "raw:gre  100MB 1.0M pkts  9.8MB 98k pkts   0      4         5         0       "
        "recvmmsg  sendmmsg\n"
        "raw:sit  0B 0 pkts        0B 0 pkts        0      4         5         0       "
        "recvmmsg  sendmmsg\n");
}

TEST_CASE("a document of another version does not upset the screen") {
  for (const Json& document : {Json::object(), Json{{"tunnels", Json::array({Json::object()})}}}) {
    CHECK(!render_status(document, false).empty());
    CHECK(!render_drops(document, false).empty());
    CHECK(!render_tunnels(document, false).empty());
    CHECK(!render_ports(document, false).empty());
    CHECK(!render_capabilities(document, false).empty());
  }
}

}  // namespace ringway::router
