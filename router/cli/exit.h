// How `ringway` ends. A promise to scripts, documented in ringway(1).
#pragma once

namespace ringway::router {

enum class Exit : int {
  ok = 0,
  failed = 1,
  usage = 2,
  config_invalid = 3,
  unreachable = 4,
  permission = 5,
  degraded = 6,
  not_found = 7,
};

}  // namespace ringway::router
