// Table: aligned columns for people, and numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::router {

enum class Paint { none, good, bad, faint };

struct Cell {
  Cell(std::string words, Paint how = Paint::none)  // NOLINT: rows are lists of plain strings
      : text{std::move(words)}, paint{how} {}
  Cell(const char* words) : text{words} {}  // NOLINT: likewise
  std::string text;
  Paint paint = Paint::none;
};

// Columns are as wide as their widest cell and two blanks apart; nothing trails a line.
class Table {
 public:
  explicit Table(std::vector<Cell> head) { add(std::move(head)); }
  Table() = default;

  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string render(bool color, std::string_view indent = "") const;

 private:
  std::vector<std::vector<Cell>> rows_;
};

// The text within the escape sequences of its paint, or as it is.
[[nodiscard]] std::string painted(std::string_view text, Paint paint, bool color);

// "0", "999", "1.2k", "12k", "3.4G": powers of 1000, two digits at least.
[[nodiscard]] std::string human_number(std::uint64_t number);
// The two largest units: "3d 4h", "4h 5m", "5m 3s", "3s".
[[nodiscard]] std::string human_duration(std::int64_t seconds);

}  // namespace ringway::router
