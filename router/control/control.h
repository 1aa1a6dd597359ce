// Control: the main thread of a daemon: starts an instance, answers questions, stops it cleanly.
#pragma once

#include <string>

#include "config/model.h"
#include "netio/base/result.h"
#include "router/control/log.h"
#include "router/control/notify.h"

namespace ringway::router {

struct ControlOptions {
  std::string config_path;          // for status
  Result<std::string> socket_path;  // or why there is none: told when it would be needed
  bool make_socket_directory = false;
};

// Runs the configuration until SIGINT, SIGTERM or SIGHUP asks it to stop. Returns when the host is
// as it was before; an error means that it never got to work. Ignores SIGPIPE from then on.
[[nodiscard]] Result<void> run_control(const ControlOptions& options, const config::Config& config,
                                       const Log& log, const Notifier& notifier);

// "ready: 2 tunnels (paris, berlin) on io_uring, control /run/ringway/control.sock".
[[nodiscard]] std::string ready_text(const config::Config& config, const std::string& engine,
                                     const std::string& socket_path);

}  // namespace ringway::router
