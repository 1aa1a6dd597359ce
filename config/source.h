// The text of a configuration file, and where in it a byte stands: line, column, underline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::config {

// Bytes of the text that a diagnostic points at. Never longer than one line.
struct Span {
  std::uint32_t offset = 0;
  std::uint32_t length = 1;
};

struct Position {
  std::size_t line = 0;    // 1-based
  std::size_t column = 0;  // 1-based; one per code point
};

class Source {
 public:
  // The text must outlive the Source and be at most kFileBytesMax long.
  explicit Source(std::string_view text);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] Position position(std::size_t offset) const noexcept;
  // Columns that a span covers; at least one.
  [[nodiscard]] std::size_t columns(Span span) const noexcept;
  // Without its line end. Empty for a line that does not exist.
  [[nodiscard]] std::string_view line(std::size_t number) const noexcept;
  // From the offset to the end of its line.
  [[nodiscard]] std::string_view rest_of_line(std::size_t offset) const noexcept;

 private:
  // How many bytes before the offset continue a code point.
  [[nodiscard]] std::size_t continuations_before(std::size_t offset) const noexcept;
  // The index of the line that the offset is in.
  [[nodiscard]] std::size_t line_index(std::size_t offset) const noexcept;

  std::string_view text_;
  std::vector<std::uint32_t> line_starts_;
  // continuations_before() at every kStride bytes, since a hostile file may be one line of 16 MiB.
  std::vector<std::uint32_t> continuations_;
};

// One code point decoded from UTF-8. An invalid byte is a character of length 1 that is not valid:
// overlong forms, surrogates and values above U+10FFFF are invalid (RFC 3629 section 3).
struct CodePoint {
  std::uint32_t value = 0;
  std::uint8_t length = 1;
  bool valid = false;
};

// Precondition: `text` is not empty.
[[nodiscard]] CodePoint decode_utf8(std::string_view text) noexcept;

// True for what must not reach a terminal as it is: controls, what has no width, what
// turns the direction of writing, bad bytes.
[[nodiscard]] bool is_unprintable(CodePoint point) noexcept;

// A user's text fit for a message: cut to a sane length, one line, no controls.
[[nodiscard]] std::string printable(std::string_view text);
// The same between single quotes.
[[nodiscard]] std::string quoted(std::string_view text);

// The nearest of several words if it is near enough to be what was meant; else empty.
// Insertions, deletions, replacements and swaps of neighbours count one each (Damerau).
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& candidates);

}  // namespace ringway::config
