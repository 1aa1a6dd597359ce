// Client: asks a running daemon one question over its control socket.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

#include "netio/base/result.h"
#include "router/cli/exit.h"
#include "router/control/status.h"

namespace ringway::router {

// The daemon answers within milliseconds; one that is stopped (SIGSTOP) never does.
inline constexpr std::chrono::milliseconds kAnswerTimeMax = std::chrono::seconds{5};

// The result of `method`. Waits at most `patience` for each step. An answer that says "permission"
// becomes EACCES.
[[nodiscard]] Result<Json> ask(const std::string& socket_path, const std::string& method,
                               std::chrono::milliseconds patience = kAnswerTimeMax);

// How a failed ask() ends the command.
[[nodiscard]] Exit exit_for(const Error& error) noexcept;

// Where to ask if nobody says: the user's own daemon if there is one, else the system's.
// `runtime_dir`: $XDG_RUNTIME_DIR, may be null.
[[nodiscard]] std::string usual_socket_path(uid_t user, const char* runtime_dir);

}  // namespace ringway::router
