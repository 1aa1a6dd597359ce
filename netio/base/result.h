// Result<T>: a value, or an Error that a user can act on. Nothing in netio throws.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "netio/base/assert.h"

namespace ringway {

// What went wrong, told so that a user can act on it.
struct Error {
  std::string
      operation;        // what was tried, in the system's own word: "TUNSETIFF", "socket(SOCK_RAW)"
  int number = 0;       // errno of the failure; 0 if it was not a system call that failed
  std::string subject;  // what was to be done: "create interface 'paris'" (reads after "cannot")
  std::string why;      // the likely cause in one sentence; empty if the errno says it all
  std::string fix;      // what the user can do about it; empty if nothing

  // "cannot create interface 'paris': Operation not permitted (TUNSETIFF, errno 1)" and, where
  // known, the lines "= why: ..." and "= fix: ...". No trailing newline.
  [[nodiscard]] std::string text() const;

  // True if the failure is one of missing rights (EPERM, EACCES).
  [[nodiscard]] bool is_permission() const noexcept;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}      // NOLINT: by design
  Result(Error error) : state_{std::in_place_index<1>, std::move(error)} {}  // NOLINT: by design

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  // Precondition: ok().
  [[nodiscard]] T& value() & noexcept {
    ASSERT(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& noexcept {
    ASSERT(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && noexcept {
    ASSERT(ok());
    return std::move(*std::get_if<0>(&state_));
  }

  // Precondition: !ok().
  [[nodiscard]] Error& error() noexcept {
    ASSERT(!ok());
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] const Error& error() const noexcept {
    ASSERT(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_{std::move(error)}, ok_{false} {}  // NOLINT: by design

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }
  [[nodiscard]] Error& error() noexcept {
    ASSERT(!ok_);
    return error_;
  }
  [[nodiscard]] const Error& error() const noexcept {
    ASSERT(!ok_);
    return error_;
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace ringway
