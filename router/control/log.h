// Log: one line per event to stderr, in the form that the reader of stderr wants.
#pragma once

#include <string>
#include <string_view>

#include "config/model.h"
#include "netio/base/result.h"

namespace ringway::router {

// terminal: "ringwayd: warning: ..."; journal: "<4>..." as sd-daemon(3) describes, on every line,
// since the journal makes an entry of each.
enum class LogStyle { terminal, journal };

// Writes each message with a single write(2), so that lines of daemons that share a terminal do not
// mix. Used by the control thread only. The descriptor stays the caller's.
class Log {
 public:
  Log(int fd, std::string program, config::LogLevel level, LogStyle style)
      : fd_{fd}, program_{std::move(program)}, level_{level}, style_{style} {}

  // A message may have several lines; it has no trailing newline.
  void error(std::string_view message) const { write(config::LogLevel::error, message); }
  void warning(std::string_view message) const { write(config::LogLevel::warning, message); }
  void info(std::string_view message) const { write(config::LogLevel::info, message); }
  void debug(std::string_view message) const { write(config::LogLevel::debug, message); }
  void report(const Error& error) const { write(config::LogLevel::error, error.text()); }

  void set_level(config::LogLevel level) { level_ = level; }
  [[nodiscard]] const std::string& program() const noexcept { return program_; }

 private:
  void write(config::LogLevel level, std::string_view message) const;

  int fd_;
  std::string program_;
  config::LogLevel level_;
  LogStyle style_;
};

// The message as `style` wants it, newline included.
[[nodiscard]] std::string format_log(LogStyle style, std::string_view program,
                                     config::LogLevel level, std::string_view message);

// journal if `journal_stream` ($JOURNAL_STREAM, "device:inode"; may be null) names the file behind
// `fd` (systemd.exec(5): a process may have inherited the variable but not the stream).
[[nodiscard]] LogStyle log_style(int fd, const char* journal_stream);

}  // namespace ringway::router
