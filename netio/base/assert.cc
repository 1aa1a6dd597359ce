// The one way in which a broken invariant ends the process.
#include "netio/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace ringway {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace ringway
