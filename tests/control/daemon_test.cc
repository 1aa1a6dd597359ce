// A whole daemon in a child process: start, answers, stop, and every way in which a start fails.
#include "router/control/daemon.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/base/fd.h"
#include "router/cli/client.h"
#include "router/control/control.h"
#include "router/control/status.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

namespace fs = std::filesystem;

// Without IPv6, whose duplicate address detection would change the host while we compare.
constexpr const char* kUnderlay =
    "ip link add wire type veth peer name far;"
    "for name in wire far; do echo 1 >/proc/sys/net/ipv6/conf/$name/disable_ipv6; done;"
    "ip link set far up; ip link set wire up; ip addr add 192.0.2.1/24 dev wire";

// What a tunnel of every kind and family needs of the host.
constexpr const char* kConfig =
    "tunnels:\n"
    "  paris: {type: gre, local: wire, remote: 192.0.2.2, key: 7,\n"
    "          addresses: [10.255.0.1/30, fd00:255::1/64], routes: [10.20.0.0/16]}\n"
    "  rome: {type: ipip, local: wire, remote: 192.0.2.2, addresses: [10.254.0.1/30]}\n"
    "  he6: {type: sit, local: wire, remote: 192.0.2.2, addresses: [2001:db8::2/64],\n"
    "        routes: [{to: \"2001:db8:1::/48\", metric: 50}]}\n"
    "routes:\n"
    "  - {to: 10.40.0.0/16, via: rome}\n";

// A daemon under watch. It runs in the namespace of the test.
class Daemon {
 public:
  explicit Daemon(const std::string& config, const std::string& engine = "auto")
      : config_{directory_.write("ringway.yaml",
                                 "version: 1\ndaemon: {engine: " + engine + "}\n" + config)},
        manager_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory_ / "notify";
    std::copy(path.begin(), path.end(), std::begin(address.sun_path));
    REQUIRE(::bind(manager_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
            0);
    // Long enough for any machine; a daemon that hangs fails the test instead of hanging it.
    const timeval patience{20, 0};
    REQUIRE(::setsockopt(manager_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ==
            0);
  }

  void start(const std::function<bool()>& prepare = [] { return true; }) {
    child_ = std::make_unique<test::Child>(
        [this, prepare] {
          ::setenv("NOTIFY_SOCKET", (directory_ / "notify").c_str(), 1);
          DaemonOptions options;
          options.program = "ringwayd";
          options.config_path = config_;
          options.socket_path = socket();
          return prepare() ? static_cast<int>(run_daemon(options)) : 100;
        },
        directory_ / "log");
  }
  [[nodiscard]] Outcome end() { return static_cast<Outcome>(child_->wait()); }
  [[nodiscard]] test::Child& child() { return *child_; }

  // The next message to the service manager; "silence" if none comes.
  [[nodiscard]] std::string told() const {
    std::array<char, 512> text{};
    const ssize_t count = ::recv(manager_.get(), text.data(), text.size(), 0);
    return count < 0 ? "silence" : std::string{text.data(), static_cast<std::size_t>(count)};
  }
  [[nodiscard]] bool ready() const { return told().find("READY=1\nSTATUS=ready: ") == 0; }
  [[nodiscard]] std::string socket() const { return directory_ / "control.sock"; }
  [[nodiscard]] std::string log() const { return test::must("cat " + (directory_ / "log")); }
  [[nodiscard]] Json ask_for(const std::string& method) const {
    auto answer = ask(socket(), method);
    REQUIRE(answer.ok());
    return answer.value();
  }

 private:
  test::ScratchDirectory directory_;
  std::string config_;
  Fd manager_;
  std::unique_ptr<test::Child> child_;
};

bool have_tun() {
  const Fd tun{::open("/dev/net/tun", O_RDWR | O_CLOEXEC)};
  if (!tun.valid()) {
    MESSAGE("skipped: /dev/net/tun cannot be opened here");
  }
  return tun.valid();
}

const Json& tunnel(const Json& document, const std::string& name) {
  const Json& tunnels = document["tunnels"];
  const auto found = std::find_if(tunnels.begin(), tunnels.end(),
                                  [&](const Json& one) { return one["name"] == name; });
  REQUIRE(found != tunnels.end());
  return *found;
}

}  // namespace

TEST_CASE("a daemon sets up the host, answers, and leaves nothing behind") {
  const auto space = test::NetworkNamespace::enter();
  if (!space || !have_tun()) {
    return;
  }
  test::must(kUnderlay);
  const std::string before = test::state_of_the_host();
  struct Row {
    const char* engine;
    int signal;
  };
  for (const Row& row : {Row{"auto", SIGTERM}, Row{"epoll", SIGINT}, Row{"epoll", SIGHUP}}) {
    CAPTURE(row.signal);
    Daemon daemon{kConfig, row.engine};
    daemon.start();
    REQUIRE(daemon.ready());

    struct stat status{};
    REQUIRE(::stat(daemon.socket().c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0600U);
    const std::string addresses = test::must("ip addr show");
    for (const char* one :
         {"paris: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu 1472", "inet 10.255.0.1/30",
          "inet6 fd00:255::1/64", "rome: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu 1480",
          "inet 10.254.0.1/30", "he6: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu 1480",
          "inet6 2001:db8::2/64"}) {
      const std::string wanted = one;
      CAPTURE(wanted);
      CAPTURE(addresses);
      CHECK(addresses.find(wanted) != std::string::npos);
    }
    CHECK(test::must("ip route show proto 217") ==
          "10.20.0.0/16 dev paris scope link \n10.40.0.0/16 dev rome scope link \n");
    CHECK(test::must("ip -6 route show proto 217") ==
          "2001:db8:1::/48 dev he6 metric 50 pref medium\n");

    const Json document = daemon.ask_for("status");
    CHECK(document["pid"] == daemon.child().pid());
    CHECK(document["health"] == "ok");
    CHECK(tunnel(document, "paris")["local"] == "192.0.2.1");
    CHECK(tunnel(document, "paris")["mtu_reason"] == "wire 1500 - 28");
    CHECK(daemon.ask_for("tunnels")["tunnels"].size() == 3);
    CHECK(daemon.ask_for("ports")["ports"].size() == 6);
    CHECK(daemon.ask_for("drops")["total"].is_number());
    CHECK(daemon.ask_for("capabilities")["tun"] == true);

    daemon.child().send(row.signal);
    daemon.child().send(row.signal);  // the second one changes nothing
    CHECK(daemon.told() == "STOPPING=1\nSTATUS=stopping");
    CHECK(daemon.end() == Outcome::ok);
    CHECK(!fs::exists(daemon.socket()));
    CHECK(test::state_of_the_host() == before);
    CHECK(daemon.log().find("ringwayd: ready: 3 tunnels (paris, rome, he6) on ") !=
          std::string::npos);
  }
}

TEST_CASE("status follows what happens to the host") {
  const auto space = test::NetworkNamespace::enter();
  if (!space || !have_tun()) {
    return;
  }
  test::must(kUnderlay);
  Daemon daemon{kConfig};
  daemon.start();
  REQUIRE(daemon.ready());
  struct Row {
    std::string change;
    std::string tunnel;
    std::string state;
    std::string note;
    std::string next;
  };
  const std::vector<Row> rows{
      {"ip link set rome down", "rome", "down", "interface 'rome' is down",
       "sudo ip link set rome up"},
      {"ip link set wire mtu 1400", "paris", "degraded",
       "mtu 1472 is more than wire 1400 leaves: 1372", "sudo ip link set paris mtu 1372"},
      {"ip link set paris mtu 1372", "paris", "up", "", ""},
      {"ip route add 192.0.2.2/32 dev paris", "paris", "degraded",
       "the route to the remote leads back into the tunnel (loop)", "ip route get 192.0.2.2"},
      {"ip route del 192.0.2.2/32 dev paris; ip link set wire down", "paris", "degraded",
       "no route to the remote", "ip route get 192.0.2.2"},
      {"ip link del he6", "he6", "down", "interface 'he6' has been removed",
       "restart ringway to make it again"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.change);
    test::must(row.change);
    const Json document = daemon.ask_for("status");
    const Json& found = tunnel(document, row.tunnel);
    CHECK(found["state"] == row.state);
    CHECK((found["notes"].empty() ? "" : found["notes"][0]["text"]) == row.note);
    CHECK((found["notes"].empty() ? "" : found["notes"][0]["next"]) == row.next);
  }
  daemon.child().send(SIGTERM);
  CHECK(daemon.end() == Outcome::ok);
}

TEST_CASE("a start that fails says why and changes nothing") {
  const auto space = test::NetworkNamespace::enter();
  if (!space || !have_tun()) {
    return;
  }
  test::must(kUnderlay);
  struct Row {
    std::string name;
    std::string prepare;
    std::string clean;
    std::string config;
    Outcome outcome;
    std::string says;
  };
  const std::string tun =
      "ip tuntap add dev rome mode tun vnet_hdr; ip link set rome up addrgenmode none";
  const std::vector<Row> rows{
      {"an invalid file", "true", "true", "tunnels: {paris: {type: gree}}\n",
       Outcome::config_invalid, "ringway.yaml:3:"},
      {"no such local interface", "true", "true",
       "tunnels: {paris: {type: gre, local: eth7, remote: 192.0.2.2}}\n", Outcome::unavailable,
       "there is no such interface"},
      {"a name without address", "true", "true",
       "tunnels: {paris: {type: gre, remote: paris.invalid}}\n", Outcome::unavailable,
       "find the address of 'paris.invalid'"},
      {"both ends the same", "true", "true",
       "tunnels: {paris: {type: gre, local: wire, remote: 192.0.2.1}}\n", Outcome::unavailable,
       "its local and its remote end are both 192.0.2.1"},
      {"two tunnels that are one", "true", "true",
       "tunnels:\n"
       "  paris: {type: gre, local: wire, remote: 192.0.2.2}\n"
       "  rome: {type: gre, local: 192.0.2.1, remote: 192.0.2.2}\n",
       Outcome::unavailable, "cannot tell tunnels 'paris' and 'rome' apart"},
      {"the name of another interface", "ip link add rome type veth", "ip link del rome", kConfig,
       Outcome::unavailable, "'rome'"},
      {"a route of somebody else", "ip route add 10.40.0.0/16 dev wire",
       "ip route del 10.40.0.0/16 dev wire", kConfig, Outcome::unavailable,
       "cannot add route 10.40.0.0/16 through 'rome': File exists"},
      {"a foreign route that leads the remote into the tunnel",
       tun + "; ip route add 192.0.2.2/32 dev rome", "ip link del rome", kConfig,
       Outcome::unavailable, "the host's route to its remote 192.0.2.2 leads into a loop"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    test::must(row.prepare);
    const std::string before = test::state_of_the_host();
    Daemon daemon{row.config};
    daemon.start();
    CHECK(daemon.end() == row.outcome);
    const std::string log = daemon.log();
    CAPTURE(log);
    CHECK(log.find(row.says) != std::string::npos);
    CHECK((row.outcome == Outcome::config_invalid || log.find("= fix:") != std::string::npos));
    CHECK(!fs::exists(daemon.socket()));
    CHECK(test::state_of_the_host() == before);
    test::must(row.clean);
  }
}

TEST_CASE("a second daemon on the same socket is refused, after a kill it may start") {
  const auto space = test::NetworkNamespace::enter();
  if (!space || !have_tun()) {
    return;
  }
  test::must(kUnderlay);
  Daemon first{kConfig};
  first.start();
  REQUIRE(first.ready());
  const test::ScratchDirectory directory;
  const std::string config = directory.write("b.yaml", std::string{"version: 1\n"} + kConfig);
  const std::string log = directory / "log";
  test::Child second{[&] {
                       DaemonOptions options;
                       options.program = "ringwayd";
                       options.config_path = config;
                       options.socket_path = first.socket();
                       return static_cast<int>(run_daemon(options));
                     },
                     log};
  CHECK(static_cast<Outcome>(second.wait()) == Outcome::unavailable);
  CHECK(test::must("cat " + log).find("another daemon answers on it") != std::string::npos);
  CHECK(first.ask_for("status")["health"] == "ok");  // and the first one has not noticed

  first.child().send(SIGKILL);
  CHECK(first.child().wait() == -SIGKILL);
  CHECK(fs::is_socket(first.socket()));
  first.start();
  REQUIRE(first.ready());
  first.child().send(SIGTERM);
  CHECK(first.end() == Outcome::ok);
}

TEST_CASE("without rights: one clear message, nothing half-done") {
  const auto space = test::NetworkNamespace::enter();
  if (!space || !have_tun()) {
    return;
  }
  if (!test::is_root()) {
    MESSAGE("skipped: needs root to become somebody else");
    return;
  }
  test::must(kUnderlay);
  const std::string before = test::state_of_the_host();
  Daemon daemon{kConfig};
  test::must("chmod -R a+rwX " + fs::path{daemon.socket()}.parent_path().string());
  daemon.start([] { return ::setgid(65534) == 0 && ::setuid(65534) == 0; });
  CHECK(daemon.end() == Outcome::no_permission);
  // What is missing most is told first, not that there is no place for the socket either.
  const std::string config = fs::path{daemon.socket()}.parent_path() / "ringway.yaml";
  test::Child homeless{[&] {
                         ::unsetenv("XDG_RUNTIME_DIR");
                         DaemonOptions options;
                         options.program = "ringwayd";
                         options.config_path = config;
                         return ::setuid(65534) == 0 ? static_cast<int>(run_daemon(options)) : 100;
                       },
                       "/dev/null"};
  CHECK(static_cast<Outcome>(homeless.wait()) == Outcome::no_permission);

  const std::string log = daemon.log();
  CAPTURE(log);
  CHECK(log.find("ringwayd: cannot ") == 0);
  CHECK(log.find("= fix:") != std::string::npos);
  CHECK(std::count(log.begin(), log.end(), '\n') == 3);
  CHECK(!fs::exists(daemon.socket()));
  CHECK(test::state_of_the_host() == before);
}

TEST_CASE("a tunnel within a tunnel has the inner one's MTU less its own overhead") {
  const auto space = test::NetworkNamespace::enter();
  if (!space || !have_tun()) {
    return;
  }
  test::must(kUnderlay);
  // The nested one stands first: its carrier does not exist yet when its MTU is first chosen.
  Daemon daemon{
      "tunnels:\n"
      "  nested: {type: gre, remote: 10.255.0.2, key: 1, addresses: [10.253.0.1/30]}\n"
      "  carrier: {type: gre, local: wire, remote: 192.0.2.2, addresses: [10.255.0.1/30]}\n"};
  daemon.start();
  REQUIRE(daemon.ready());
  const Json document = daemon.ask_for("status");
  CHECK(tunnel(document, "carrier")["mtu"] == 1476);
  CHECK(tunnel(document, "nested")["mtu"] == 1448);
  CHECK(tunnel(document, "nested")["mtu_reason"] == "carrier 1476 - 28");
  CHECK(document["health"] == "ok");
  daemon.child().send(SIGTERM);
  CHECK(daemon.end() == Outcome::ok);
}

TEST_CASE("a persistent interface survives the daemon, as it was") {
  const auto space = test::NetworkNamespace::enter();
  if (!space || !have_tun()) {
    return;
  }
  test::must(kUnderlay);
  test::must("ip tuntap add dev paris mode tun vnet_hdr; ip addr add 172.16.0.1/24 dev paris");
  const std::string before = test::state_of_the_host();
  Daemon daemon{kConfig};
  daemon.start();
  REQUIRE(daemon.ready());
  CHECK(test::must("ip addr show paris").find("inet 10.255.0.1/30") != std::string::npos);
  CHECK(test::must("ip addr show paris").find("inet 172.16.0.1/24") != std::string::npos);
  daemon.child().send(SIGTERM);
  CHECK(daemon.end() == Outcome::ok);
  CHECK(test::state_of_the_host() == before);
}

TEST_CASE("the ready line names what runs, however much it is") {
  config::Config config;
  CHECK(ready_text(config, "epoll", "/s") == "ready: 0 tunnels on epoll, control /s");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    config.tunnels.emplace_back().name = name;
    if (config.tunnels.size() == 1) {
      CHECK(ready_text(config, "io_uring", "/s") == "ready: 1 tunnel (a) on io_uring, control /s");
    }
  }
  config.tunnels.emplace_back().name = "i";
  CHECK(ready_text(config, "epoll", "/s") ==
        "ready: 9 tunnels (a, b, c, d, e, f, g, h, ...) on epoll, control /s");
}

TEST_CASE("the programs and their exit codes") {
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::string ringwayd = build / "ringwayd";
  const std::string ringway = build / "ringway";
  if (!fs::exists(ringwayd) || !fs::exists(ringway)) {
    MESSAGE("skipped: ", ringwayd, " and ", ringway, " are not built");
    return;
  }
  const test::ScratchDirectory directory;
  const std::string good =
      directory.write("good.yaml", "version: 1\ntunnels: {a: {type: gre, remote: 192.0.2.2}}\n");
  const std::string bad = directory.write("bad.yaml", "version: 1\ntunnels: {a: {type: gree}}\n");
  struct Row {
    std::string command;
    int status;
    std::string says;
  };
  const std::vector<Row> rows{
      {ringwayd + " --version", 0, std::string{"ringwayd "} + RINGWAY_VERSION + "\n"},
      {ringwayd + " --help", 0, "--config"},
      {ringwayd, 2, "--config FILE is missing"},
      {ringwayd + " --bogus", 2, "--bogus"},
      {ringwayd + " --config", 2, "--config"},
      {ringwayd + " " + good, 2, "usage: ringwayd"},
      {ringwayd + " --check --config " + good, 0, good + ": ok, 1 tunnel\n"},
      {ringwayd + " --check --config " + bad, 78, bad + ":2:"},
      {ringwayd + " --config " + bad, 78, bad + ":2:"},
      {ringwayd + " --config " + (directory / "absent.yaml"), 78, "absent.yaml"},
      {ringwayd + " --config " + good + " --socket " + (directory / "no/such.sock"), 69,
       "the directory does not exist"},
      {ringway + " --version", 0, std::string{"ringway "} + RINGWAY_VERSION + "\n"},
      {ringway + " check " + bad, 3, bad + ":2:"},
      {ringway + " run " + bad, 3, bad + ":2:"},
      {ringway + " --socket " + (directory / "none") + " status", 4, "no daemon listens there"},
      {ringway + " version >/dev/full", 1, "cannot write to the standard output"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.command);
    const test::Output output = test::shell(row.command);
    CAPTURE(output.text);
    CHECK(output.status == row.status);
    CHECK(output.text.find(row.says) != std::string::npos);
    CHECK(output.text.find('\x1b') == std::string::npos);  // no colour into a pipe
  }
}

}  // namespace ringway::router
