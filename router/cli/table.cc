// Columns, colours and units.
#include "router/cli/table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace ringway::router {

namespace {

// Code points: every byte of UTF-8 that begins one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string painted(std::string_view text, Paint paint, bool color) {
  // ECMA-48 SGR: 32 green, 31 red, 2 faint, 0 back to normal.
  constexpr std::array<std::string_view, 4> kCodes{"", "32", "31", "2"};
  const std::string_view code = kCodes[static_cast<std::size_t>(paint)];
  if (!color || code.empty()) {
    return std::string{text};
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Table::render(bool color, std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    out += indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += painted(row[i].text, row[i].paint, color);
      if (i + 1 < row.size()) {
        out.append(widths[i] - width_of(row[i].text) + 2, ' ');
      }
    }
    out += '\n';
  }
  return out;
}

std::string human_number(std::uint64_t number) {
  if (number < 1000) {
    return std::to_string(number);
  }
  constexpr std::string_view kUnits = "kMGTPE";
  // In tenths, so that rounding happens once: 9999 is 10k, not 9.9k and not 10.0k.
  std::uint64_t divisor = 1000;
  std::size_t unit = 0;
  const auto rounded = [&](std::uint64_t step) {
    return number / step + (number % step >= step / 2 ? 1 : 0);  // number + step / 2 may overflow
  };
  while (unit + 1 < kUnits.size() && rounded(divisor) >= 1000) {
    divisor *= 1000;
    ++unit;
  }
  const std::uint64_t tenths = rounded(divisor / 10);
  if (tenths < 100) {
    return fmt::format("{}.{}{}", tenths / 10, tenths % 10, kUnits[unit]);
  }
  return fmt::format("{}{}", rounded(divisor), kUnits[unit]);
}

std::string human_duration(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  if (seconds >= kDay) {
    return fmt::format("{}d {}h", seconds / kDay, seconds % kDay / kHour);
  }
  if (seconds >= kHour) {
    return fmt::format("{}h {}m", seconds / kHour, seconds % kHour / kMinute);
  }
  if (seconds >= kMinute) {
    return fmt::format("{}m {}s", seconds / kMinute, seconds % kMinute);
  }
  return fmt::format("{}s", seconds);
}

}  // namespace ringway::router
