// Faults of form: characters, tabs, quotes, and the parser's complaints in plain words.
#include "config/syntax.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "config/codes.h"
#include "config/load.h"
#include "config/report.h"
#include "config/source.h"

namespace ringway::config {

namespace {

constexpr std::string_view kBlank = " \t";

Span make_span(std::size_t offset, std::size_t length) noexcept {
  return {static_cast<std::uint32_t>(offset),
          static_cast<std::uint32_t>(std::max<std::size_t>(length, 1))};
}

bool is_allowed(std::string_view rest, CodePoint point) noexcept {
  const bool is_line_end = point.value == '\n' || rest.starts_with("\r\n");
  return point.valid && (point.value == '\t' || is_line_end || !is_unprintable(point));
}

std::string describe_bad(CodePoint point) {
  if (!point.valid) {
    return fmt::format("byte 0x{:02x} is not valid UTF-8", point.value);
  }
  if (point.value == 0) {
    return "a NUL byte in the file";
  }
  if (point.value == '\r') {
    return "a carriage return without a line feed";
  }
  return fmt::format("invisible character U+{:04X}", point.value);
}

// The length of a quoted text with both quotes if it closes on this line.
std::optional<std::size_t> quoted_length(std::string_view line) noexcept {
  const char quote = line[0];
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\') {
      ++i;
    } else if (line[i] == quote) {
      const bool is_doubled = quote == '\'' && i + 1 < line.size() && line[i + 1] == '\'';
      if (!is_doubled) {
        return i + 1;
      }
      ++i;
    }
  }
  return std::nullopt;
}

// Walks over what the parser read ahead of its last event, for a quote that stays open.
std::optional<std::size_t> find_unclosed_quote(const Source& source, std::size_t from,
                                               std::size_t to) {
  const std::string_view text = source.text().substr(0, to);
  bool at_token = true;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (at_token && (c == '"' || c == '\'')) {
      const auto length = quoted_length(source.rest_of_line(i));
      if (!length) {
        return i;
      }
      i += *length - 1;
      at_token = false;
    } else if (at_token && c == '#') {
      i = std::min(text.find('\n', i), text.size());
      at_token = true;
    } else {
      at_token = std::string_view{" \t\r\n[{,"}.find(c) != std::string_view::npos;
    }
  }
  return std::nullopt;
}

// "ttl:64" at the begin of a line is one word to YAML, and the fault shows only later.
std::optional<Span> find_missing_space(const Source& source, std::size_t line_number) {
  const std::string_view line = source.line(line_number);
  const std::size_t begin = std::min(line.find_first_not_of(" -"), line.size());
  const std::size_t colon = line.find(':', begin);
  if (colon == std::string_view::npos || colon == begin || colon + 1 >= line.size()) {
    return std::nullopt;
  }
  const std::string_view word = line.substr(begin, colon - begin);
  const bool is_word = std::all_of(word.begin(), word.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  if (!is_word || kBlank.find(line[colon + 1]) != std::string_view::npos) {
    return std::nullopt;
  }
  const auto start = static_cast<std::size_t>(line.data() - source.text().data());
  return make_span(start + begin, word.size() + 1);
}

struct Wording {
  std::string_view parser;  // how the parser's message begins
  std::string_view message;
  std::string_view hint;
};

constexpr std::array kWordings = {
    Wording{"illegal map value", "a ':' is not allowed here",
            "indent keys of one map alike; put a value that holds ': ' in quotes"},
    Wording{"end of map not found", "this line fits neither the map above it nor one below",
            "check the indentation"},
    Wording{"end of sequence not found", "this line fits neither the list above it nor a map",
            "check the indentation"},
    Wording{"illegal block entry", "a list item '- ' is not allowed here",
            "begin the list on a line of its own, or write [a, b]"},
    Wording{"illegal flow end", "this bracket closes nothing that was opened", ""},
    Wording{"illegal map key", "a key is not allowed here", "check the indentation"},
    Wording{"unknown token", "a value cannot begin with this character", "put the value in quotes"},
    Wording{"unknown escape character", "unknown escape after '\\'",
            "in single quotes '...' a backslash is just a backslash"},
    Wording{"illegal tab", "a tab is used as indentation", "indent with spaces"},
};

}  // namespace

bool check_characters(const Source& source, Report& report) {
  const std::string_view text = source.text();
  bool is_clean = true;
  std::size_t next_line = 0;  // one complaint per line says enough
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const CodePoint point = decode_utf8(rest);
    if (i >= next_line && !is_allowed(rest, point)) {
      report.error(Code::bad_character, make_span(i, 1), describe_bad(point)).hint =
          point.valid ? "remove it" : "save the file as UTF-8";
      is_clean = false;
      next_line = std::min(text.find('\n', i), text.size());
    }
    i += point.length;
  }
  return is_clean;
}

bool check_lines(const Source& source, Report& report) {
  const std::string_view text = source.text();
  bool is_clean = true;
  for (std::size_t start = 0; start < text.size();) {
    const std::string_view line = source.rest_of_line(start);
    const std::size_t content = line.find_first_not_of(kBlank);
    const std::size_t tab = line.find('\t');
    if (line.size() > kLineBytesMax) {
      report
          .error(Code::line_too_long, make_span(start + kLineBytesMax, 1),
                 fmt::format("a line of more than {} MiB", kLineBytesMax >> 20))
          .hint = "one item a line";
      is_clean = false;
    }
    if (content != std::string_view::npos && line[content] != '#' && tab < content) {
      report.error(Code::tab_indentation, make_span(start + tab, 1), "a tab is used as indentation")
          .hint = "indent with spaces; YAML does not allow tabs";
      is_clean = false;
    }
    start = std::min(text.find('\n', start), text.size()) + 1;
  }
  return is_clean;
}

std::size_t skip_properties(const Source& source, std::size_t offset) noexcept {
  const std::string_view text = source.text();
  while (offset < text.size() && (text[offset] == '!' || text[offset] == '&')) {
    const std::size_t end = text.find_first_of(" \t\r\n", offset);
    const std::size_t next = text.find_first_not_of(" \t\r\n", end);
    if (end == std::string_view::npos || next == std::string_view::npos) {
      break;
    }
    offset = next;
  }
  return offset;
}

ScalarExtent scalar_extent(const Source& source, std::size_t offset,
                           std::string_view value) noexcept {
  const std::string_view line = source.rest_of_line(offset);
  if (line.starts_with('"') || line.starts_with('\'')) {
    const auto length = quoted_length(line);
    return {.length = length.value_or(1), .is_quoted = true, .is_unclosed = !length};
  }
  if (line.starts_with(value) && !value.empty()) {
    return {.length = value.size(), .is_quoted = false, .is_unclosed = false};
  }
  // A block scalar, or a plain one that goes on in the next line.
  const bool is_block = line.starts_with('|') || line.starts_with('>');
  const std::string_view first = line.substr(0, value.size());
  std::size_t end = std::min(first.find(" #"), first.size());
  while (end > 0 && kBlank.find(line[end - 1]) != std::string_view::npos) {
    --end;
  }
  return {.length = std::max<std::size_t>(is_block ? 1 : end, 1),
          .is_quoted = is_block,
          .is_unclosed = false};
}

Span place_of_null(const Source& source, Span reported) noexcept {
  const std::string_view rest = source.rest_of_line(reported.offset);
  if (rest.starts_with('~') || rest.starts_with('n') || rest.starts_with('N')) {
    return reported;  // it is written
  }
  const std::string_view before = source.text().substr(0, reported.offset);
  const std::size_t last = before.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? reported : make_span(last, 1);
}

bool is_colon_behind(const Source& source, Span key) noexcept {
  const std::string_view rest = source.rest_of_line(key.offset + key.length);
  const std::size_t next = rest.find_first_not_of(kBlank);
  return next != std::string_view::npos && rest[next] == ':';
}

void report_unclosed_quote(Report& report, std::size_t offset) {
  report.error(Code::unclosed_quote, make_span(offset, 1),
               "quote opened here is never closed on its line");
}

void report_anchor(const Source& source, Report& report, std::size_t offset) {
  const std::string_view line = source.rest_of_line(offset);
  report
      .error(Code::anchor_or_alias,
             make_span(offset, line.substr(0, line.find_first_of(" \t")).size()),
             "anchors are not supported")
      .hint = "put what tunnels have in common under 'defaults:'";
}

void report_alias(const Source& source, Report& report, std::size_t offset) {
  const std::string_view line = source.rest_of_line(offset);
  report
      .error(Code::anchor_or_alias,
             make_span(offset, line.substr(0, line.find_first_of(" \t,]}")).size()),
             "aliases are not supported")
      .hint = "put what tunnels have in common under 'defaults:'";
}

void report_syntax_fault(const Source& source, Report& report, const SyntaxFault& fault) {
  if (const auto quote = find_unclosed_quote(source, fault.reached, fault.offset)) {
    report_unclosed_quote(report, *quote);
    return;
  }
  if (fault.text.starts_with("the referenced anchor")) {
    report_alias(source, report, fault.offset);
    return;
  }
  if (fault.open_bracket && fault.text.find("flow not found") != std::string::npos) {
    const std::size_t bracket = skip_properties(source, fault.open_bracket->offset);
    report.error(
        Code::bad_syntax, make_span(bracket, 1),
        fmt::format("{} opened here is never closed", quoted(source.text().substr(bracket, 1))));
    return;
  }
  const std::size_t line = source.position(fault.offset).line;
  for (const std::size_t near : {line - 1, line}) {
    if (const auto span = find_missing_space(source, near)) {
      report.error(Code::bad_syntax, *span, "a space is missing after ':'");
      return;
    }
  }
  const auto* const wording =
      std::find_if(kWordings.begin(), kWordings.end(),
                   [&fault](const Wording& row) { return fault.text.starts_with(row.parser); });
  if (wording == kWordings.end()) {
    report.error(Code::bad_syntax, make_span(fault.offset, 1),
                 fmt::format("not valid YAML: {}", printable(fault.text)));
    return;
  }
  report.error(Code::bad_syntax, make_span(fault.offset, 1), std::string{wording->message}).hint =
      wording->hint;
}

}  // namespace ringway::config
