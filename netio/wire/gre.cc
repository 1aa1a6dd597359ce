// Reading a GRE header whose length depends on its own flags.
#include "netio/wire/gre.h"

#include <cstddef>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"

namespace ringway::wire {

GreView read_gre(ConstBytes bytes) noexcept {
  GreView view;
  const auto* base = header_at<GreBaseHeader>(bytes);
  if (base == nullptr) {
    view.error = GreError::truncated;
    return view;
  }
  view.flags = base->flags;
  view.protocol = base->protocol;
  if ((view.flags & kGreVersionMask) != 0) {
    view.error = GreError::bad_version;
    return view;
  }
  if ((view.flags & (kGreRouting | kGreStrictSource | kGreRecursionHigh)) != 0) {
    view.error = GreError::bad_flags;
    return view;
  }
  view.header_bytes = gre_header_bytes(view.flags);
  if (bytes.size() < view.header_bytes) {
    view.error = GreError::truncated;
    return view;
  }
  std::size_t at = sizeof(GreBaseHeader);
  if (view.has_checksum()) {
    at += 4;
  }
  if (view.has_key()) {
    view.key = *header_at<Be32>(bytes, at);
    at += 4;
  }
  if (view.has_sequence()) {
    view.sequence = *header_at<Be32>(bytes, at);
  }
  return view;
}

}  // namespace ringway::wire
