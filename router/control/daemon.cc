// The life of a daemon around its control thread, and what its environment says.
#include "router/control/daemon.h"

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "config/load.h"
#include "config/model.h"
#include "netio/base/result.h"
#include "router/control/capabilities.h"
#include "router/control/control.h"
#include "router/control/log.h"
#include "router/control/notify.h"
#include "router/control/socket_path.h"

namespace ringway::router {

namespace {

// Read at start, when there is one thread.
const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

std::string or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

Outcome outcome_of(const Error& error) {
  return error.is_permission() ? Outcome::no_permission : Outcome::unavailable;
}

Result<std::string> socket_path_for(const DaemonOptions& options) {
  if (!options.socket_path.empty()) {
    return options.socket_path;
  }
  const std::string file =
      options.private_socket ? fmt::format("run-{}.sock", ::getpid()) : "control.sock";
  return default_socket_path(::geteuid(), environment("XDG_RUNTIME_DIR"), file);
}

}  // namespace

bool wants_color(int fd) {
  return ::isatty(fd) == 1 && or_empty(environment("NO_COLOR")).empty();
}

std::string tunnel_count_text(std::size_t count) {
  return fmt::format("{} tunnel{}", count, count == 1 ? "" : "s");
}

Outcome check_config(const std::string& config_path, std::ostream& out, std::ostream& err) {
  const config::Loaded loaded = config::load_file(config_path);
  err << config::render(loaded, wants_color(STDERR_FILENO));
  if (!loaded.ok()) {
    return Outcome::config_invalid;
  }
  out << config_path << ": ok, " << tunnel_count_text(loaded.config->tunnels.size()) << '\n';
  return Outcome::ok;
}

void warn_missing_rights(const std::string& program) {
  const Log log{STDERR_FILENO, program, config::LogLevel::warning, LogStyle::terminal};
  for (const std::string& right : missing_rights(probe_capabilities())) {
    log.warning(right);
  }
}

Outcome run_daemon(const DaemonOptions& options) {
  const config::Loaded loaded = config::load_file(options.config_path);
  std::cerr << config::render(loaded, wants_color(STDERR_FILENO)) << std::flush;
  if (!loaded.ok()) {
    return Outcome::config_invalid;
  }
  const Log log{STDERR_FILENO, options.program, loaded.config->daemon.log_level,
                log_style(STDERR_FILENO, environment("JOURNAL_STREAM"))};
  const Notifier notifier{or_empty(environment("NOTIFY_SOCKET"))};
  const ControlOptions control{.config_path = options.config_path,
                               .socket_path = socket_path_for(options),
                               .make_socket_directory = options.socket_path.empty()};
  const auto done = run_control(control, *loaded.config, log, notifier);
  if (!done) {
    log.report(done.error());
    return outcome_of(done.error());
  }
  return Outcome::ok;
}

}  // namespace ringway::router
