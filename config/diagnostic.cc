// Diagnostics as text, in the form that compilers made known: place, message, line, caret.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "config/load.h"
#include "config/source.h"

namespace ringway::config {

namespace {

constexpr std::size_t kShownMax = 120;    // columns of a source line
constexpr std::size_t kBeforeCaret = 60;  // of them before the fault, where a line is cut

struct Colors {
  std::string_view bold;
  std::string_view error;
  std::string_view warning;
  std::string_view caret;
  std::string_view off;
};
constexpr Colors kPlain{};
constexpr Colors kAnsi{"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;32m", "\033[0m"};

// A source line made fit for a terminal, one column per code point, and cut around the fault.
struct Excerpt {
  std::string text;
  std::size_t caret = 0;   // columns before it
  std::size_t length = 1;  // columns to underline
};

Excerpt make_excerpt(std::string_view line, std::size_t column, std::size_t length) {
  const std::size_t fault = column == 0 ? 0 : column - 1;
  const std::size_t first = fault < kShownMax ? 0 : fault - kBeforeCaret;
  Excerpt excerpt;
  excerpt.text = first == 0 ? "" : "...";
  excerpt.caret = fault - first + excerpt.text.size();
  std::size_t at = 0;
  for (; !line.empty() && at < first + kShownMax; ++at) {
    const CodePoint point = decode_utf8(line);
    if (at >= first) {
      const bool is_tab = point.valid && point.value == '\t';
      excerpt.text += is_tab                  ? " "
                      : is_unprintable(point) ? "\xef\xbf\xbd"
                                              : line.substr(0, point.length);
    }
    line.remove_prefix(point.length);
  }
  excerpt.length = std::max<std::size_t>(std::min(length, at > fault ? at - fault : 1), 1);
  if (!line.empty()) {
    excerpt.text += "...";
  }
  return excerpt;
}

void append_place(std::string& out, const Loaded& loaded, const Diagnostic& diagnostic) {
  out += loaded.file;
  if (diagnostic.line != 0) {
    out += fmt::format(":{}:{}", diagnostic.line, diagnostic.column);
  }
  out += ": ";
}

void append_source(std::string& out, const Source& source, const Diagnostic& diagnostic,
                   const Colors& colors) {
  const Excerpt excerpt =
      make_excerpt(source.line(diagnostic.line), diagnostic.column, diagnostic.length);
  const std::string number = fmt::format("{:5}", diagnostic.line);
  out += fmt::format("{} | {}\n", number, excerpt.text);
  out += fmt::format("{} | {}{}^{}{}", std::string(number.size(), ' '),
                     std::string(excerpt.caret, ' '), colors.caret,
                     std::string(excerpt.length - 1, '~'), colors.off);
  out += diagnostic.hint.empty() ? "\n" : fmt::format(" {}\n", diagnostic.hint);
}

}  // namespace

std::string render(const Loaded& loaded, bool color) {
  const Colors& colors = color ? kAnsi : kPlain;
  const Source source{loaded.text};
  std::string out;
  for (const Diagnostic& diagnostic : loaded.diagnostics) {
    const bool is_error = diagnostic.severity == Severity::error;
    out += colors.bold;
    append_place(out, loaded, diagnostic);
    out += colors.off;
    out += is_error ? colors.error : colors.warning;
    out += is_error ? "error: " : "warning: ";
    out += colors.off;
    out += colors.bold;
    out += fmt::format("{} [{}]", diagnostic.message, diagnostic.code);
    out += colors.off;
    out += '\n';
    if (diagnostic.line != 0) {
      append_source(out, source, diagnostic, colors);
    } else if (!diagnostic.hint.empty()) {
      out += fmt::format("      = hint: {}\n", diagnostic.hint);
    }
    if (!diagnostic.help.empty()) {
      out += fmt::format("      = help: {}\n", diagnostic.help);
    }
  }
  return out;
}

}  // namespace ringway::config
