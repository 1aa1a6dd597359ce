// Suggestions for unknown keys: the right place, the word for what other tools call so, a slip.
#include "config/suggest.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "config/fields.h"
#include "config/source.h"

namespace ringway::config {

namespace {

std::string_view place_of(Section section) noexcept {
  switch (section) {
    case Section::top:
      return "at the top level";
    case Section::daemon:
      return "under 'daemon:'";
    case Section::tunnel:
      return "into a tunnel, under 'tunnels:'";
    case Section::route:
      return "into an item of a tunnel's 'routes:'";
    case Section::transit:
      break;
  }
  return "into an item of the top level's 'routes:'";
}

// The row that knows this word, by its name or by what other tools call it.
const Field* find_word(Section section, std::string_view word, bool in_defaults) {
  for (const Field& row : fields()) {
    if (row.section != section || (in_defaults && !row.in_defaults)) {
      continue;
    }
    const auto also = split_words(row.also);
    if (row.name() == word || std::find(also.begin(), also.end(), word) != also.end()) {
      return &row;
    }
  }
  return nullptr;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

}  // namespace

Suggestion suggest_key(Section section, std::string_view written, bool in_defaults) {
  // Nesting first: a word that is right elsewhere was not mistyped.
  for (const Section other :
       {Section::tunnel, Section::daemon, Section::route, Section::transit, Section::top}) {
    if (other != section && find_field(other, written) != nullptr) {
      return {fmt::format("{} belongs {}", quoted(written), place_of(other)), nullptr};
    }
  }
  const std::string word = lower(written);
  if (const Field* row = find_word(section, word, in_defaults)) {
    return {fmt::format("did you mean {}?", quoted(row->name())), row};
  }
  std::vector<std::string_view> names;
  for (const Field& row : fields()) {
    if (row.section == section && (!in_defaults || row.in_defaults)) {
      names.push_back(row.name());
    }
  }
  if (const std::string_view near = nearest(word, names); !near.empty()) {
    return {fmt::format("did you mean {}?", quoted(near)), find_field(section, near)};
  }
  constexpr std::size_t kFew = 5;
  return {names.size() <= kFew ? "known here: " + join_words(names) : std::string{}, nullptr};
}

}  // namespace ringway::config
