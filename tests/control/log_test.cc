// Messages as a terminal and as the journal see them.
#include "router/control/log.h"

#include <array>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "config/model.h"
#include "netio/base/fd.h"
#include "netio/base/result.h"

namespace ringway::router {

namespace {

struct Pipe {
  Fd reader;
  Fd writer;

  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    reader = Fd{ends[0]};
    writer = Fd{ends[1]};
  }
  [[nodiscard]] std::string read() const {
    std::array<char, 4096> text{};
    const ssize_t count = ::read(reader.get(), text.data(), text.size());
    return count > 0 ? std::string{text.data(), static_cast<std::size_t>(count)} : std::string{};
  }
};

}  // namespace

TEST_CASE("a message in each style and level") {
  struct Row {
    LogStyle style;
    config::LogLevel level;
    const char* message;
    const char* wanted;
  };
  using config::LogLevel;
  const std::array<Row, 6> rows{{
      {LogStyle::terminal, LogLevel::error, "cannot x", "ringwayd: cannot x\n"},
      {LogStyle::terminal, LogLevel::warning, "odd", "ringwayd: warning: odd\n"},
      {LogStyle::terminal, LogLevel::info, "ready: 1", "ringwayd: ready: 1\n"},
      {LogStyle::terminal, LogLevel::debug, "a\nb", "ringwayd: debug: a\nb\n"},
      {LogStyle::journal, LogLevel::error, "cannot x\n      = why:  y",
       "<3>cannot x\n<3>      = why:  y\n"},
      {LogStyle::journal, LogLevel::warning, "odd", "<4>odd\n"},
  }};
  for (const Row& row : rows) {
    CHECK(format_log(row.style, "ringwayd", row.level, row.message) == row.wanted);
  }
}

TEST_CASE("what is below the level is not written") {
  const Pipe pipe;
  const Log log{pipe.writer.get(), "ringwayd", config::LogLevel::warning, LogStyle::terminal};
  log.debug("no");
  log.info("no");
  CHECK(pipe.read().empty());
  log.warning("yes");
  log.report(Error{"TUNSETIFF", 1, "create interface 'paris'", "no right", "be root"});
  CHECK(pipe.read() ==
        "ringwayd: warning: yes\n"
        "ringwayd: cannot create interface 'paris': Operation not permitted (TUNSETIFF, errno 1)\n"
        "      = why:  no right\n"
        "      = fix:  be root\n");
}

TEST_CASE("the journal is recognised by the stream, not by the variable alone") {
  const Pipe pipe;
  struct stat status{};
  REQUIRE(::fstat(pipe.writer.get(), &status) == 0);
  const std::string name = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  CHECK(log_style(pipe.writer.get(), name.c_str()) == LogStyle::journal);
  CHECK(log_style(pipe.writer.get(), "1:2") == LogStyle::terminal);
  CHECK(log_style(pipe.writer.get(), nullptr) == LogStyle::terminal);
  CHECK(log_style(-1, name.c_str()) == LogStyle::terminal);
}

}  // namespace ringway::router
