// One Asio io_context on the main thread. Nothing here touches packets.
#include "router/control/control.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <asio/error_code.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <fmt/format.h>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/open.h"
#include "router/control/capabilities.h"
#include "router/control/control_socket.h"
#include "router/control/instance.h"
#include "router/control/log.h"
#include "router/control/netlink.h"
#include "router/control/notify.h"
#include "router/control/socket_path.h"
#include "router/control/status.h"

namespace ringway::router {

namespace {

// Stopping takes milliseconds. Should it ever hang, SIGALRM ends the process; the kernel then takes
// our interfaces away.
constexpr unsigned kStopSecondsMax = 20;
constexpr std::size_t kNamesShown = 8;

// nohup(1) asks for this: a program that finds SIGHUP ignored leaves it so.
bool hangup_is_ignored() {
  struct sigaction action{};
  return ::sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Everything of one run, in the order in which it is made; it ends in the opposite order.
class Control {
 public:
  Control(const ControlOptions& options, const config::Config& config, const Log& log,
          const Notifier& notifier)
      : options_{options},
        config_{config},
        log_{log},
        notifier_{notifier},
        config_loaded_{WallClock::now()} {}

  Result<void> start();
  void run();
  void stop();

 private:
  void wait_for_signal();
  void tell(const std::string& state);
  [[nodiscard]] std::optional<Json> answer(const std::string& method);
  [[nodiscard]] Snapshot snapshot();

  const ControlOptions& options_;
  const config::Config& config_;
  const Log& log_;
  const Notifier& notifier_;
  WallClock::time_point config_loaded_;
  WallClock::time_point started_;
  std::chrono::steady_clock::time_point started_steady_;
  asio::io_context context_{1};
  std::optional<Netlink> netlink_;
  std::optional<asio::signal_set> signals_;
  std::optional<ListeningSocket> listener_;
  std::unique_ptr<Instance> instance_;
  std::optional<ControlSocket> socket_;
};

Result<void> Control::start() {
  // Names first: they may take long, and until then a signal simply ends the process.
  auto netlink = Netlink::open();
  if (!netlink) {
    return std::move(netlink.error());
  }
  netlink_.emplace(std::move(netlink).value());
  auto underlay = Instance::open_underlay(config_, *netlink_);
  if (!underlay) {
    return std::move(underlay.error());
  }
  // From here on there is something to undo: signals wait until we are able to.
  signals_.emplace(context_, SIGINT, SIGTERM);
  if (!hangup_is_ignored()) {
    signals_->add(SIGHUP);
  }
  ::signal(SIGPIPE, SIG_IGN);  // a terminal that goes away must not end the traffic
  if (!options_.socket_path) {
    return options_.socket_path.error();
  }
  auto listener =
      ListeningSocket::bind(options_.socket_path.value(), options_.make_socket_directory);
  if (!listener) {
    return std::move(listener.error());
  }
  listener_.emplace(std::move(listener).value());
  auto instance = Instance::start(config_, std::move(underlay).value(), *netlink_, log_);
  if (!instance) {
    return std::move(instance.error());
  }
  instance_ = std::move(instance).value();
  started_ = WallClock::now();
  started_steady_ = std::chrono::steady_clock::now();
  socket_.emplace(context_, listener_->take_fd(), ::geteuid(),
                  [this](const std::string& method) { return answer(method); });
  wait_for_signal();
  return {};
}

void Control::run() {
  const netio::EngineReport& engine = instance_->engine();
  const bool second_best =
      config_.daemon.engine == config::Engine::automatic && engine.engine == netio::Engine::epoll;
  if (second_best) {
    log_.warning("io_uring is not used: " + engine.reason);
  } else {
    log_.debug("engine: " + engine.reason);
  }
  const std::string text =
      ready_text(config_, std::string{netio::name(engine.engine)}, options_.socket_path.value());
  log_.info(text);
  tell("READY=1\nSTATUS=" + text);
  context_.run();
}

void Control::wait_for_signal() {
  signals_->async_wait([this](const asio::error_code& error, int number) {
    if (error) {
      return;
    }
    log_.info(fmt::format("stopping: {}", number == SIGINT    ? "SIGINT"
                                          : number == SIGTERM ? "SIGTERM"
                                                              : "SIGHUP"));
    // Further signals are caught and change nothing: the stop is on its way.
    context_.stop();
  });
}

void Control::stop() {
  ::alarm(kStopSecondsMax);
  tell("STOPPING=1\nSTATUS=stopping");
  if (socket_) {
    socket_->close();
  }
  instance_.reset();
  socket_.reset();
  listener_.reset();
  ::alarm(0);
  log_.debug("stopped");
}

void Control::tell(const std::string& state) {
  const auto told = notifier_.send(state);
  if (!told) {
    log_.warning(told.error().text());
  }
}

Snapshot Control::snapshot() {
  Snapshot out;
  out.pid = ::getpid();
  out.started = started_;
  out.uptime = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                                started_steady_);
  out.config_path = options_.config_path;
  out.config_loaded = config_loaded_;
  instance_->describe(out);
  return out;
}

std::optional<Json> Control::answer(const std::string& method) {
  if (method == "status") {
    return status_document(snapshot());
  }
  if (method == "drops") {
    return drops_document(snapshot());
  }
  if (method == "tunnels") {
    return tunnels_document(snapshot());
  }
  if (method == "ports") {
    return ports_document(snapshot());
  }
  if (method == "capabilities") {
    return capabilities_document(probe_capabilities());
  }
  return std::nullopt;
}

}  // namespace

Result<void> run_control(const ControlOptions& options, const config::Config& config,
                         const Log& log, const Notifier& notifier) {
  try {
    Control control{options, config, log, notifier};
    auto started = control.start();
    if (!started) {
      return started;
    }
    control.run();
    control.stop();
    return {};
  } catch (const std::exception& exception) {  // Asio's; whatever was made has been taken back
    return Error{exception.what(), 0, "run the control thread", "", ""};
  }
}

std::string ready_text(const config::Config& config, const std::string& engine,
                       const std::string& socket_path) {
  const std::size_t count = config.tunnels.size();
  std::string names;
  for (std::size_t i = 0; i < count && i < kNamesShown; ++i) {
    names += (i == 0 ? "" : ", ") + config.tunnels[i].name;
  }
  if (count > kNamesShown) {
    names += ", ...";
  }
  return fmt::format("ready: {} tunnel{}{} on {}, control {}", count, count == 1 ? "" : "s",
                     names.empty() ? "" : " (" + names + ")", engine, socket_path);
}

}  // namespace ringway::router
