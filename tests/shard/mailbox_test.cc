// The mailbox between two threads: nothing lost, nothing twice, order kept.
#include "router/shard/mailbox.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include <doctest/doctest.h>

namespace ringway::test {
namespace {

using router::Mailbox;

TEST_CASE("a letter that does not fit stays with its sender") {
  Mailbox<std::unique_ptr<int>, 2> box;
  CHECK_FALSE(box.receive().has_value());
  for (int i = 0; i < 2; ++i) {
    auto letter = std::make_unique<int>(i);
    CHECK(box.send(letter));
    CHECK(letter == nullptr);
  }
  auto third = std::make_unique<int>(2);
  CHECK_FALSE(box.send(third));
  REQUIRE(third != nullptr);
  CHECK(**box.receive() == 0);
  CHECK(box.send(third));
  CHECK(**box.receive() == 1);
  CHECK(**box.receive() == 2);
  CHECK_FALSE(box.receive().has_value());
}

TEST_CASE("100,000 letters cross in order") {
  constexpr std::uint64_t kLetters = 100'000;
  Mailbox<std::unique_ptr<std::uint64_t>, 8> box;
  std::thread sender{[&box] {
    for (std::uint64_t i = 0; i < kLetters; ++i) {
      auto letter = std::make_unique<std::uint64_t>(i);
      while (!box.send(letter)) {
        std::this_thread::yield();
      }
    }
  }};
  bool in_order = true;
  for (std::uint64_t i = 0; i < kLetters;) {
    if (const auto letter = box.receive()) {
      in_order = in_order && **letter == i;
      ++i;
    } else {
      std::this_thread::yield();
    }
  }
  sender.join();
  CHECK(in_order);
  CHECK_FALSE(box.receive().has_value());
}

TEST_CASE("letters that nobody reads are freed with the box") {
  auto letter = std::make_unique<int>(1);
  Mailbox<std::unique_ptr<int>, 4> box;
  CHECK(box.send(letter));
}  // a leak would be reported by the address sanitizer

}  // namespace
}  // namespace ringway::test
