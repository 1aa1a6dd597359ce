// Collects diagnostics, each once, and hands them out in the order of the file.
#include "config/report.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "config/codes.h"
#include "config/load.h"
#include "config/source.h"

namespace ringway::config {

namespace {

// Enough to find the first fifty by position, and a bound on memory for hostile files.
constexpr std::size_t kCollectedMax = 1'000;

}  // namespace

Diagnostic& Report::error(Code code, Span where, std::string message) {
  return add(Severity::error, code, where, std::move(message));
}

Diagnostic& Report::warning(Code code, Span where, std::string message) {
  return add(Severity::warning, code, where, std::move(message));
}

Diagnostic& Report::file_error(Code code, std::string message) {
  Diagnostic& added = add(Severity::error, code, Span{}, std::move(message));
  added.line = 0;
  added.column = 0;
  return added;
}

bool Report::is_full() const noexcept {
  return diagnostics_.size() == kCollectedMax;
}

Diagnostic& Report::add(Severity severity, Code code, Span where, std::string message) {
  if (!seen_.emplace(code, where.offset).second) {
    return spare_ = Diagnostic{};
  }
  if (severity == Severity::error) {
    ++errors_;
  }
  if (is_full()) {
    seen_.erase({code, where.offset});
    ++uncounted_;
    return spare_ = Diagnostic{};
  }
  const Position position = source_.position(where.offset);
  Diagnostic& added = diagnostics_.emplace_back();
  added.severity = severity;
  added.code = code_text(code);
  added.line = position.line;
  added.column = position.column;
  added.length = source_.columns(where);
  added.message = std::move(message);
  return added;
}

std::vector<Diagnostic> Report::take() {
  std::vector<Diagnostic> all = std::exchange(diagnostics_, {});
  std::sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.line, a.column, a.code) < std::tie(b.line, b.column, b.code);
  });
  if (all.size() + uncounted_ > kDiagnosticsMax && has_errors()) {
    std::erase_if(all, [](const Diagnostic& d) { return d.severity == Severity::warning; });
  }
  if (all.size() + uncounted_ > kDiagnosticsMax) {
    const std::size_t shown = std::min(all.size(), kDiagnosticsMax - 1);
    const std::size_t more = all.size() + uncounted_ - shown;
    all.resize(shown);
    Diagnostic& last = all.emplace_back();
    last.severity = has_errors() ? Severity::error : Severity::warning;
    last.code = code_text(Code::more_errors);
    last.message = fmt::format("{} more are not shown", more);
  }
  return all;
}

}  // namespace ringway::config
