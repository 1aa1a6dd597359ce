// Chooses the best engine that this kernel allows, and says why.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "netio/base/result.h"
#include "netio/reactor.h"

namespace ringway::netio {

enum class Engine : std::uint8_t { io_uring, epoll };
enum class EngineChoice : std::uint8_t { automatic, io_uring, epoll };

[[nodiscard]] std::string_view name(Engine engine) noexcept;

struct EngineReport {
  Engine engine = Engine::epoll;
  std::string reason;                 // one sentence: why this engine and not the other
  std::vector<std::string> features;  // set-up flags and operations in use: "DEFER_TASKRUN"
};

struct OpenedReactor {
  std::unique_ptr<Reactor> reactor;
  EngineReport report;
};

// With EngineChoice::automatic: io_uring, and epoll where the kernel forbids (EPERM), does not know
// (ENOSYS) or has no memory for (ENOMEM) a ring. With a forced choice a failure is an Error.
// The reactor must be opened, used and destroyed on the same thread (IORING_SETUP_SINGLE_ISSUER).
[[nodiscard]] Result<OpenedReactor> open_reactor(EngineChoice choice);

}  // namespace ringway::netio
