// Suggest: which of the known words somebody meant.
#pragma once

#include <string_view>
#include <vector>

namespace ringway::router {

// The known word that comes nearest to `written`, or an empty one if none is near: one slip for
// short words, one in three letters for longer ones. Two letters swapped are one slip.
[[nodiscard]] std::string_view did_you_mean(std::string_view written,
                                            const std::vector<std::string_view>& known);

}  // namespace ringway::router
