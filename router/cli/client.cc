// One connection, one line out, one line back.
#include "router/cli/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include "netio/base/fd.h"
#include "netio/base/result.h"
#include "router/cli/exit.h"
#include "router/control/socket_path.h"
#include "router/control/status.h"

namespace ringway::router {

namespace {

// A thousand tunnels with all their options stay far below this.
constexpr std::size_t kAnswerBytesMax = 64u << 20;

Error failed(const char* operation, int number, const std::string& path) {
  Error error{operation, number, "ask the daemon at '" + path + "'", "", ""};
  if (number == ENOENT || number == ECONNREFUSED) {
    error.why = "no daemon listens there";
    error.fix = "start it (sudo ringwayd --config FILE), or name its socket with --socket PATH";
  } else if (error.is_permission()) {
    error.why = "only root and the user that runs the daemon may ask it";
    error.fix = "sudo ringway ..., or run the command as the daemon's user";
  } else if (number == ETIMEDOUT) {
    error.why = "the daemon does not answer";
    error.fix = "look at its log, and at its state: ps -C ringwayd -o pid,stat";
  } else if (number == ENOTSOCK || number == EPROTOTYPE) {
    error.why = "this is no control socket";
    error.fix = "name the daemon's socket with --socket PATH";
  }
  return error;
}

// Returns 0 or an errno.
int wait_for(const Fd& socket, short events, std::chrono::milliseconds patience) {
  pollfd wanted{socket.get(), events, 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(patience.count()));
  if (ready < 0) {
    return errno;
  }
  return ready == 0 ? ETIMEDOUT : 0;
}

Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return failed("connect", ENAMETOOLONG, path);
  }
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket.valid()) {
    return failed("socket(AF_UNIX)", errno, path);
  }
  // The calling convention of connect(2).
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return failed("connect", errno, path);
  }
  return socket;
}

Result<std::string> read_line(const Fd& socket, const std::string& path,
                              std::chrono::milliseconds patience) {
  std::string line;
  std::array<char, 16384> chunk{};
  while (line.size() < kAnswerBytesMax) {
    if (const int number = wait_for(socket, POLLIN, patience); number != 0) {
      return failed("poll", number, path);
    }
    const ssize_t count = ::recv(socket.get(), chunk.data(), chunk.size(), 0);
    if (count < 0) {
      return failed("recv", errno, path);
    }
    if (count == 0) {
      return failed("recv", ECONNRESET, path);
    }
    const std::string_view part{chunk.data(), static_cast<std::size_t>(count)};
    const std::size_t end = part.find('\n');
    line += part.substr(0, end);
    if (end != std::string_view::npos) {
      return line;
    }
  }
  return failed("recv", EMSGSIZE, path);
}

}  // namespace

Result<Json> ask(const std::string& socket_path, const std::string& method,
                 std::chrono::milliseconds patience) {
  auto socket = connect_to(socket_path);
  if (!socket) {
    return std::move(socket.error());
  }
  const std::string request = Json{{"id", 1}, {"method", method}}.dump() + "\n";
  // A daemon that turns us away may have closed already: its reason can be read all the same.
  static_cast<void>(::send(socket.value().get(), request.data(), request.size(), MSG_NOSIGNAL));
  auto line = read_line(socket.value(), socket_path, patience);
  if (!line) {
    return std::move(line.error());
  }
  Json answer = Json::parse(line.value(), nullptr, false);
  if (answer.is_object() && answer.contains("result")) {
    return std::move(answer["result"]);
  }
  Error error = failed("control protocol", EBADMSG, socket_path);
  if (answer.is_object() && answer.contains("error") && answer["error"].is_object()) {
    if (answer["error"].value("code", "") == "permission") {
      error = failed("control protocol", EACCES, socket_path);
    }
    error.why = "the daemon says: " + answer["error"].value("message", "");
  }
  return error;
}

Exit exit_for(const Error& error) noexcept {
  if (error.is_permission()) {
    return Exit::permission;
  }
  return Exit::unreachable;
}

std::string usual_socket_path(uid_t user, const char* runtime_dir) {
  const auto own = default_socket_path(user, runtime_dir);
  if (own && ::access(own.value().c_str(), F_OK) == 0) {
    return own.value();
  }
  return default_socket_path(0, nullptr).value();
}

}  // namespace ringway::router
