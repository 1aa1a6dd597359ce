// From what was written to what it means.
#pragma once

#include "config/draft.h"
#include "config/model.h"

namespace ringway::config {

// A tunnel of the model for each of the draft, in its order. What was refused keeps its default,
// so the result is only fit for use if the report holds no errors.
[[nodiscard]] Config build_config(const Draft& draft);

}  // namespace ringway::config
