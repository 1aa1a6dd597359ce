// From a file to a Config, or to every error in it at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model.h"

namespace ringway::config {

inline constexpr std::size_t kFileBytesMax = 16u << 20;
inline constexpr std::size_t kLineBytesMax = 1u << 20;
inline constexpr std::size_t kDiagnosticsMax = 50;

enum class Severity { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;        // "RW1002"; stable, explained by `ringway help RW1002`
  std::size_t line = 0;    // 1-based; 0: the whole file
  std::size_t column = 0;  // 1-based, in display columns (one per code point; tabs shown as one)
  std::size_t length = 1;  // how many columns to underline
  std::string message;
  std::string hint;  // stands behind the caret
  std::string help;  // a "= help:" line of its own
};

struct Loaded {
  std::optional<Config> config;  // present if there is no error; warnings may be present too
  std::string file;
  std::string text;
  std::vector<Diagnostic> diagnostics;  // sorted by position

  [[nodiscard]] bool ok() const noexcept { return config.has_value(); }
};

// Never throws. A file that cannot be read is a diagnostic too (RW1000).
[[nodiscard]] Loaded load_file(const std::string& path);
// `name` stands for the file in messages.
[[nodiscard]] Loaded load_text(std::string_view text, const std::string& name);

// All diagnostics in the form of compilers: "file:line:col: error: message [code]", the source
// line, a caret. Ends with a newline; empty if there is nothing to say.
[[nodiscard]] std::string render(const Loaded& loaded, bool color);

// What a code means, with an example and the cure; empty for an unknown code.
[[nodiscard]] std::string_view explain_code(std::string_view code) noexcept;

}  // namespace ringway::config
