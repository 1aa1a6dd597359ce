// What one value cannot know: whether the values of a file fit together.
#pragma once

#include "config/draft.h"
#include "config/model.h"
#include "config/report.h"

namespace ringway::config {

// `config` was built from `draft`. What rests on a value that is refused already is not judged.
void validate(const Draft& draft, const Config& config, Report& report);

// The part of it that follows routes (loops.cc).
void validate_routes(const Draft& draft, const Config& config, Report& report);

}  // namespace ringway::config
