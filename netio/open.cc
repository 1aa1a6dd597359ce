// The choice between the engines, and the sentence that explains it.
#include "netio/open.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "netio/epoll/reactor.h"
#include "netio/uring/reactor.h"

namespace ringway::netio {

namespace {

Result<OpenedReactor> open_epoll(std::string reason) {
  Result<std::unique_ptr<EpollReactor>> reactor = EpollReactor::open();
  if (!reactor) {
    return reactor.error();
  }
  EngineReport report{.engine = Engine::epoll,
                      .reason = std::move(reason),
                      .features = reactor.value()->features()};
  return OpenedReactor{.reactor = std::move(reactor).value(), .report = std::move(report)};
}

Result<OpenedReactor> open_uring(std::string reason) {
  Result<std::unique_ptr<UringReactor>> reactor = UringReactor::open({});
  if (!reactor) {
    return reactor.error();
  }
  EngineReport report{.engine = Engine::io_uring,
                      .reason = std::move(reason),
                      .features = reactor.value()->features()};
  return OpenedReactor{.reactor = std::move(reactor).value(), .report = std::move(report)};
}

// Forbidden, unknown, or no memory: reasons of this machine that epoll does not share. Any other
// failure is one that the user should see.
bool calls_for_epoll(const Error& error) noexcept {
  return error.number == EPERM || error.number == ENOSYS || error.number == ENOMEM;
}

}  // namespace

std::string_view name(Engine engine) noexcept {
  switch (engine) {
    case Engine::io_uring:
      return "io_uring";
    case Engine::epoll:
      return "epoll";
  }
  return "";
}

Result<OpenedReactor> open_reactor(EngineChoice choice) {
  if (choice == EngineChoice::epoll) {
    return open_epoll("epoll was asked for.");
  }
  if (choice == EngineChoice::io_uring) {
    return open_uring("io_uring was asked for.");
  }
  Result<OpenedReactor> uring =
      open_uring("This kernel allows io_uring, which needs the fewest system calls.");
  if (uring || !calls_for_epoll(uring.error())) {
    return uring;
  }
  const Error& error = uring.error();
  return open_epoll("io_uring is unavailable: " + error.operation + ": " +
                    std::generic_category().message(error.number) + "; " + error.why + ".");
}

}  // namespace ringway::netio
