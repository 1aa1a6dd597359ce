// ControlSocket: answers questions about the daemon, one line of JSON each, on a unix socket.
//
//   {"id": 1, "method": "status"}      ->  {"id": 1, "result": {...}}
//   anything else                      ->  {"id": null, "error": {"code": "...", "message": "..."}}
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include "netio/base/fd.h"
#include "router/control/status.h"

namespace ringway::router {

struct ControlSocketLimits {
  std::size_t request_bytes_max = 64 * 1024;  // of a line, newline included
  std::size_t clients_max = 64;
  // A client that neither asks nor takes its answer for so long is sent away.
  std::chrono::milliseconds idle_max = std::chrono::minutes{1};
};

// Runs on the thread of its io_context. Clients come from root and from `owner` only.
class ControlSocket {
 public:
  // The result for a method, or nothing if there is no such method.
  using Handler = std::function<std::optional<Json>(const std::string& method)>;

  // `listener` is a bound and listening AF_UNIX stream socket. `context` outlives the object and
  // runs none of its handlers once the object is gone. Throws std::system_error.
  ControlSocket(asio::io_context& context, Fd listener, uid_t owner, Handler handler,
                ControlSocketLimits limits = {});
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();

  // Takes no more clients and sends the others away; their objects go when the context runs next.
  void close();
  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

  // The answer to one line, newline included. Public for tests: it is the whole protocol.
  [[nodiscard]] std::string answer(std::string_view line) const;

 private:
  class Client;
  using Socket = asio::local::stream_protocol::socket;

  void accept();
  void admit(Socket socket);
  // Called by a client that has nothing in flight any more; destroys it.
  void forget(std::uint64_t client);

  asio::io_context& context_;
  asio::local::stream_protocol::acceptor acceptor_;
  asio::steady_timer retry_;
  uid_t owner_;
  Handler handler_;
  ControlSocketLimits limits_;
  std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::uint64_t next_client_ = 0;
};

// The line that tells a client why it gets no answer. `id` is null where the request had none.
[[nodiscard]] std::string error_line(const Json& id, std::string_view code,
                                     std::string_view message);

}  // namespace ringway::router
