// The way of a file: bytes, tree, draft, model, checks.
#include "config/load.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/core.h>

#include "config/build.h"
#include "config/codes.h"
#include "config/draft.h"
#include "config/model.h"
#include "config/report.h"
#include "config/source.h"
#include "config/tree.h"
#include "config/validate.h"
#include "netio/base/fd.h"

namespace ringway::config {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Reads at most one byte more than a file may have. Returns 0 or the errno of what failed.
int read_whole(const std::string& path, std::string& text) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.valid()) {
    return errno;
  }
  std::array<char, 65536> chunk{};
  while (text.size() <= kFileBytesMax) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return errno;
    }
    if (got == 0) {
      break;
    }
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return 0;
}

std::optional<Config> read_config(const Source& source, Report& report) {
  const std::optional<ConfigNode> root = parse_tree(source, report);
  if (!root) {
    return std::nullopt;
  }
  const std::optional<Draft> draft = read_draft(*root, report);
  if (!draft) {
    return std::nullopt;
  }
  Config config = build_config(*draft);
  validate(*draft, config, report);
  if (report.has_errors()) {
    return std::nullopt;
  }
  return config;
}

}  // namespace

Loaded load_text(std::string_view text, const std::string& name) {
  Loaded loaded;
  loaded.file = name;
  if (text.size() > kFileBytesMax) {
    const Source nothing{loaded.text};
    Report report{nothing};
    report
        .file_error(Code::file_too_large,
                    fmt::format("the file is larger than {} MiB", kFileBytesMax >> 20))
        .hint = "is it a configuration file?";
    loaded.diagnostics = report.take();
    return loaded;
  }
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  loaded.text = text;
  const Source source{loaded.text};
  Report report{source};
  loaded.config = read_config(source, report);
  loaded.diagnostics = report.take();
  return loaded;
}

Loaded load_file(const std::string& path) {
  std::string text;
  const int fault = read_whole(path, text);
  if (fault == 0) {
    return load_text(text, path);
  }
  Loaded loaded;
  loaded.file = path;
  const Source nothing{loaded.text};
  Report report{nothing};
  report.file_error(Code::cannot_read, fmt::format("cannot read the file: {}",
                                                   std::generic_category().message(fault)));
  loaded.diagnostics = report.take();
  return loaded;
}

}  // namespace ringway::config
