// Our tree against libyaml's: whatever we accept, it must accept too, with the same structure, the
// same texts at the same places. The other way round is not wanted: we refuse more.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <doctest/doctest.h>

#include "config/report.h"
#include "config/source.h"
#include "config/tree.h"

namespace ringway::config {

namespace {

namespace fs = std::filesystem;

const fs::path kSource = RINGWAY_SOURCE_DIR;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "ringway-yaml-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { fs::remove_all(path_); }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string hex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

// The form that compose.py prints.
std::string dump(const ConfigNode& node, const Source& source) {
  if (node.is(ConfigNode::Kind::null)) {
    return "n";
  }
  if (node.is(ConfigNode::Kind::scalar)) {
    const Position at = source.position(node.span.offset);
    std::string out{node.is_quoted ? "q" : "s"};
    out.append(std::to_string(at.line)).append(":").append(std::to_string(at.column));
    return out.append(":").append(hex(node.text)).append(";");
  }
  std::string out = node.is(ConfigNode::Kind::map) ? "{" : "[";
  for (const ConfigNode& child : node.children) {
    out += dump(child, source);
  }
  return out + (node.is(ConfigNode::Kind::map) ? "}" : "]");
}

std::string our_tree(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);  // load_text takes the byte order mark off
  }
  const Source source{text};
  Report report{source};
  const auto root = parse_tree(source, report);
  return root && !report.has_errors() ? dump(*root, source) : "reject";
}

std::string read_bytes(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const auto& folder :
       {kSource / "tests/golden/config", kSource / "tests/fuzz/corpus/config_load"}) {
    for (const auto& entry : fs::directory_iterator{folder}) {
      if (entry.path().extension() == ".yaml" && entry.file_size() < 2000) {
        texts.push_back(read_bytes(entry.path()));
      }
    }
  }
  std::sort(texts.begin(), texts.end());  // folders list their files in no order
  return texts;
}

// libyaml reads YAML 1.1 and refuses what YAML 1.2 allows: in brackets, a plain text that begins
// with ':', such as [::/0], and a ':' right before a bracket or comma; anywhere, tabs before a
// comment.
bool is_beyond_libyaml(std::string_view text) {
  constexpr std::string_view kBefore = " ,[{\"'\r\n";
  constexpr std::string_view kAfter = ",[]{}";
  for (std::size_t at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
    const bool begins = at > 0 && kBefore.find(text[at - 1]) != std::string_view::npos;
    const bool ends = at + 1 < text.size() && kAfter.find(text[at + 1]) != std::string_view::npos;
    if (begins || ends) {
      return true;
    }
  }
  return text.find('\t') != std::string_view::npos;
}

// One small change that YAML may or may not survive.
void mutate(std::string& text, std::mt19937& random) {
  static constexpr std::array<std::string_view, 24> kBits = {
      " ", "\n", ": ", ":", "- ",   "#", " #",   "'",    "\"",   "[",    "]",   "{",
      "}", ",",  "?",  "|", "null", "~", "\n  ", "\r\n", "\n\n", "x: 1", "---", "\t"};
  const std::size_t at = text.empty() ? 0 : random() % text.size();
  switch (random() % 4) {
    case 0:
      text.insert(at, kBits[random() % kBits.size()]);
      break;
    case 1:
      text.erase(at, 1 + random() % 3);
      break;
    case 2:
      text.replace(at, 1, kBits[random() % kBits.size()]);
      break;
    default: {
      const std::string copy = text.substr(at, random() % 30);
      text.insert(random() % (text.size() + 1), copy);
      break;
    }
  }
}

}  // namespace

TEST_CASE("tree: libyaml sees the same in every file that is accepted") {
  if (std::system("/usr/bin/python3 -c 'import yaml' 2>/dev/null") != 0) {  // NOLINT: one thread
    MESSAGE("skipped: needs the Debian package python3-yaml");
    return;
  }
  constexpr unsigned kSeed = 7;
  constexpr std::size_t kMutantsEach = 40;
  std::mt19937 random{kSeed};
  const TemporaryFolder folder;
  std::map<std::string, std::string> ours;
  std::size_t accepted = 0;
  for (const std::string& seed : seeds()) {
    for (std::size_t i = 0; i <= kMutantsEach; ++i) {
      std::string text = seed;
      for (std::size_t change = 0; change < (i == 0 ? 0 : 1 + i % 3); ++change) {
        mutate(text, random);
      }
      const std::string tree = our_tree(text);
      if (tree != "reject") {
        const std::string name = std::to_string(accepted++);
        ours[name] = tree;
        std::ofstream{folder.path() / name, std::ios::binary} << text;
      }
    }
  }
  CHECK(accepted > 200);
  const std::string command = "/usr/bin/python3 " + (kSource / "tests/config/compose.py").string() +
                              " " + folder.path().string() + " > " + folder.path().string() +
                              ".out";
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT: one thread
  std::ifstream out{folder.path().string() + ".out"};
  std::size_t compared = 0;
  for (std::string line; std::getline(out, line);) {
    const std::size_t tab = line.find('\t');
    const std::string name = line.substr(0, tab);
    const std::string tree = line.substr(tab + 1);
    const std::string text = read_bytes(folder.path() / name);
    CAPTURE(text);
    CHECK((tree == ours.at(name) || (tree == "reject" && is_beyond_libyaml(text))));
    ++compared;
  }
  CHECK(compared == accepted);
  fs::remove(folder.path().string() + ".out");
}

}  // namespace ringway::config
