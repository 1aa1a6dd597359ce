// Opening devices: what works on interfaces that others made, and the words for what does not.
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/device/raw_socket.h"
#include "netio/device/tun_device.h"
#include "tests/platform/lab.h"

namespace ringway::test {
namespace {

using netio::RawSocket;
using netio::TunDevice;

// Gives up all rights of root but keeps the user.
bool drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[2]{};
  return ::syscall(SYS_capset, &header, none) == 0;
}

std::string open_tun(const std::string& name) {
  auto device = TunDevice::open({.name = name});
  return device.ok() ? "opened" : device.error().text();
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a new interface is ours alone and ends with us") {
  if (!can_run()) {
    return;
  }
  const Namespace space;
  {
    auto device = TunDevice::open({.name = "rw0", .mtu = 1400});
    REQUIRE(device.ok());
    CHECK_FALSE(device.value().existed());
    CHECK(device.value().name() == "rw0");
    CHECK(device.value().mtu() == 1400);
    CHECK(exists("rw0"));
  }
  CHECK_FALSE(exists("rw0"));
}

TEST_CASE("a persistent interface is used as it is, whatever its last user left, and survives") {
  if (!can_run()) {
    return;
  }
  struct Row {
    std::string name;
    int flags;
    int header_bytes;  // 0: left alone
  };
  const std::vector<Row> rows{
      {"as `ip tuntap add mode tun` makes it", IFF_TUN | IFF_NO_PI, 0},
      {"with vnet_hdr", IFF_TUN | IFF_NO_PI | IFF_VNET_HDR, 0},
      {"after a virtual machine", IFF_TUN | IFF_NO_PI | IFF_VNET_HDR, 12},
      {"with packet information", IFF_TUN, 0},
      {"multi_queue", IFF_TUN | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE, 0},
  };
  for (const EngineRow& engine : engines()) {
    for (const Row& row : rows) {
      CAPTURE(engine.name);
      CAPTURE(row.name);
      const Namespace space;
      {
        const Fd maker = foreign_tun("rw0", row.flags, true);
        if (row.header_bytes != 0) {
          REQUIRE(::ioctl(maker.get(), TUNSETVNETHDRSZ, &row.header_bytes) == 0);
        }
      }
      {
        auto device = TunDevice::open({.name = "rw0"});
        REQUIRE_MESSAGE(device.ok(), error_text(device));
        CHECK(device.value().existed());
      }
      {
        Rig rig{engine};
        netio::Port& tun = rig.tun("rw0");
        const Fd socket = udp_socket("10.9.0.1", 7001);
        const PacketBytes payload = numbered(1, 100);
        rig.send(tun, {packet().ipv4("10.9.0.2", "10.9.0.1").udp(7001, 7001).raw(payload)});
        CHECK(read_all(socket) == one(payload));
        send_to(socket, "10.9.0.2", 7001, payload);
        const std::vector<PacketBytes> got = rig.collect(tun, 1);
        REQUIRE(got.size() == 1);
        CHECK(PacketBytes{got[0].begin() + 28, got[0].end()} == payload);
      }
      CHECK(exists("rw0"));
    }
  }
}

TEST_CASE("a name that cannot be one is refused before the kernel sees it") {
  for (const char* name : {"", "sixteen-bytes-xx", "a b", "a/b", "a:b", "tun%d", ".", ".."}) {
    CAPTURE(name);
    const std::string text = open_tun(name);
    CHECK(has(text, "cannot create interface '"));
    CHECK(has(text, "invalid interface name"));
    CHECK(has(text, "= why:  "));
    CHECK(has(text, "= fix:  "));
  }
}

TEST_CASE("a name that others have is refused with who and what") {
  if (!can_run()) {
    return;
  }
  const Namespace space;
  SUBCASE("a TAP") {
    const Fd tap = foreign_tun("rw0", IFF_TAP | IFF_NO_PI, true);
    const std::string text = open_tun("rw0");
    CHECK(has(text, "cannot attach to interface 'rw0': Invalid argument (TUNSETIFF, errno 22)"));
    CHECK(has(text, "is a TAP (layer 2)"));
  }
  SUBCASE("no TUN at all") {
    CHECK(has(open_tun("lo"), "exists and is not a TUN"));
  }
  SUBCASE("in use") {
    const Fd other = foreign_tun("rw0", IFF_TUN | IFF_NO_PI, false);
    const std::string text = open_tun("rw0");
    CHECK(has(text, "Device or resource busy (TUNSETIFF, errno 16)"));
    CHECK(text.find("process " + std::to_string(::getpid()) + " holds it") != std::string::npos);
  }
}

TEST_CASE("the interface of a process just killed can be had at once") {
  if (!can_run()) {
    return;
  }
  const Namespace space;
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    Fd other = foreign_tun("rw0", IFF_TUN | IFF_NO_PI, false);
    const pid_t holder = ::fork();
    REQUIRE(holder >= 0);
    if (holder == 0) {
      for (;;) {
        ::pause();
      }
    }
    other.reset();
    REQUIRE(::kill(holder, SIGKILL) == 0);
    CHECK(open_tun("rw0") == "opened");  // the kernel is still taking the holder apart
    REQUIRE(::waitpid(holder, nullptr, 0) == holder);
  }
}

TEST_CASE("missing rights and devices are told apart, with what to do") {
  if (!can_run()) {
    return;
  }
  SUBCASE("no CAP_NET_ADMIN") {
    const std::string text = in_child([] {
      return ::unshare(CLONE_NEWNET) == 0 && drop_capabilities() ? open_tun("rw0") : "set-up";
    });
    CHECK(has(text, "cannot create interface 'rw0': Operation not permitted (TUNSETIFF, errno 1)"));
    CHECK(has(text, "lacks CAP_NET_ADMIN and no persistent interface 'rw0' owned by user 0"));
    CHECK(has(text, "sudo ip tuntap add rw0 mode tun user $USER vnet_hdr"));
  }
  SUBCASE("an interface of another user") {
    const std::string text = in_child([]() -> std::string {
      if (::unshare(CLONE_NEWNET) != 0) {
        return "set-up";
      }
      const Fd maker = foreign_tun("rw0", IFF_TUN | IFF_NO_PI, true);
      if (::ioctl(maker.get(), TUNSETOWNER, 4711UL) != 0) {
        return "owner";
      }
      return drop_capabilities() ? open_tun("rw0") : "capabilities";
    });
    CHECK(has(text, "cannot attach to interface 'rw0'"));
    CHECK(has(text, "belongs to another user or group than user 0"));
  }
  SUBCASE("no /dev/net/tun") {
    const std::string text = in_child([]() -> std::string {
      const bool hidden = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("none", "/dev/net", "tmpfs", 0, nullptr) == 0;
      return hidden ? open_tun("rw0") : "mount";
    });
    CHECK(has(text, "No such file or directory (open /dev/net/tun, errno 2)"));
    CHECK(has(text, "modprobe tun"));
    CHECK(has(text, "--device /dev/net/tun"));
    CHECK(has(text, "mknod -m 0666 /dev/net/tun c 10 200"));
  }
  SUBCASE("no right to open /dev/net/tun") {
    const std::string text = in_child([]() -> std::string {
      const bool hidden = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("none", "/dev/net", "tmpfs", MS_NOEXEC, nullptr) == 0 &&
                          ::close(::open("/dev/net/tun", O_CREAT | O_CLOEXEC, 0)) == 0;
      return hidden && drop_capabilities() ? open_tun("rw0") : "mount";
    });
    CHECK(has(text, "Permission denied (open /dev/net/tun, errno 13)"));
    CHECK(has(text, "sudo chmod 0666 /dev/net/tun"));
  }
  SUBCASE("no CAP_NET_RAW") {
    const std::string text = in_child([] {
      drop_capabilities();
      auto socket = RawSocket::open(wire::IpProtocol::gre);
      return socket.ok() ? "opened" : socket.error().text();
    });
    CHECK(has(text, "cannot open the IPv4 socket raw:gre: Operation not permitted"));
    CHECK(has(text, "CAP_NET_RAW"));
  }
}

}  // namespace
}  // namespace ringway::test
