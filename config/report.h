// Report: collects what is wrong with one file while it is read, for one sorted answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/codes.h"
#include "config/load.h"
#include "config/source.h"

namespace ringway::config {

class Report {
 public:
  explicit Report(const Source& source) : source_{source} {}

  // Both return the diagnostic, so that hint and help can be added; the reference is valid until
  // the next call. The same code at the same place is kept once, the first one.
  Diagnostic& error(Code code, Span where, std::string message);
  Diagnostic& warning(Code code, Span where, std::string message);
  // About the file as a whole.
  Diagnostic& file_error(Code code, std::string message);

  [[nodiscard]] bool has_errors() const noexcept { return errors_ > 0; }
  // No more diagnostics are kept, only counted: no need to think about hints.
  [[nodiscard]] bool is_full() const noexcept;
  [[nodiscard]] const Source& source() const noexcept { return source_; }

  // Sorted by position and cut to kDiagnosticsMax; warnings go first when room is short. The
  // report is empty afterwards.
  [[nodiscard]] std::vector<Diagnostic> take();

 private:
  Diagnostic& add(Severity severity, Code code, Span where, std::string message);

  const Source& source_;
  std::vector<Diagnostic> diagnostics_;
  std::set<std::pair<Code, std::uint32_t>> seen_;
  std::size_t errors_ = 0;
  std::size_t uncounted_ = 0;  // found after the collection was full
  Diagnostic spare_;           // what callers write hints to when nothing is kept
};

}  // namespace ringway::config
