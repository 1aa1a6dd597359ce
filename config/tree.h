// A YAML document as a tree of our own, built from the parser's events, with the place of every
// node.
//
// Why not the node API of yaml-cpp: it keeps duplicate keys, a second document and an open quote
// at the end of the file without a word, reads 010 as eight, and loses the place of aliases. This
// is the only part of Ringway that sees yaml-cpp and its exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/report.h"
#include "config/source.h"

namespace ringway::config {

inline constexpr std::size_t kDepthMax = 32;
inline constexpr std::size_t kNodesMax = 1'000'000;

struct ConfigNode {
  enum class Kind : std::uint8_t {
    null,  // nothing was written, or `~` or `null`
    scalar,
    sequence,
    map,
    broken,  // an error about it is reported already; say no more
  };

  Kind kind = Kind::null;
  bool is_quoted = false;  // in quotes or a block (| or >): text whatever it looks like
  Span span;               // of collections: where they begin
  std::string text;        // of scalars
  std::vector<ConfigNode>
      children;  // of a sequence: its items; of a map: key, value, key, value ...

  [[nodiscard]] bool is(Kind wanted) const noexcept { return kind == wanted; }
  [[nodiscard]] std::size_t entries() const noexcept { return children.size() / 2; }
  [[nodiscard]] const ConfigNode& key(std::size_t entry) const { return children[2 * entry]; }
  [[nodiscard]] const ConfigNode& value(std::size_t entry) const { return children[2 * entry + 1]; }
};

// Reports every fault of form it meets. Empty if there is no tree worth reading further: keys of
// the maps in a returned tree are scalars and unique, items of its lists are not null.
[[nodiscard]] std::optional<ConfigNode> parse_tree(const Source& source, Report& report);

}  // namespace ringway::config
