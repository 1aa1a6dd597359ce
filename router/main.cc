// ringwayd: the daemon. In the foreground; a service manager or a shell puts it where it wants it.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>

#include "router/control/daemon.h"

namespace {

// sysexits.h numbers, which service managers know by name. Documented in ringwayd(8).
constexpr int kExitUsage = 2;
constexpr int kExitUnavailable = 69;
constexpr int kExitNoPermission = 77;
constexpr int kExitConfig = 78;

int exit_code(ringway::router::Outcome outcome) {
  using ringway::router::Outcome;
  switch (outcome) {
    case Outcome::ok:
      return 0;
    case Outcome::no_permission:
      return kExitNoPermission;
    case Outcome::config_invalid:
      return kExitConfig;
    case Outcome::unavailable:
      break;
  }
  return kExitUnavailable;
}

int usage(const char* fault) {
  std::fprintf(stderr, "ringwayd: %s\nusage: ringwayd --config FILE [--socket PATH] [--check]\n",
               fault);
  return kExitUsage;
}

int run(int argc, char** argv) {
  ringway::router::DaemonOptions options;
  options.program = "ringwayd";
  bool check = false;
  CLI::App app{"Ringway: tunnels and routes in user space, from one YAML file.", "ringwayd"};
  app.add_option("--config", options.config_path, "configuration file")->type_name("FILE");
  app.add_option("--socket", options.socket_path,
                 "control socket (default: /run/ringway/control.sock; for ordinary users "
                 "$XDG_RUNTIME_DIR/ringway/control.sock)")
      ->type_name("PATH");
  app.add_flag("--check", check, "check the file and the rights of this process, then exit");
  app.set_version_flag("--version", std::string{"ringwayd "} + RINGWAY_VERSION,
                       "show the version and exit");
  app.set_help_flag("-h,--help", "show this help and exit");
  app.footer("The daemon runs in the foreground until SIGTERM, SIGINT or SIGHUP. See ringwayd(8).");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      return app.exit(error);
    }
    return usage(error.what());
  }
  // Not left to CLI11, which would complain of this before it names an option that it does not
  // know.
  if (options.config_path.empty()) {
    return usage("--config FILE is missing");
  }
  if (check) {
    const int code =
        exit_code(ringway::router::check_config(options.config_path, std::cout, std::cerr));
    std::cout.flush();
    if (code == 0) {
      ringway::router::warn_missing_rights(options.program);
    }
    return code;
  }
  return exit_code(ringway::router::run_daemon(options));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "ringwayd: %s\n", exception.what());
    return kExitUnavailable;
  }
}
