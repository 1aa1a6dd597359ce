// Namespaces, children, and the shell as an oracle.
#include "tests/control/rig.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/base/fd.h"

namespace ringway::test {

std::optional<NetworkNamespace> NetworkNamespace::enter() {
  Fd home{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (!home.valid() || ::unshare(CLONE_NEWNET) != 0) {
    MESSAGE("skipped: no network namespace of our own here: ", std::strerror(errno));
    return std::nullopt;
  }
  NetworkNamespace fresh{std::move(home)};
  must("ip link set lo up");
  return fresh;
}

NetworkNamespace::~NetworkNamespace() {
  if (home_.valid()) {
    CHECK(::setns(home_.get(), CLONE_NEWNET) == 0);
  }
}

ScratchDirectory::ScratchDirectory() : path_{"/tmp/ringway-test-XXXXXX"} {
  REQUIRE(::mkdtemp(path_.data()) != nullptr);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchDirectory::write(const std::string& name, const std::string& text) const {
  std::ofstream file{path_ + "/" + name};
  file << text;
  file.close();
  REQUIRE(file.good());
  return path_ + "/" + name;
}

Output shell(const std::string& command) {
  std::FILE* const pipe = ::popen(("{ " + command + "; } 2>&1").c_str(), "re");
  REQUIRE(pipe != nullptr);
  Output out;
  std::array<char, 4096> chunk{};
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    out.text.append(chunk.data(), count);
  }
  const int status = ::pclose(pipe);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

std::string must(const std::string& command) {
  Output out = shell(command);
  CAPTURE(command);
  CAPTURE(out.text);
  REQUIRE(out.status == 0);
  return std::move(out.text);
}

std::string state_of_the_host() {
  return must(
      "{ ip addr show; ip route show table all | grep -v ^multicast; } "
      "|"
      "sed 's/qdisc [a-z_]*//; s/NO-CARRIER,//; s/,LOWER_UP//; s/state [A-Z]*//; s/ linkdown//';"
      "cd /proc/sys/net/ipv6/conf && grep . */disable_ipv6 || true");
}

Child::Child(const std::function<int()>& action, const std::string& error_file) {
  std::fflush(nullptr);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ != 0) {
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive a test that crashes
  for (const int number : {SIGTERM, SIGINT, SIGABRT, SIGSEGV}) {
    ::signal(number, SIG_DFL);  // doctest's handlers would report a failed test
  }
  if (!error_file.empty()) {
    const int file = ::open(error_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    ::dup2(file, STDERR_FILENO);
  }
  int status = 127;
  try {
    status = action();
  } catch (...) {
    status = 126;
  }
  std::fflush(nullptr);
  ::_exit(status);
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Child::send(int signal) const {
  REQUIRE(::kill(pid_, signal) == 0);
}

int Child::wait() {
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool is_root() {
  return ::geteuid() == 0;
}

}  // namespace ringway::test
