// A file that is gone after the test.
#pragma once

#include <cstdlib>
#include <string>

#include <unistd.h>

#include "netio/base/assert.h"

namespace ringway::test {

class TemporaryFile {
 public:
  TemporaryFile() {
    const int number = ::mkstemp(path_.data());
    ASSERT(number >= 0);
    ::close(number);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/ringway-test-XXXXXX";
};

}  // namespace ringway::test
