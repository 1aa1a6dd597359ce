// The floor of the house: results and errors, descriptors, assertions.
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/base/assert.h"
#include "netio/base/fd.h"
#include "netio/base/result.h"
#include "tests/support/death.h"

namespace ringway {

TEST_CASE("an error reads as a sentence with cause and fix") {
  const Error error{.operation = "TUNSETIFF",
                    .number = EPERM,
                    .subject = "create interface 'paris'",
                    .why = "it needs CAP_NET_ADMIN",
                    .fix = "run as root"};
  CHECK(error.text() ==
        "cannot create interface 'paris': Operation not permitted (TUNSETIFF, errno 1)\n"
        "      = why:  it needs CAP_NET_ADMIN\n"
        "      = fix:  run as root");
  CHECK(error.is_permission());
  const Error other{.operation = "", .number = ENOENT, .subject = "x", .why = "", .fix = ""};
  CHECK(!other.is_permission());
  CHECK(other.text().find('\n') == std::string::npos);
}

TEST_CASE("a result holds a value or an error, also of types that cannot be copied") {
  Result<std::unique_ptr<int>> good = std::make_unique<int>(7);
  REQUIRE(good.ok());
  CHECK(static_cast<bool>(good));
  CHECK(**&good.value() == 7);
  const std::unique_ptr<int> taken = std::move(good).value();
  CHECK(*taken == 7);

  Result<std::unique_ptr<int>> bad =
      Error{.operation = "open", .number = 2, .subject = "", .why = "", .fix = ""};
  CHECK(!bad.ok());
  CHECK(bad.error().operation == "open");
  CHECK(test::aborts([&bad] { (void)bad.value(); }));
  CHECK(test::aborts([] { (void)Result<int>{1}.error(); }));

  Result<void> nothing;
  CHECK(nothing.ok());
  CHECK(test::aborts([&nothing] { (void)nothing.error(); }));
  Result<void> failed =
      Error{.operation = "bind", .number = 98, .subject = "", .why = "", .fix = ""};
  CHECK(!failed.ok());
  CHECK(failed.error().number == 98);
}

TEST_CASE("a descriptor is closed once, by its last owner") {
  const auto is_open = [](int number) { return ::fcntl(number, F_GETFD) >= 0; };
  int number = -1;
  {
    Fd first{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    REQUIRE(first.valid());
    number = first.get();
    Fd second{std::move(first)};
    CHECK(!first.valid());  // NOLINT(*-move,*.Move): a moved-from Fd is empty
    CHECK(second.get() == number);
    Fd third;
    third = std::move(second);
    CHECK(third.get() == number);
    CHECK(is_open(number));
  }
  CHECK(!is_open(number));
  Fd kept{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const int released = kept.release();
  kept.reset();
  CHECK(is_open(released));
  ::close(released);
}

TEST_CASE("ASSERT stops the process in every build, and only if it must") {
  CHECK(test::aborts([] { ASSERT(1 + 1 == 3); }));
  CHECK(!test::aborts([] { ASSERT(1 + 1 == 2); }));
#ifdef NDEBUG
  CHECK(!test::aborts([] { DASSERT(1 + 1 == 3); }));
#else
  CHECK(test::aborts([] { DASSERT(1 + 1 == 3); }));
#endif
}

}  // namespace ringway
