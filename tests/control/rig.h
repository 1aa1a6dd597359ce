// What the tests of control share: network namespaces, scratch directories, commands, children.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <sys/types.h>

#include "netio/base/fd.h"

namespace ringway::test {

// A fresh network namespace for the calling thread, which returns to its own at the end. Nothing in
// it is connected to anything. Children inherit it.
class NetworkNamespace {
 public:
  // Nothing, after a printed reason, where it is not permitted.
  [[nodiscard]] static std::optional<NetworkNamespace> enter();
  NetworkNamespace(NetworkNamespace&&) = default;
  NetworkNamespace& operator=(NetworkNamespace&&) = delete;
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;
  ~NetworkNamespace();

 private:
  explicit NetworkNamespace(Fd home) : home_{std::move(home)} {}
  Fd home_;
};

// A directory that goes with all that is in it.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // The path of a file in it.
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

struct Output {
  int status = -1;   // exit status; -1 if it was a signal
  std::string text;  // standard output and error together
};

// Runs a shell command to its end.
[[nodiscard]] Output shell(const std::string& command);
// The same, and the test fails unless it succeeds. Returns what it printed.
std::string must(const std::string& command);

// Everything that iproute2 can tell about the network namespace, but for what the kernel changes on
// its own and in its own time: the carrier of a TUN (somebody attached to it, or not), the qdisc of
// an interface that was up once, and the multicast route of one that had IPv6.
[[nodiscard]] std::string state_of_the_host();

// A child process that runs `action` and ends with its result, standard error to a file if given.
class Child {
 public:
  explicit Child(const std::function<int()>& action, const std::string& error_file = {});
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();  // kills it if it still runs

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send(int signal) const;
  // Waits for the end; returns the exit status, or minus the signal that ended it.
  [[nodiscard]] int wait();

 private:
  pid_t pid_ = -1;
};

[[nodiscard]] bool is_root();

}  // namespace ringway::test
