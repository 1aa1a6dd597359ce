// Clients of the control socket: each reads a line, answers it, and reads the next.
#include "router/control/control_socket.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>
#include <sys/types.h>

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/socket_base.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "netio/base/fd.h"
#include "router/control/status.h"

namespace ringway::router {

namespace {

constexpr std::size_t kReadBytes = 4096;
// After a failed accept (no descriptors left): a loop without a pause would take the whole CPU.
constexpr std::chrono::milliseconds kAcceptPause{100};

std::string to_line(const Json& document) {
  // File names need not be UTF-8; JSON must.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// An id is echoed, so only plain values are taken: nothing nested, nothing long.
bool is_plain_id(const nlohmann::json& id) {
  constexpr std::size_t kIdBytesMax = 128;
  return id.is_null() || id.is_number() ||
         (id.is_string() && id.get_ref<const std::string&>().size() <= kIdBytesMax);
}

}  // namespace

std::string error_line(const Json& id, std::string_view code, std::string_view message) {
  return to_line(Json{{"id", id}, {"error", Json{{"code", code}, {"message", message}}}});
}

// One operation is in flight at a time, a read or a write, beside the timer. The object lives until
// all their handlers have run, since those point to it.
class ControlSocket::Client {
 public:
  Client(ControlSocket& server, Socket socket, std::uint64_t id)
      : server_{server}, socket_{std::move(socket)}, timer_{server.context_}, id_{id} {}

  void start() { read(); }
  // Tells why and says goodbye.
  void refuse(const std::string& line) {
    last_answer_ = true;
    write(line);
  }
  void close() {
    asio::error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
  }

 private:
  // Ends the wait of the operation before and begins that of the next one.
  void watch() {
    timer_.expires_after(server_.limits_.idle_max);
    ++in_flight_;
    timer_.async_wait([this](const asio::error_code& error) {
      if (!error) {
        close();
      }
      finish();
    });
  }

  void read() {
    watch();
    ++in_flight_;
    socket_.async_read_some(asio::buffer(chunk_),
                            [this](const asio::error_code& error, std::size_t count) {
                              if (error) {
                                close();
                              } else {
                                pending_.append(chunk_.data(), count);
                                proceed();
                              }
                              finish();
                            });
  }

  void write(std::string line) {
    watch();
    ++in_flight_;
    answer_ = std::move(line);
    asio::async_write(socket_, asio::buffer(answer_),
                      [this](const asio::error_code& error, std::size_t) {
                        if (error || last_answer_) {
                          close();
                        } else {
                          proceed();
                        }
                        finish();
                      });
  }

  // Answers the next whole line, or reads on.
  void proceed() {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos && end < server_.limits_.request_bytes_max) {
      const std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      write(server_.answer(line));
      return;
    }
    if (pending_.size() >= server_.limits_.request_bytes_max) {
      refuse(error_line(nullptr, "too_long",
                        fmt::format("a request is one line of at most {} bytes",
                                    server_.limits_.request_bytes_max)));
      return;
    }
    read();
  }

  // At the end of each handler. The last one destroys the client: nothing may follow.
  void finish() {
    if (--in_flight_ == 0 && !socket_.is_open()) {
      server_.forget(id_);
    }
  }

  ControlSocket& server_;
  Socket socket_;
  asio::steady_timer timer_;
  std::uint64_t id_;
  std::array<char, kReadBytes> chunk_{};
  std::string pending_;  // read and not yet answered
  std::string answer_;
  bool last_answer_ = false;
  int in_flight_ = 0;
};

ControlSocket::ControlSocket(asio::io_context& context, Fd listener, uid_t owner, Handler handler,
                             ControlSocketLimits limits)
    : context_{context},
      acceptor_{context, asio::local::stream_protocol{}, listener.get()},
      retry_{context},
      owner_{owner},
      handler_{std::move(handler)},
      limits_{limits} {
  static_cast<void>(listener.release());  // the acceptor closes it
  accept();
}

ControlSocket::~ControlSocket() = default;

void ControlSocket::close() {
  asio::error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
  for (auto& [id, client] : clients_) {
    client->close();
  }
}

void ControlSocket::accept() {
  acceptor_.async_accept([this](const asio::error_code& error, Socket socket) {
    if (!error) {
      admit(std::move(socket));
      accept();
    } else if (acceptor_.is_open()) {
      retry_.expires_after(kAcceptPause);
      retry_.async_wait([this](const asio::error_code& cancelled) {
        if (!cancelled) {
          accept();
        }
      });
    }
  });
}

void ControlSocket::admit(Socket socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  const bool known =
      ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  const bool full = clients_.size() >= limits_.clients_max;
  // One more than the limit may be here at a time: the one that is told so.
  if (clients_.size() > limits_.clients_max) {
    return;
  }
  const std::uint64_t id = next_client_++;
  Client& client =
      *clients_.emplace(id, std::make_unique<Client>(*this, std::move(socket), id)).first->second;
  if (!known || (peer.uid != 0 && peer.uid != owner_)) {
    client.refuse(error_line(
        nullptr, "permission",
        fmt::format("user {} may not ask this daemon: only root and user {}", peer.uid, owner_)));
  } else if (full) {
    client.refuse(
        error_line(nullptr, "busy", fmt::format("{} clients are connected", limits_.clients_max)));
  } else {
    client.start();
  }
}

void ControlSocket::forget(std::uint64_t client) {
  clients_.erase(client);
}

std::string ControlSocket::answer(std::string_view line) const {
  // Not a Json: its objects are vectors, whose growth copies their members, and a copy of 64 KiB of
  // "[" uses up the stack. Those of nlohmann::json stay where they are.
  const nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
  if (!request.is_object()) {
    return error_line(nullptr, "bad_request",
                      R"(a request is a JSON object such as {"id": 1, "method": "status"})");
  }
  const auto found = request.find("id");
  if (found != request.end() && !is_plain_id(*found)) {
    return error_line(nullptr, "bad_request", "'id' is a number, a short string, or absent");
  }
  const Json id = found == request.end() ? Json{} : Json(*found);
  const auto method = request.find("method");
  if (method == request.end() || !method->is_string()) {
    return error_line(id, "bad_request", "'method' is missing or no string");
  }
  const auto& name = method->get_ref<const std::string&>();
  std::optional<Json> result = handler_(name);
  if (!result) {
    return error_line(id, "unknown_method",
                      "there is no method '" + name.substr(0, 64) +
                          "': status, drops, tunnels, ports, capabilities");
  }
  return to_line(Json{{"id", id}, {"result", std::move(*result)}});
}

}  // namespace ringway::router
