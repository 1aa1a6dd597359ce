// Text from documents. A document of a newer daemon may hold more than is shown here.
#include "router/cli/render.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "router/cli/table.h"
#include "router/control/status.h"

namespace ringway::router {

namespace {

std::string text_of(const Json& object, const char* key) {
  return object.value(key, "");
}

std::uint64_t number_of(const Json& object, const char* key) {
  return object.value(key, std::uint64_t{0});
}

// The arrays of a document; an absent one is empty.
Json list_of(const Json& object, const char* key) {
  return object.value(key, Json::array());
}

// The words of an array in a row; "none" if there are none.
std::string joined(const Json& words, std::string_view separator) {
  std::string out;
  for (const Json& word : words) {
    out += (out.empty() ? "" : std::string{separator}) + word.get<std::string>();
  }
  return out.empty() ? "none" : out;
}

Paint paint_of(std::string_view state) {
  return state == "up" ? Paint::good : Paint::bad;
}

// Words for the eye: states that need attention stand out without colour as well.
std::string shown_state(const std::string& state) {
  if (state == "up") {
    return state;
  }
  std::string out = state;
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
  return out;
}

std::string remote_of(const Json& tunnel) {
  const std::string address = text_of(tunnel, "remote");
  const std::string written = text_of(tunnel, "remote_configured");
  return written.empty() || written == address ? address : fmt::format("{} ({})", address, written);
}

// "1.2GB 98k pkts"
std::string traffic(const Json& object, const char* bytes, const char* packets) {
  const std::uint64_t count = number_of(object, packets);
  return fmt::format("{}B {} pkt{}", human_number(number_of(object, bytes)), human_number(count),
                     count == 1 ? "" : "s");
}

std::string status_head(const Json& document, bool color) {
  const Json engine = document.value("engine", Json::object());
  const Json config = document.value("config", Json::object());
  const std::uint64_t shards = number_of(document, "shards");
  const bool ok = text_of(document, "health") == "ok";
  return fmt::format(
      "ringway {}  up {}  engine {} ({} shard{})  config {} {}  {}\n", text_of(document, "version"),
      human_duration(document.value("uptime_seconds", std::int64_t{0})), text_of(engine, "name"),
      shards, shards == 1 ? "" : "s", text_of(config, "loaded"), text_of(config, "path"),
      painted(ok ? "OK" : "DEGRADED", ok ? Paint::good : Paint::bad, color));
}

// The end of the screen: what to do next.
std::string status_foot(const std::vector<Json>& tunnels) {
  std::size_t notes = 0;
  std::string steps;
  for (const Json& tunnel : tunnels) {
    for (const Json& note : list_of(tunnel, "notes")) {
      ++notes;
      if (!text_of(note, "next").empty()) {
        steps += fmt::format("  {}: {}\n", text_of(tunnel, "name"), text_of(note, "next"));
      }
    }
  }
  if (notes == 0) {
    return "";
  }
  return fmt::format("{} note{}.{}\n{}", notes, notes == 1 ? "" : "s",
                     steps.empty() ? "" : " Next:", steps);
}

// One fact about a tunnel per line.
Table tunnel_facts(const Json& tunnel) {
  const auto yes = [&](const char* key) { return tunnel.value(key, false) ? "yes" : "no"; };
  const auto both = [](const std::string& in, const std::string& out) {
    return "in " + in + ", out " + out;
  };
  const auto key = [&](const char* name) {
    const Json found = tunnel.value(name, Json{});
    return found.is_number() ? found.dump() : std::string{"none"};
  };
  const auto word = [&](const char* name) {
    const Json found = tunnel.value(name, Json{});
    return found.is_string() ? found.get<std::string>() : found.dump();
  };
  std::vector<std::string> routes;
  for (const Json& route : list_of(tunnel, "routes")) {
    const std::uint64_t metric = number_of(route, "metric");
    routes.push_back(text_of(route, "to") + (metric == 0 ? "" : fmt::format(" metric {}", metric)));
  }
  Table facts;
  facts.add({"interface", fmt::format("{} (index {})", text_of(tunnel, "interface"),
                                      number_of(tunnel, "ifindex"))});
  facts.add({"local", text_of(tunnel, "local")});
  facts.add({"remote", remote_of(tunnel)});
  facts.add({"mtu", fmt::format("{} ({}{})", number_of(tunnel, "mtu"),
                                tunnel.value("mtu_automatic", true) ? "auto: " : "",
                                text_of(tunnel, "mtu_reason"))});
  if (text_of(tunnel, "type") == "gre") {
    facts.add({"key", both(key("ikey"), key("okey"))});
    facts.add({"csum", both(yes("icsum"), yes("ocsum")) + ", strict " + yes("strict_csum")});
    facts.add({"seq", both(yes("iseq"), yes("oseq"))});
  }
  facts.add({"ttl", word("ttl")});
  facts.add({"tos", word("tos") + ", ecn " + text_of(tunnel, "ecn")});
  facts.add({"pmtudisc", std::string{yes("pmtudisc")} + ", ignore_df " + yes("ignore_df")});
  facts.add({"addresses", joined(list_of(tunnel, "addresses"), ", ")});
  facts.add({"routes", joined(Json(routes), ", ")});
  facts.add({"received", traffic(tunnel, "rx_bytes", "rx_packets") +
                             fmt::format(", {} forwarded", number_of(tunnel, "forwarded"))});
  facts.add({"sent", traffic(tunnel, "tx_bytes", "tx_packets")});
  facts.add({"drops", fmt::format("{}, by the host in front of the interface {}",
                                  number_of(tunnel, "drops"), number_of(tunnel, "host_drops"))});
  return facts;
}

std::string yes_no(bool yes) {
  return yes ? "yes" : "no";
}

}  // namespace

std::string render_status(const Json& document, bool color) {
  std::vector<Json> tunnels = list_of(document, "tunnels");
  std::stable_partition(tunnels.begin(), tunnels.end(),
                        [](const Json& tunnel) { return text_of(tunnel, "state") != "up"; });
  std::string out = status_head(document, color);
  if (tunnels.empty()) {
    return out + "no tunnels\n";
  }
  Table table{{"NAME", "TYPE", "STATE", "REMOTE", "RX", "TX", "DROPS", "NOTE"}};
  for (const Json& tunnel : tunnels) {
    const std::string state = text_of(tunnel, "state");
    const Json notes = list_of(tunnel, "notes");
    table.add({text_of(tunnel, "name"),
               text_of(tunnel, "type"),
               {shown_state(state), paint_of(state)},
               remote_of(tunnel),
               traffic(tunnel, "rx_bytes", "rx_packets"),
               traffic(tunnel, "tx_bytes", "tx_packets"),
               human_number(number_of(tunnel, "drops")),
               notes.empty() ? "-" : text_of(notes.front(), "text")});
  }
  return out + table.render(color) + status_foot(tunnels);
}

std::string render_drops(const Json& document, bool color) {
  const Json drops = list_of(document, "drops");
  if (drops.empty()) {
    return "no packet has been dropped\n";
  }
  Table table{{"PLACE", "REASON", "COUNT", "MEANING"}};
  for (const Json& drop : drops) {
    const std::string place = text_of(drop, "place");
    const std::string name =
        drop.contains("tunnel") ? text_of(drop, "tunnel") : text_of(drop, "port");
    table.add({place == "unclaimed" ? "no tunnel" : place + " " + name, text_of(drop, "reason"),
               std::to_string(number_of(drop, "count")), text_of(drop, "explanation")});
  }
  return table.render(color);
}

std::string render_tunnels(const Json& document, bool color) {
  std::string out;
  for (const Json& tunnel : list_of(document, "tunnels")) {
    const std::string state = text_of(tunnel, "state");
    out +=
        fmt::format("{}{}  {}  {}\n", out.empty() ? "" : "\n", text_of(tunnel, "name"),
                    text_of(tunnel, "type"), painted(shown_state(state), paint_of(state), color));
    out += tunnel_facts(tunnel).render(color, "  ");
    for (const Json& note : list_of(tunnel, "notes")) {
      out += fmt::format("  note: {}\n", text_of(note, "text"));
    }
  }
  return out.empty() ? "no tunnels\n" : out;
}

std::string render_ports(const Json& document, bool color) {
  Table table{
      {"NAME", "RX", "TX", "DROPS", "RX CALLS", "TX CALLS", "FAULTS", "READS BY", "WRITES BY"}};
  for (const Json& port : list_of(document, "ports")) {
    table.add({text_of(port, "name"), traffic(port, "rx_bytes", "rx_packets"),
               traffic(port, "tx_bytes", "tx_packets"), human_number(number_of(port, "drops")),
               human_number(number_of(port, "rx_doorbells")),
               human_number(number_of(port, "tx_doorbells")),
               human_number(number_of(port, "rx_faults")), text_of(port, "receive_by"),
               text_of(port, "transmit_by")});
  }
  return table.render(color);
}

std::string render_capabilities(const Json& document, bool color) {
  const auto flag = [&](const char* key) {
    const bool yes = document.value(key, false);
    return Cell{yes_no(yes), yes ? Paint::good : Paint::bad};
  };
  const std::int64_t memlock = document.value("memlock_bytes", std::int64_t{0});
  Table table;
  table.add({"kernel", text_of(document, "kernel") + " " + text_of(document, "machine")});
  table.add({"user", document.value("uid", Json{}).dump()});
  table.add({"CAP_NET_ADMIN", flag("cap_net_admin")});
  table.add({"CAP_NET_RAW", flag("cap_net_raw")});
  table.add({"/dev/net/tun", flag("tun")});
  table.add({"locked memory", memlock < 0
                                  ? std::string{"unlimited"}
                                  : human_number(static_cast<std::uint64_t>(memlock)) + "B"});
  for (const Json& engine : list_of(document, "engines")) {
    const bool available = engine.value("available", false);
    const Json features = list_of(engine, "features");
    table.add({text_of(engine, "name"),
               available
                   ? Cell{features.empty() ? "yes" : "yes: " + joined(features, " "), Paint::good}
                   : Cell{"no: " + text_of(engine, "reason"), Paint::bad}});
  }
  const Json engine = document.value("engine", Json::object());
  table.add({"engine: auto", text_of(engine, "name") + ": " + text_of(engine, "reason")});
  std::string out = table.render(color);
  for (const Json& missing : list_of(document, "missing")) {
    out += "missing: " + missing.get<std::string>() + "\n";
  }
  return out;
}

}  // namespace ringway::router
