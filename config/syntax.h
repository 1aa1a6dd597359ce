// Looks at the source text where the YAML parser does not look, or says too little.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "config/report.h"
#include "config/source.h"

namespace ringway::config {

// UTF-8 throughout, and no control characters but line ends and tabs. False if parsing makes no
// sense: yaml-cpp takes byte 4 for the end of the file and NUL for a sign of UTF-16.
[[nodiscard]] bool check_characters(const Source& source, Report& report);

// No tabs before the first character of a line (YAML 1.2 section 6.1), and no line beyond
// kLineBytesMax: yaml-cpp keeps the tokens of a bracketed list until its line ends, some fifty
// bytes for each byte of text.
[[nodiscard]] bool check_lines(const Source& source, Report& report);

// The offset behind tags and anchors that stand before a scalar's own text.
[[nodiscard]] std::size_t skip_properties(const Source& source, std::size_t offset) noexcept;

struct ScalarExtent {
  std::size_t length = 1;  // bytes, on the first line
  bool is_quoted = false;
  bool is_unclosed = false;  // its quote does not end on its line
};

// How far the scalar at `offset` with this value reaches in the source. No value of this schema
// needs a second line, so a quote that is open at a line's end was forgotten; this catches it at
// its beginning and not where the parser stumbles, which may be the end of the file, or nowhere.
[[nodiscard]] ScalarExtent scalar_extent(const Source& source, std::size_t offset,
                                         std::string_view value) noexcept;

// The parser places a value that is not written at whatever comes next; this is the dash, comma or
// bracket before it.
[[nodiscard]] Span place_of_null(const Source& source, Span reported) noexcept;

// Whether a ':' follows on the same line.
[[nodiscard]] bool is_colon_behind(const Source& source, Span key) noexcept;

void report_unclosed_quote(Report& report, std::size_t offset);
void report_anchor(const Source& source, Report& report, std::size_t offset);
void report_alias(const Source& source, Report& report, std::size_t offset);

// What the parser said, and what is known besides.
struct SyntaxFault {
  std::string text;                  // the parser's own words
  std::size_t offset = 0;            // where it gave up
  std::size_t reached = 0;           // where the last thing it understood begins
  std::optional<Span> open_bracket;  // a '[' or '{' that was not closed by then
};

// One diagnostic that names the cause in the user's terms, as near to it as can be told.
void report_syntax_fault(const Source& source, Report& report, const SyntaxFault& fault);

}  // namespace ringway::config
