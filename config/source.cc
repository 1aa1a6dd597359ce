// Positions in a text, UTF-8, and the small matters of wording that every message needs.
#include "config/source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::config {

namespace {

constexpr std::size_t kPrintableMax = 60;  // code points of a user's text shown in a message
constexpr std::size_t kStride = 1024;      // bytes between two entries of the column index
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;                  // row i - 2, for swaps
  std::vector<std::size_t> previous(b.size() + 1);  // row i - 1
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    previous[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before = previous;
    previous = current;
  }
  return previous[b.size()];
}

}  // namespace

Source::Source(std::string_view text) : text_{text} {
  std::uint32_t continuations = 0;
  line_starts_.push_back(0);
  continuations_.reserve(text.size() / kStride + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % kStride == 0) {
      continuations_.push_back(continuations);
    }
    if (text[i] == '\n') {
      line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
    }
    continuations += is_continuation(text[i]) ? 1U : 0U;
  }
  continuations_.push_back(continuations);  // for the end of the text, if it is at a stride
}

std::size_t Source::continuations_before(std::size_t offset) const noexcept {
  const std::size_t stride = offset / kStride;
  const std::string_view rest = text_.substr(stride * kStride, offset % kStride);
  return continuations_[stride] +
         static_cast<std::size_t>(std::count_if(rest.begin(), rest.end(), is_continuation));
}

std::size_t Source::line_index(std::size_t offset) const noexcept {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::size_t>(next - line_starts_.begin()) - 1;
}

Position Source::position(std::size_t offset) const noexcept {
  offset = std::min(offset, text_.size());
  const std::size_t index = line_index(offset);
  const std::size_t start = line_starts_[index];
  const std::size_t marks = continuations_before(offset) - continuations_before(start);
  return {index + 1, offset - start - marks + 1};
}

std::size_t Source::columns(Span span) const noexcept {
  const std::string_view covered = rest_of_line(span.offset).substr(0, span.length);
  const auto marks = std::count_if(covered.begin(), covered.end(), is_continuation);
  return std::max<std::size_t>(covered.size() - static_cast<std::size_t>(marks), 1);
}

std::string_view Source::line(std::size_t number) const noexcept {
  if (number == 0 || number > line_starts_.size()) {
    return {};
  }
  return rest_of_line(line_starts_[number - 1]);
}

std::string_view Source::rest_of_line(std::size_t offset) const noexcept {
  offset = std::min(offset, text_.size());
  const std::size_t next = line_index(offset) + 1;
  const std::size_t end = next < line_starts_.size() ? line_starts_[next] - 1 : text_.size();
  std::string_view rest = text_.substr(offset, end - offset);
  if (rest.ends_with('\r')) {
    rest.remove_suffix(1);
  }
  return rest;
}

CodePoint decode_utf8(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    return {first, 1, true};
  }
  if (first < 0xc2 || first > 0xf4) {
    return {first, 1, false};
  }
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) {
    return {first, 1, false};
  }
  std::uint32_t value = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) {
      return {first, 1, false};
    }
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (overlong || surrogate || value > 0x10ffff) {
    return {first, 1, false};
  }
  return {value, static_cast<std::uint8_t>(length), true};
}

bool is_unprintable(CodePoint point) noexcept {
  const std::uint32_t c = point.value;
  const bool control = c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
  // These turn the direction of the text around and so hide what it says.
  const bool bidirectional = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  const bool zero_width = (c >= 0x200b && c <= 0x200f) || c == 0xfeff;
  return !point.valid || control || bidirectional || zero_width;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == kPrintableMax) {
      return out + "...";
    }
    const CodePoint point = decode_utf8(text);
    out += is_unprintable(point) ? kReplacement : text.substr(0, point.length);
    text.remove_prefix(point.length);
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out{"'"};
  out += printable(text);
  out += '\'';
  return out;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kWordMax = 64;  // nothing longer is a slip of the finger
  if (word.empty() || word.size() > kWordMax) {
    return {};
  }
  std::string_view best;
  std::size_t best_distance = word.size() <= 3 ? 2 : 3;  // exclusive: one error, or two
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter > best_distance) {
      continue;
    }
    const std::size_t distance = edit_distance(word, candidate);
    // Slips seldom hit the first letter, so it decides among equals.
    const bool wins_tie = distance == best_distance && !best.empty() && best[0] != word[0] &&
                          candidate.starts_with(word[0]);
    // A word with nothing in common is no suggestion: 'ip' is one deletion away from any letter.
    if ((distance < best_distance || wins_tie) && distance * 2 <= longer) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace ringway::config
