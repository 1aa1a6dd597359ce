// Columns, units and near words.
#include "router/cli/table.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "router/cli/suggest.h"

namespace ringway::router {

TEST_CASE("numbers as people read them") {
  struct Row {
    std::uint64_t number;
    const char* text;
  };
  const std::array<Row, 16> rows{{{0, "0"},
                                  {999, "999"},
                                  {1000, "1.0k"},
                                  {1049, "1.0k"},
                                  {1050, "1.1k"},
                                  {9949, "9.9k"},
                                  {9950, "10k"},
                                  {12'345, "12k"},
                                  {999'499, "999k"},
                                  {999'500, "1.0M"},
                                  {1'234'567, "1.2M"},
                                  {999'950'000, "1.0G"},
                                  {1'200'000'000, "1.2G"},
                                  {6'100'000'000'000, "6.1T"},
                                  {7'000'000'000'000'000, "7.0P"},
                                  {UINT64_MAX, "18E"}}};
  for (const Row& row : rows) {
    CHECK(human_number(row.number) == row.text);
  }
}

TEST_CASE("durations as people read them") {
  struct Row {
    std::int64_t seconds;
    const char* text;
  };
  const std::array<Row, 8> rows{{{0, "0s"},
                                 {59, "59s"},
                                 {60, "1m 0s"},
                                 {3599, "59m 59s"},
                                 {3600, "1h 0m"},
                                 {86'399, "23h 59m"},
                                 {86'400, "1d 0h"},
                                 {3 * 86'400 + 4 * 3600 + 59, "3d 4h"}}};
  for (const Row& row : rows) {
    CHECK(human_duration(row.seconds) == row.text);
  }
}

TEST_CASE("columns are aligned by what the eye sees") {
  Table table{{"NAME", "STATE", "NOTE"}};
  table.add({"zürich", {"up", Paint::good}, "-"});
  table.add({"a", {"DOWN", Paint::bad}, "gone"});
  CHECK(table.render(false) ==
        "NAME    STATE  NOTE\n"
        "zürich  up     -\n"
        "a       DOWN   gone\n");
  CHECK(table.render(true, "  ") ==
        "  NAME    STATE  NOTE\n"
        "  zürich  \x1b[32mup\x1b[0m     -\n"
        "  a       \x1b[31mDOWN\x1b[0m   gone\n");
  CHECK(Table{}.render(false).empty());
}

TEST_CASE("the word that was meant") {
  const std::vector<std::string_view> known{"status", "show", "check", "run", "help", "version"};
  struct Row {
    std::string_view written;
    std::string_view meant;
  };
  const std::array<Row, 10> rows{{{"stauts", "status"},
                                  {"statu", "status"},
                                  {"chekc", "check"},
                                  {"shwo", "show"},
                                  {"rnu", "run"},
                                  {"hlep", "help"},
                                  {"versions", "version"},
                                  {"reload", ""},
                                  {"x", ""},
                                  {"", ""}}};
  for (const Row& row : rows) {
    CAPTURE(row.written);
    CHECK(did_you_mean(row.written, known) == row.meant);
  }
  CHECK(did_you_mean(std::string(100'000, 's'), known).empty());
}

}  // namespace ringway::router
