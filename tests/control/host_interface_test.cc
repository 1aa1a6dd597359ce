// An interface brought to the wanted state and back; iproute2 sees the difference.
#include "router/control/host_interface.h"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "config/model.h"
#include "netio/wire/address.h"
#include "router/control/log.h"
#include "router/control/netlink.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

wire::IpPrefix prefix(const char* text) {
  return *wire::parse_prefix(text);
}

// A persistent TUN that somebody else made, with things of theirs on it.
void make_tun(const std::string& options = {}) {
  test::must("ip tuntap add dev t0 mode tun vnet_hdr " + options);
}

struct Rig {
  Netlink netlink;
  Log log{STDERR_FILENO, "test", config::LogLevel::error, LogStyle::terminal};

  Rig() : netlink{std::move(Netlink::open()).value()} {}
};

WantedInterface wanted() {
  return {.name = "t0",
          .existed = true,
          .mtu = 1476,
          .carries_ipv6 = true,
          .addresses = {prefix("10.255.0.1/30"), prefix("fd00:255::1/64")},
          .routes = {{prefix("10.20.0.0/16"), 0},
                     {prefix("10.30.0.0/16"), 200},
                     {prefix("2001:db8:20::/48"), 0}}};
}

// Gives up the right to change interfaces, for good.
bool drop_net_admin() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) {
    return false;
  }
  data[0].effective &= ~(1U << CAP_NET_ADMIN);
  data[0].permitted &= ~(1U << CAP_NET_ADMIN);
  data[0].inheritable = 0;
  return ::syscall(SYS_capset, &header, data) == 0;
}

}  // namespace

TEST_CASE("a persistent interface gets all, and is given back as it was") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();
  test::must("ip addr add 172.16.0.1/24 dev t0; ip addr add fd00:f::1/64 dev t0");
  const std::string before = test::state_of_the_host();
  Rig rig;
  {
    auto host = HostInterface::apply(rig.netlink, rig.log, wanted());
    REQUIRE(host.ok());
    const std::string link = test::must("ip link show t0");
    CHECK(link.find("mtu 1476") != std::string::npos);
    CHECK(link.find("qlen 1000") != std::string::npos);
    CHECK(link.find(",UP") != std::string::npos);
    const std::string addresses = test::must("ip addr show t0");
    for (const char* one : {"10.255.0.1/30", "fd00:255::1/64", "172.16.0.1/24", "fd00:f::1/64"}) {
      CAPTURE(one);
      CHECK(addresses.find(one) != std::string::npos);
    }
    const std::string routes = test::must("ip route show proto 217; ip -6 route show proto 217");
    CHECK(routes ==
          "10.20.0.0/16 dev t0 scope link linkdown \n"
          "10.30.0.0/16 dev t0 scope link metric 200 linkdown \n"
          "2001:db8:20::/48 dev t0 metric 1024 linkdown pref medium\n");
  }
  CHECK(test::state_of_the_host() == before);
}

TEST_CASE("what was there before stays, also if we wanted it too") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();
  test::must(
      "ip link set t0 up mtu 1476 txqueuelen 2000; ip addr add 10.255.0.1/30 dev t0;"
      "ip route add 10.20.0.0/16 dev t0; ip route add 10.99.0.0/16 dev t0;"
      "ip -6 route add 2001:db8:20::/48 dev t0");
  const std::string before = test::state_of_the_host();
  Rig rig;
  {
    auto host = HostInterface::apply(rig.netlink, rig.log, wanted());
    REQUIRE(host.ok());
    CHECK(test::must("ip link show t0").find("qlen 2000") != std::string::npos);
    CHECK(test::must("ip route show proto 217") ==
          "10.30.0.0/16 dev t0 scope link metric 200 linkdown \n");
    CHECK(test::must("ip -6 route show proto 217").empty());
  }
  CHECK(test::state_of_the_host() == before);
}

TEST_CASE("what the kernel flushes along with ours is put back") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();
  // No IPv4 address of its own: the kernel drops all IPv4 routes when ours, the only one, goes.
  test::must(
      "ip link set t0 up; ip addr add fd00:f::1/64 dev t0 nodad;"
      "ip route add 10.99.0.0/16 dev t0 proto static metric 7 mtu 1300;"
      "ip route add 10.98.0.0/16 via 10.99.0.1 dev t0 onlink;"
      "ip route add 10.97.0.0/16 dev t0 table 77;"
      "ip -6 route add 2001:db8:99::/48 via fd00:f::2 dev t0 proto bird metric 9");
  const std::string before = test::state_of_the_host();
  Rig rig;
  {
    auto host = HostInterface::apply(rig.netlink, rig.log, wanted());
    REQUIRE(host.ok());
    CHECK(test::state_of_the_host() != before);
  }
  CHECK(test::state_of_the_host() == before);
}

TEST_CASE("a step that fails takes back those before it") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();
  test::must("ip link add d0 type dummy || ip link add d0 type veth peer name d1");
  test::must("ip link set d0 up; ip route add 10.30.0.0/16 dev d0 metric 200");
  const std::string before = test::state_of_the_host();
  Rig rig;
  const auto taken = HostInterface::apply(rig.netlink, rig.log, wanted());
  REQUIRE(!taken.ok());
  CHECK(taken.error().number == EEXIST);
  CHECK(taken.error().subject == "add route 10.30.0.0/16 metric 200 through 't0'");
  CHECK(test::state_of_the_host() == before);

  WantedInterface too_small = wanted();
  too_small.mtu = 1000;  // IPv6 needs 1280
  const auto refused = HostInterface::apply(rig.netlink, rig.log, too_small);
  REQUIRE(!refused.ok());
  CHECK(refused.error().subject == "add address fd00:255::1/64 to 't0'");
  CHECK(refused.error().why.find("1280") != std::string::npos);
  CHECK(test::state_of_the_host() == before);

  WantedInterface absent = wanted();
  absent.name = "t9";
  CHECK(HostInterface::apply(rig.netlink, rig.log, absent).error().number == ENODEV);
}

TEST_CASE("undo minds nothing that is gone already") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();
  Rig rig;
  auto host = HostInterface::apply(rig.netlink, rig.log, wanted());
  REQUIRE(host.ok());
  test::must("ip addr flush dev t0; ip -6 route flush dev t0");
  host.value().undo();
  CHECK(test::must("ip link show t0").find("mtu 1500") != std::string::npos);
  host.value().undo();

  auto again = HostInterface::apply(rig.netlink, rig.log, wanted());
  REQUIRE(again.ok());
  test::must("ip link del t0");
  again.value().undo();
  CHECK(test::shell("ip link show t0").status != 0);
}

TEST_CASE("an interface of ours goes as a whole") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();  // stands for one that this process made
  WantedInterface ours = wanted();
  ours.existed = false;
  Rig rig;
  {
    auto host = HostInterface::apply(rig.netlink, rig.log, ours);
    REQUIRE(host.ok());
    CHECK(test::must("ip route show proto 217").find("10.20.0.0/16") != std::string::npos);
    CHECK(host.value().lower_mtu(1400).ok());
    CHECK(test::must("ip link show t0").find("mtu 1400") != std::string::npos);
  }
  CHECK(test::shell("ip link show t0").status != 0);
}

TEST_CASE("a lowered MTU is given back as well") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();
  const std::string before = test::state_of_the_host();
  Rig rig;
  {
    auto host = HostInterface::apply(rig.netlink, rig.log, wanted());
    REQUIRE(host.ok());
    CHECK(host.value().lower_mtu(1300).ok());
  }
  CHECK(test::state_of_the_host() == before);
}

TEST_CASE("into a tunnel for IPv4 only the kernel sends nothing of its own") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  // A forwarding host: there MLD reports leave even without a link-local address.
  test::must("sysctl -qw net.ipv6.conf.all.forwarding=1");
  make_tun();
  WantedInterface ipv4 = wanted();
  ipv4.existed = false;
  ipv4.carries_ipv6 = false;
  ipv4.addresses = {prefix("10.255.0.1/30")};
  ipv4.routes.clear();
  Rig rig;
  {
    auto host = HostInterface::apply(rig.netlink, rig.log, ipv4);
    REQUIRE(host.ok());
    CHECK(test::must("cat /proc/sys/net/ipv6/conf/t0/disable_ipv6") == "1\n");
    CHECK(test::must("ip -6 addr show dev t0").empty());
  }
  // Somebody else's interface is not ours to switch off.
  make_tun();
  ipv4.existed = true;
  auto host = HostInterface::apply(rig.netlink, rig.log, ipv4);
  REQUIRE(host.ok());
  CHECK(test::must("cat /proc/sys/net/ipv6/conf/t0/disable_ipv6") == "0\n");
}

TEST_CASE("without rights: fine if all is prepared, a command for root if not") {
  const auto space = test::NetworkNamespace::enter();
  if (!space) {
    return;
  }
  make_tun();
  test::must(
      "ip link set t0 up mtu 1476 txqueuelen 1000; ip addr add 10.255.0.1/30 dev t0;"
      "ip addr add fd00:255::1/64 dev t0; ip route add 10.20.0.0/16 dev t0;"
      "ip route add 10.30.0.0/16 dev t0 metric 200; ip -6 route add 2001:db8:20::/48 dev t0");
  const std::string before = test::state_of_the_host();
  const test::ScratchDirectory directory;
  const std::string messages = directory / "messages";
  const auto apply_without_rights = [&](const WantedInterface& want) {
    test::Child child{[&] {
                        if (!drop_net_admin()) {
                          return 100;
                        }
                        Rig rig;
                        rig.log.set_level(config::LogLevel::warning);
                        auto host = HostInterface::apply(rig.netlink, rig.log, want);
                        if (!host) {
                          rig.log.report(host.error());
                        }
                        return host.ok() ? 0 : host.error().number;
                      },
                      messages};
    return child.wait();
  };
  CHECK(apply_without_rights(wanted()) == 0);
  CHECK(test::must("cat " + messages).empty());
  CHECK(test::state_of_the_host() == before);

  struct Row {
    std::string change;
    std::string command;  // what root is asked to do
  };
  const std::vector<Row> rows{
      {"ip link set t0 mtu 1500", "sudo ip link set t0 mtu 1476"},
      {"ip addr del 10.255.0.1/30 dev t0", "sudo ip address add 10.255.0.1/30 dev t0"},
      {"ip route del 10.30.0.0/16 dev t0", "sudo ip route add 10.30.0.0/16 metric 200 dev t0"},
      {"ip -6 route del 2001:db8:20::/48 dev t0", "sudo ip -6 route add 2001:db8:20::/48 dev t0"},
      {"ip link set t0 down; ip addr add fd00:255::1/64 dev t0", "sudo ip link set t0 up"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.change);
    test::must(row.change);
    CHECK(apply_without_rights(wanted()) == EPERM);
    const std::string said = test::must("cat " + messages + "; : > " + messages);
    CAPTURE(said);
    CHECK(said.find(row.command) != std::string::npos);
    test::must(
        "ip addr flush dev t0; ip route flush dev t0; ip -6 route flush dev t0;"
        "ip link set t0 up mtu 1476; ip addr add 10.255.0.1/30 dev t0;"
        "ip addr add fd00:255::1/64 dev t0; ip route add 10.20.0.0/16 dev t0;"
        "ip route add 10.30.0.0/16 dev t0 metric 200;"
        "ip -6 route add 2001:db8:20::/48 dev t0");
  }
  // A short queue is a pity, not a reason to stay away.
  test::must("ip link set t0 txqueuelen 500");
  CHECK(apply_without_rights(wanted()) == 0);
  CHECK(test::must("cat " + messages).find("sudo ip link set t0 txqueuelen 1000") !=
        std::string::npos);
}

}  // namespace ringway::router
