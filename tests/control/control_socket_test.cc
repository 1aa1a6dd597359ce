// The control socket against good clients, bad clients and strangers.
#include "router/control/control_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include "netio/base/fd.h"
#include "router/cli/client.h"
#include "router/cli/exit.h"
#include "router/control/socket_path.h"
#include "router/control/status.h"
#include "tests/control/rig.h"

namespace ringway::router {

namespace {

std::optional<Json> handle(const std::string& method) {
  if (method == "status") {
    return Json{{"method", method}};
  }
  if (method == "large") {
    return Json{{"text", std::string(1 << 20, 'x')}};
  }
  if (method == "path") {
    return Json{{"path", "caf\xe9"}};  // Latin-1: no UTF-8
  }
  return std::nullopt;
}

// A server on its own thread, on a socket in a directory of its own.
class Server {
 public:
  explicit Server(ControlSocketLimits limits = {}) {
    auto bound = ListeningSocket::bind(directory_ / "s", false);
    REQUIRE(bound.ok());
    listener_.emplace(std::move(bound).value());
    socket_.emplace(context_, listener_->take_fd(), ::geteuid(), &handle, limits);
    thread_ = std::thread{[this] { context_.run(); }};
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    context_.stop();
    thread_.join();
  }

  [[nodiscard]] std::string path() const { return listener_->path(); }
  [[nodiscard]] const std::string& directory() const { return directory_.path(); }

 private:
  test::ScratchDirectory directory_;
  asio::io_context context_{1};
  std::optional<ListeningSocket> listener_;
  std::optional<ControlSocket> socket_;
  std::thread thread_;
};

// A client that does as it is told, not as it should.
class Raw {
 public:
  explicit Raw(const std::string& path)
      : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), std::begin(address.sun_path));
    REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                      sizeof(address)) == 0);
  }
  // False once the server has hung up.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) {
        return false;
      }
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  // The next line without its end; "closed" if the server hung up first.
  [[nodiscard]] std::string line() {
    while (pending_.find('\n') == std::string::npos) {
      std::array<char, 65536> chunk{};
      const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
      if (count <= 0) {
        return "closed";
      }
      pending_.append(chunk.data(), static_cast<std::size_t>(count));
    }
    const std::size_t end = pending_.find('\n');
    std::string out = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    return out;
  }
  [[nodiscard]] std::string error_code() {
    const Json answer = Json::parse(line(), nullptr, false);
    return answer.is_object() && answer.contains("error") ? answer["error"].value("code", "") : "";
  }

 private:
  Fd socket_;
  std::string pending_;
};

}  // namespace

TEST_CASE("every line has an answer, whatever it is") {
  asio::io_context context{1};
  const test::ScratchDirectory directory;
  auto bound = ListeningSocket::bind(directory / "s", false);
  REQUIRE(bound.ok());
  const ControlSocket socket{context, bound.value().take_fd(), ::geteuid(), &handle};
  struct Row {
    std::string line;
    const char* code;  // null: a result
    const char* id;
  };
  const std::string deep(60'000, '[');
  const std::vector<Row> rows{
      {R"({"id":1,"method":"status"})", nullptr, "1"},
      {R"({"id":"x","method":"status"})", nullptr, "\"x\""},
      {R"({"method":"status"})", nullptr, "null"},
      {R"({"id":null,"method":"status","more":[1,2]})", nullptr, "null"},
      {"  {\"id\":2,\"method\":\"status\"}\r", nullptr, "2"},
      {R"({"id":3,"method":"stauts"})", "unknown_method", "3"},
      {R"({"id":4})", "bad_request", "4"},
      {R"({"id":5,"method":7})", "bad_request", "5"},
      {R"({"id":{},"method":"status"})", "bad_request", "null"},
      {R"({"id":")" + std::string(129, 'i') + R"(","method":"status"})", "bad_request", "null"},
      {R"({"id":)" + deep + std::string(60'000, ']') + R"(,"method":"status"})", "bad_request",
       "null"},
      {"", "bad_request", "null"},
      {"{", "bad_request", "null"},
      {"[]", "bad_request", "null"},
      {"status", "bad_request", "null"},
      {"GET / HTTP/1.1\r", "bad_request", "null"},
      {std::string("\0\xff\xfe", 3), "bad_request", "null"},
      {"{\"id\":6,\"method\":\"\xc3\x28\"}", "bad_request", "null"},
      {deep, "bad_request", "null"},
  };
  for (const Row& row : rows) {
    const std::string shown = row.line.substr(0, 60);
    CAPTURE(shown);
    const std::string text = socket.answer(row.line);
    CHECK(text.back() == '\n');
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    const Json answer = Json::parse(text, nullptr, false);
    REQUIRE(answer.is_object());
    CHECK(answer["id"].dump() == row.id);
    CHECK(answer.contains("result") == (row.code == nullptr));
    if (row.code != nullptr) {
      CHECK(answer["error"]["code"] == row.code);
      CHECK(!answer["error"]["message"].get<std::string>().empty());
    }
  }
}

TEST_CASE("one connection carries any number of requests, also several at once") {
  const Server server;
  Raw client{server.path()};
  REQUIRE(
      client.send("{\"id\":1,\"method\":\"status\"}\n{\"id\":2,\"method\":\"nope\"}\n{\"id\":3,"));
  CHECK(client.line() == R"({"id":1,"result":{"method":"status"}})");
  CHECK(client.error_code() == "unknown_method");
  REQUIRE(client.send("\"method\":\"status\"}\n"));
  CHECK(client.line() == R"({"id":3,"result":{"method":"status"}})");
  REQUIRE(client.send("garbage\n"));
  CHECK(client.error_code() == "bad_request");
  REQUIRE(client.send("{\"id\":4,\"method\":\"status\"}\n"));
  CHECK(client.line() == R"({"id":4,"result":{"method":"status"}})");
}

TEST_CASE("a client that breaks off does not disturb others") {
  const Server server;
  for (int i = 0; i < 10; ++i) {
    const Raw client{server.path()};
    REQUIRE(client.send("{\"id\":1,\"method\":\"large\"}\n{\"id"));
  }
  Raw client{server.path()};
  REQUIRE(client.send("{\"id\":1,\"method\":\"status\"}\n"));
  CHECK(client.line() == R"({"id":1,"result":{"method":"status"}})");
}

TEST_CASE("a request longer than the limit is refused, and the connection ends") {
  const Server server;
  struct Row {
    const char* name;
    std::size_t bytes;
    bool newline;
    const char* code;
  };
  constexpr std::size_t kMax = ControlSocketLimits{}.request_bytes_max;
  const std::array<Row, 4> rows{{{"as long as allowed", kMax, true, "bad_request"},
                                 {"one more", kMax + 1, true, "too_long"},
                                 {"without an end", kMax, false, "too_long"},
                                 {"far too long", 20 * kMax, false, "too_long"}}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Raw client{server.path()};
    std::string text(row.bytes - (row.newline ? 1 : 0), 'x');
    text += row.newline ? "\n" : "";
    static_cast<void>(client.send(text));  // the server may hang up in the middle
    CHECK(client.error_code() == row.code);
    if (std::string_view{row.code} == "too_long") {
      CHECK(client.line() == "closed");
    }
  }
}

TEST_CASE("one client more than the limit is told so") {
  constexpr std::size_t kMax = ControlSocketLimits{}.clients_max;
  const Server server;
  std::vector<std::unique_ptr<Raw>> clients;
  for (std::size_t i = 0; i < kMax; ++i) {
    clients.push_back(std::make_unique<Raw>(server.path()));
    REQUIRE(clients.back()->send("{\"id\":1,\"method\":\"status\"}\n"));
    REQUIRE(clients.back()->line() == R"({"id":1,"result":{"method":"status"}})");
  }
  Raw refused{server.path()};
  CHECK(refused.error_code() == "busy");
  CHECK(refused.line() == "closed");
  // The others are served on, and a place that becomes free is given away.
  REQUIRE(clients.front()->send("{\"id\":2,\"method\":\"status\"}\n"));
  CHECK(clients.front()->line() == R"({"id":2,"result":{"method":"status"}})");
  clients.pop_back();
  std::string answer;
  while (answer.empty()) {  // the server learns of the departure in its own time
    Raw next{server.path()};
    static_cast<void>(next.send("{\"id\":3,\"method\":\"status\"}\n"));
    const std::string line = next.line();
    answer = line.find("busy") == std::string::npos && line != "closed" ? line : "";
  }
  CHECK(answer == R"({"id":3,"result":{"method":"status"}})");
}

TEST_CASE("who neither asks nor takes the answer is sent away") {
  const Server server{{.idle_max = std::chrono::milliseconds{30}}};
  Raw silent{server.path()};
  CHECK(silent.line() == "closed");
  Raw halfway{server.path()};
  static_cast<void>(halfway.send("{\"id\":"));
  CHECK(halfway.line() == "closed");
  // Asks for more than the socket's buffers hold and does not read: the connection is cut off
  // before all has been sent.
  Raw greedy{server.path()};
  for (int i = 0; i < 64 && greedy.send("{\"id\":1,\"method\":\"large\"}\n"); ++i) {
  }
  while (greedy.send("x")) {  // fails with EPIPE once the server has hung up
  }
  int whole = 0;
  while (greedy.line() != "closed") {
    ++whole;
  }
  CHECK(whole < 64);
}

TEST_CASE("the command's client: answers, refusals, silence") {
  const Server server;
  auto answer = ask(server.path(), "status");
  REQUIRE(answer.ok());
  CHECK(answer.value()["method"] == "status");
  answer = ask(server.path(), "large");
  REQUIRE(answer.ok());
  CHECK(answer.value()["text"].get<std::string>().size() == std::size_t{1} << 20);
  answer = ask(server.path(), "path");
  REQUIRE(answer.ok());
  CHECK(answer.value()["path"] == "caf\xef\xbf\xbd");
  answer = ask(server.path(), "nope");
  REQUIRE(!answer.ok());
  CHECK(answer.error().why.find("there is no method 'nope'") != std::string::npos);
  CHECK(exit_for(answer.error()) == Exit::unreachable);

  answer = ask(server.directory() + "/absent", "status");
  REQUIRE(!answer.ok());
  CHECK(answer.error().number == ENOENT);
  CHECK(exit_for(answer.error()) == Exit::unreachable);
  CHECK(answer.error().fix.find("--socket") != std::string::npos);
  CHECK(!ask(std::string(200, 'x'), "status").ok());

  // A listener that never accepts: connects, and stays silent.
  auto silent = ListeningSocket::bind(server.directory() + "/silent", false);
  REQUIRE(silent.ok());
  answer = ask(silent.value().path(), "status", std::chrono::milliseconds{20});
  REQUIRE(!answer.ok());
  CHECK(answer.error().number == ETIMEDOUT);
  CHECK(exit_for(answer.error()) == Exit::unreachable);
}

TEST_CASE("strangers are refused with a reason") {
  if (!test::is_root()) {
    MESSAGE("skipped: needs root to become somebody else");
    return;
  }
  const Server server;
  const auto ask_as_nobody = [&] {
    test::Child child{[&] {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) {
        return 100;
      }
      const auto answer = ask(server.path(), "status");
      if (answer.ok()) {
        return 0;
      }
      // 1: the file's mode kept us out; 2: the daemon looked at who we are.
      return exit_for(answer.error()) == Exit::permission
                 ? (answer.error().why.find("user 65534") == std::string::npos ? 1 : 2)
                 : 101;
    }};
    return child.wait();
  };
  REQUIRE(::chmod(server.directory().c_str(), 0755) == 0);
  CHECK(ask_as_nobody() == 1);
  REQUIRE(::chmod(server.path().c_str(), 0666) == 0);
  CHECK(ask_as_nobody() == 2);
}

}  // namespace ringway::router
