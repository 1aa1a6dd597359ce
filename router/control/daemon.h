// Daemon: from the command line's wishes to a running router; shared by `ringwayd` and `ringway
// run`.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace ringway::router {

// How a run ended. Each program has its own exit codes for these.
enum class Outcome {
  ok,
  no_permission,   // EX_NOPERM: a right is missing
  config_invalid,  // EX_CONFIG
  unavailable,     // EX_UNAVAILABLE: something else that we need is not there
};

struct DaemonOptions {
  std::string program;  // as messages name it: "ringwayd"
  std::string config_path;
  std::string socket_path;      // empty: the usual place
  bool private_socket = false;  // the usual place is one of this process alone
};

// Loads the file and runs it in the foreground until a signal stops it. Messages go to stderr.
[[nodiscard]] Outcome run_daemon(const DaemonOptions& options);

// What this process lacks to run tunnels here, as warnings on stderr.
void warn_missing_rights(const std::string& program);

// True if `fd` is a terminal and $NO_COLOR (no-color.org) is not set.
[[nodiscard]] bool wants_color(int fd);

// Loads the file and writes what is wrong with it to `err`, else "FILE: ok, 2 tunnels" to `out`.
[[nodiscard]] Outcome check_config(const std::string& config_path, std::ostream& out,
                                   std::ostream& err);

// "2 tunnels".
[[nodiscard]] std::string tunnel_count_text(std::size_t count);

}  // namespace ringway::router
