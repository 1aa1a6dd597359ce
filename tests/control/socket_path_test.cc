// Who gets a name in the file system, and who takes it away again.
#include "router/control/socket_path.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/base/fd.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

namespace fs = std::filesystem;

unsigned mode_of(const std::string& path) {
  struct stat status{};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

// A name whose socket nobody listens on any more, as a killed daemon leaves it.
void leave_stale(const std::string& path) {
  const Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
}

}  // namespace

TEST_CASE("where a daemon listens by default") {
  CHECK(default_socket_path(0, "/run/user/0").value() == "/run/ringway/control.sock");
  CHECK(default_socket_path(0, nullptr, "run-7.sock").value() == "/run/ringway/run-7.sock");
  CHECK(default_socket_path(1000, "/run/user/1000").value() ==
        "/run/user/1000/ringway/control.sock");
  for (const char* missing : {static_cast<const char*>(nullptr), "", "relative"}) {
    const auto path = default_socket_path(1000, missing);
    REQUIRE(!path.ok());
    CHECK(path.error().fix.find("--socket") != std::string::npos);
  }
}

TEST_CASE("the name exists with mode 0600 as long as the object") {
  const test::ScratchDirectory directory;
  const std::string path = directory / "control.sock";
  const mode_t before = ::umask(0);
  {
    auto bound = ListeningSocket::bind(path, false);
    REQUIRE(bound.ok());
    CHECK(mode_of(path) == 0600U);
    // Taking the descriptor does not take the name.
    const ListeningSocket moved = std::move(bound).value();
    CHECK(fs::is_socket(path));
  }
  ::umask(before);
  CHECK(!fs::exists(path));
}

TEST_CASE("a stale socket is replaced, a live one is respected") {
  const test::ScratchDirectory directory;
  const std::string path = directory / "control.sock";
  leave_stale(path);
  {
    auto first = ListeningSocket::bind(path, false);
    REQUIRE(first.ok());
    auto second = ListeningSocket::bind(path, false);
    REQUIRE(!second.ok());
    CHECK(second.error().number == EADDRINUSE);
    CHECK(second.error().why == "another daemon answers on it");
    CHECK(fs::is_socket(path));  // the refused one has not taken it away
  }
  CHECK(!fs::exists(path));
}

TEST_CASE("what is no socket is left alone") {
  const test::ScratchDirectory directory;
  const std::string path = directory.write("precious", "data");
  const auto bound = ListeningSocket::bind(path, false);
  REQUIRE(!bound.ok());
  CHECK(bound.error().number == EEXIST);
  CHECK(fs::file_size(path) == 4);
}

TEST_CASE("a name that somebody else took over meanwhile stays") {
  const test::ScratchDirectory directory;
  const std::string path = directory / "control.sock";
  std::optional<ListeningSocket> first;
  {
    auto bound = ListeningSocket::bind(path, false);
    REQUIRE(bound.ok());
    first.emplace(std::move(bound).value());
  }
  fs::rename(path, directory / "elsewhere");
  leave_stale(path);
  first.reset();
  CHECK(fs::is_socket(path));
}

TEST_CASE("the parent directory is made only when asked, and goes when empty") {
  const test::ScratchDirectory directory;
  const std::string parent = directory / "ringway";
  const std::string path = parent + "/control.sock";
  const auto refused = ListeningSocket::bind(path, false);
  REQUIRE(!refused.ok());
  CHECK(refused.error().number == ENOENT);
  CHECK(refused.error().why == "the directory does not exist");
  const mode_t before = ::umask(022);
  {
    auto bound = ListeningSocket::bind(path, true);
    REQUIRE(bound.ok());
    CHECK(mode_of(parent) == 0755U);
  }
  CHECK(!fs::exists(parent));
  {
    auto bound = ListeningSocket::bind(path, true);
    REQUIRE(bound.ok());
    leave_stale(parent + "/other.sock");
  }
  ::umask(before);
  CHECK(fs::exists(parent + "/other.sock"));
  CHECK(!fs::exists(path));
}

TEST_CASE("names that a socket cannot have") {
  const test::ScratchDirectory directory;
  for (const std::string& path : {std::string{}, directory / std::string(100, 'x')}) {
    const auto bound = ListeningSocket::bind(path, false);
    REQUIRE(!bound.ok());
    CHECK(bound.error().number == ENAMETOOLONG);
  }
}

TEST_CASE("an ordinary user learns what is missing") {
  if (!test::is_root()) {
    MESSAGE("skipped: needs root to become somebody else");
    return;
  }
  const test::ScratchDirectory directory;  // 0700: not for others
  const std::string path = directory / "control.sock";
  test::Child child{[&] {
    if (::setuid(65534) != 0) {
      return 100;
    }
    const auto bound = ListeningSocket::bind(path, false);
    return bound.ok() ? 0 : bound.error().number;
  }};
  CHECK(child.wait() == EACCES);
}

}  // namespace ringway::router
