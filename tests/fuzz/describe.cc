// Any bytes through dissect and describe: no read past their end, and every field within them.
#include "netio/wire/describe.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "netio/base/assert.h"
#include "netio/wire/dissect.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly its size, so that ASan sees a read past its end also in the replay.
  const std::vector<std::uint8_t> packet{data, data + size};
  for (const auto& layer : ringway::wire::dissect(packet)) {
    for (const auto& field : layer.fields) {
      ASSERT(field.offset + field.bytes <= size);
    }
  }
  ASSERT(!ringway::wire::describe(packet).empty());
  ASSERT(ringway::wire::describe_lines(packet).ends_with('\n'));
  return 0;
}
