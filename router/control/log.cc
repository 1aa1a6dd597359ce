// How a message looks on a terminal and in the journal.
#include "router/control/log.h"

#include <string>
#include <string_view>

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/format.h>

#include "config/model.h"

namespace ringway::router {

namespace {

// RFC 5424 section 6.2.1: the severities of syslog, which the journal uses as well.
int severity_of(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::error:
      return 3;
    case config::LogLevel::warning:
      return 4;
    case config::LogLevel::info:
      return 6;
    case config::LogLevel::debug:
      break;
  }
  return 7;
}

// Errors and news speak for themselves ("cannot ...", "ready: ...").
std::string_view word_for(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::warning:
      return "warning: ";
    case config::LogLevel::debug:
      return "debug: ";
    case config::LogLevel::error:
    case config::LogLevel::info:
      break;
  }
  return "";
}

}  // namespace

std::string format_log(LogStyle style, std::string_view program, config::LogLevel level,
                       std::string_view message) {
  if (style == LogStyle::terminal) {
    return fmt::format("{}: {}{}\n", program, word_for(level), message);
  }
  std::string out;
  while (true) {
    const std::size_t end = message.find('\n');
    out += fmt::format("<{}>{}\n", severity_of(level), message.substr(0, end));
    if (end == std::string_view::npos) {
      return out;
    }
    message.remove_prefix(end + 1);
  }
}

LogStyle log_style(int fd, const char* journal_stream) {
  struct stat status{};
  if (journal_stream == nullptr || ::fstat(fd, &status) != 0) {
    return LogStyle::terminal;
  }
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == journal_stream ? LogStyle::journal
                                                                              : LogStyle::terminal;
}

void Log::write(config::LogLevel level, std::string_view message) const {
  if (level > level_) {
    return;
  }
  const std::string text = format_log(style_, program_, level, message);
  // A reader that has gone away must not stop the traffic: what cannot be written is lost.
  [[maybe_unused]] const ssize_t written = ::write(fd_, text.data(), text.size());
}

}  // namespace ringway::router
