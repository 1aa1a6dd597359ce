// Every error message as a user sees it: tests/golden/config/NAME.yaml and what is said about it in
// NAME.expected. After a wanted change of wording run the test with RINGWAY_UPDATE_GOLDEN=1, which
// writes the .expected files anew, and read their diff.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "config/codes.h"
#include "config/load.h"
#include "config/model.h"
#include "config/tree.h"

namespace ringway::config {

namespace {

namespace fs = std::filesystem;

const fs::path kSource = RINGWAY_SOURCE_DIR;
const fs::path kGolden = kSource / "tests/golden/config";

std::string read_bytes(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

bool is_update() {
  const char* const wanted = std::getenv("RINGWAY_UPDATE_GOLDEN");  // NOLINT: no threads here
  return wanted != nullptr && std::string_view{wanted} == "1";
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

std::string many_tunnels(std::size_t count) {
  std::string text = "version: 1\ntunnels:\n";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    text.append("  t").append(number).append(": {type: gre, remote: 192.0.2.1, key: ");
    text.append(number).append("}\n");
  }
  return text;
}

// One tunnel with so many items in a list. They stand on lines of their own, since a diagnostic
// shows the line.
std::string many_items(std::string_view list, std::string_view item, std::size_t count) {
  return "version: 1\ntunnels:\n  paris:\n    type: gre\n    remote: 192.0.2.1\n    " +
         std::string{list} + ":\n" +
         repeat(std::string{"      - "}.append(item).append("\n"), count);
}

// Files that are too large to be kept beside their messages.
const std::map<std::string, std::function<Loaded()>> kGenerated = {
    {"cannot_read", [] { return load_file("/nonexistent/ringway.yaml"); }},
    {"cannot_read_directory", [] { return load_file("/"); }},
    {"file_too_large", [] { return load_text(std::string(kFileBytesMax + 1, '#'), "large.yaml"); }},
    {"line_too_long",
     [] { return load_text("x: [" + repeat("a, ", kLineBytesMax / 3) + "]", "line.yaml"); }},
    {"too_many_values",
     [] { return load_text("[\n" + repeat("0,\n", kNodesMax) + "]\n", "values.yaml"); }},
    {"too_many_tunnels", [] { return load_text(many_tunnels(kTunnelsMax + 1), "tunnels.yaml"); }},
    {"too_many_addresses",
     [] { return load_text(many_items("addresses", "10.0.0.1/32", kAddressesMax + 1), "a.yaml"); }},
    {"too_many_routes",
     [] { return load_text(many_items("routes", "10.0.0.0/8", kRoutesMax + 1), "routes.yaml"); }},
};

void check_golden(const std::string& name, const Loaded& loaded) {
  CAPTURE(name);
  const std::string shown = render(loaded, false);
  const fs::path file = kGolden / (name + ".expected");
  if (is_update()) {
    std::ofstream{file, std::ios::binary} << shown;
  }
  CHECK(shown == read_bytes(file));
  const bool has_error = std::any_of(
      loaded.diagnostics.begin(), loaded.diagnostics.end(),
      [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
  CHECK(loaded.ok() == !has_error);
  CHECK(!loaded.diagnostics.empty());
  CHECK(loaded.diagnostics.size() <= kDiagnosticsMax);
}

// Every "[RWnnnn]" in the golden files.
std::set<std::string> codes_in_golden_files() {
  std::set<std::string> codes;
  for (const auto& entry : fs::directory_iterator{kGolden}) {
    if (entry.path().extension() != ".expected") {
      continue;
    }
    const std::string text = read_bytes(entry.path());
    for (std::size_t at = text.find("[RW"); at != std::string::npos;
         at = text.find("[RW", at + 1)) {
      codes.insert(text.substr(at + 1, text.find(']', at) - at - 1));
    }
  }
  return codes;
}

// The enumerators of codes.h, read from its text: name and number.
std::map<std::string, std::string> codes_in_header() {
  std::map<std::string, std::string> codes;
  std::ifstream in{kSource / "config/codes.h"};
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with("  ") && equals != std::string::npos && line.ends_with(',')) {
      codes[line.substr(2, equals - 2)] = "RW" + line.substr(equals + 3, line.size() - equals - 4);
    }
  }
  return codes;
}

std::string all_reporting_code() {
  std::string text;
  for (const auto& entry : fs::directory_iterator{kSource / "config"}) {
    if (entry.path().extension() == ".cc" && entry.path().filename() != "codes.cc") {
      text += read_bytes(entry.path());
    }
  }
  return text;
}

}  // namespace

TEST_CASE("golden files: what is said about each file") {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator{kGolden}) {
    if (entry.path().extension() == ".yaml") {
      ++files;
      check_golden(entry.path().stem(),
                   load_text(read_bytes(entry.path()), entry.path().filename()));
    }
  }
  CHECK(files >= 45);
}

TEST_CASE("golden files: files made here") {
  for (const auto& [name, load] : kGenerated) {
    check_golden(name, load());
  }
}

TEST_CASE("golden files: none without its input") {
  for (const auto& entry : fs::directory_iterator{kGolden}) {
    fs::path input = entry.path();
    input.replace_extension(".yaml");
    const bool has_input = fs::exists(input) || kGenerated.contains(input.stem());
    CHECK_MESSAGE((has_input || entry.path().extension() != ".expected"), entry.path());
  }
}

TEST_CASE("codes: each is reported, shown in a golden file, and explained") {
  const std::string code = all_reporting_code();
  const std::set<std::string> golden = codes_in_golden_files();
  const auto header = codes_in_header();
  std::set<std::string> explained;
  for (const Code one : all_codes()) {
    explained.insert(code_text(one));
  }
  CHECK(header.size() >= 50);
  CHECK(header.size() == explained.size());
  for (const auto& row : header) {
    const std::string& name = row.first;
    const std::string& number = row.second;
    CAPTURE(name);
    CHECK(code.find("Code::" + name) != std::string::npos);
    CHECK(golden.contains(number));
    CHECK(explained.contains(number));
    CHECK(explain_code(number).starts_with(number + ": "));
    const bool helps = explain_code(number).find("\nCure") != std::string_view::npos ||
                       explain_code(number).find("\nExample") != std::string_view::npos;
    CHECK(helps);
  }
  CHECK(explain_code("RW9999").empty());
  CHECK(explain_code("").empty());
  CHECK(explain_code("RW").empty());
  CHECK(explain_code("RW100").empty());
}

}  // namespace ringway::config
