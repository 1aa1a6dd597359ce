// Fuzz target: any bytes as a configuration file. Whatever they are, there is a configuration or an
// error, the messages can be shown, and nothing breaks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/load.h"
#include "config/source.h"
#include "netio/base/assert.h"

namespace {

using ringway::config::Diagnostic;
using ringway::config::Loaded;
using ringway::config::Severity;
using ringway::config::Source;

// What every answer must have, however wild the file.
void check_answer(const Loaded& loaded) {
  const bool has_error =
      std::any_of(loaded.diagnostics.begin(), loaded.diagnostics.end(),
                  [](const Diagnostic& one) { return one.severity == Severity::error; });
  ASSERT(loaded.ok() == !has_error);
  ASSERT(loaded.diagnostics.size() <= ringway::config::kDiagnosticsMax);
  for (const Diagnostic& one : loaded.diagnostics) {
    ASSERT(!ringway::config::explain_code(one.code).empty());
    ASSERT(!one.message.empty());
    ASSERT(one.length >= 1);
  }
}

// Nothing of the file may reach a terminal as a command.
void check_shown(std::string_view shown) {
  while (!shown.empty()) {
    const auto point = ringway::config::decode_utf8(shown);
    ASSERT(point.value == '\n' || !ringway::config::is_unprintable(point));
    shown.remove_prefix(point.length);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{data, data + size};
  const Loaded loaded = ringway::config::load_text(text, "fuzz.yaml");
  check_answer(loaded);
  check_shown(render(loaded, false));
  static_cast<void>(render(loaded, true));
  return 0;
}
