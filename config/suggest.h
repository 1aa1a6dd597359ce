// What an unknown key was probably meant to be.
#pragma once

#include <string>
#include <string_view>

#include "config/fields.h"

namespace ringway::config {

struct Suggestion {
  std::string hint;              // in words; empty if nothing comes near
  const Field* meant = nullptr;  // the row of the same section that the hint names, if any
};

[[nodiscard]] Suggestion suggest_key(Section section, std::string_view written, bool in_defaults);

}  // namespace ringway::config
