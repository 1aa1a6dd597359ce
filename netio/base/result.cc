// How an Error reads on a terminal.
#include "netio/base/result.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace ringway {

std::string Error::text() const {
  std::string out = "cannot " + subject;
  if (number != 0) {
    out += ": " + std::generic_category().message(number) + " (" + operation + ", errno " +
           std::to_string(number) + ")";
  } else if (!operation.empty()) {
    out += ": " + operation;
  }
  if (!why.empty()) {
    out += "\n      = why:  " + why;
  }
  if (!fix.empty()) {
    out += "\n      = fix:  " + fix;
  }
  return out;
}

bool Error::is_permission() const noexcept {
  return number == EPERM || number == EACCES;
}

}  // namespace ringway
