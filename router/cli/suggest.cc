// Edit distance (optimal string alignment).
#include "router/cli/suggest.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ringway::router {

namespace {

constexpr std::size_t kWordBytesMax = 64;  // nobody mistypes a longer one into a command of ours

// Row by row; `before` and `last` are the two rows above, since a swap looks two rows back.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before(other.size() + 1);
  std::vector<std::size_t> last(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t change = one[i - 1] == other[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[other.size()];
}

}  // namespace

std::string_view did_you_mean(std::string_view written,
                              const std::vector<std::string_view>& known) {
  if (written.size() > kWordBytesMax) {
    return {};
  }
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string_view word : known) {
    const std::size_t found = distance(written, word);
    if (found < best_distance) {
      best_distance = found;
      best = word;
    }
  }
  return best;
}

}  // namespace ringway::router
