// The datagrams of sd_notify(3), received by a socket of ours.
#include "router/control/notify.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/base/fd.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

// A datagram socket bound to a path or, with '@', to an abstract name.
Fd manager(const std::string& name) {
  Fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), std::begin(address.sun_path));
  if (name.front() == '@') {
    address.sun_path[0] = '\0';
  }
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
  return socket;
}

std::string received(const Fd& socket) {
  std::array<char, 512> text{};
  const ssize_t count = ::recv(socket.get(), text.data(), text.size(), 0);
  return count >= 0 ? std::string{text.data(), static_cast<std::size_t>(count)} : "nothing";
}

}  // namespace

TEST_CASE("states arrive at a path and at an abstract name") {
  const test::ScratchDirectory directory;
  for (const std::string& name :
       {directory / "notify", "@ringway-test-" + std::to_string(::getpid())}) {
    CAPTURE(name);
    const Fd socket = manager(name);
    const Notifier notifier{name};
    CHECK(notifier.enabled());
    CHECK(notifier.send("READY=1\nSTATUS=2 tunnels").ok());
    CHECK(received(socket) == "READY=1\nSTATUS=2 tunnels");
    CHECK(notifier.send("STOPPING=1").ok());
    CHECK(received(socket) == "STOPPING=1");
    CHECK(received(socket) == "nothing");
  }
}

TEST_CASE("without a manager nothing happens") {
  const Notifier notifier{""};
  CHECK(!notifier.enabled());
  CHECK(notifier.send("READY=1").ok());
}

TEST_CASE("an address that leads nowhere is an error with a cause") {
  const test::ScratchDirectory directory;
  struct Row {
    std::string address;
    int number;
  };
  const std::array<Row, 4> rows{{{directory / "absent", ENOENT},
                                 {"relative", EAFNOSUPPORT},
                                 {"vsock:2:1234", EAFNOSUPPORT},
                                 {"/" + std::string(200, 'x'), EAFNOSUPPORT}}};
  for (const Row& row : rows) {
    CAPTURE(row.address);
    const auto sent = Notifier{row.address}.send("READY=1");
    REQUIRE(!sent.ok());
    CHECK(sent.error().number == row.number);
    CHECK(!sent.error().why.empty());
    CHECK(!sent.error().fix.empty());
  }
}

}  // namespace ringway::router
