// Drop reasons: every one has a name and a sentence of its own, and errnos map to them.
#include "netio/packet/drop.h"

#include <cctype>
#include <cerrno>
#include <cstddef>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

namespace ringway {

using netio::Drop;

TEST_CASE("every drop reason has a name and an explanation that no other has") {
  std::set<std::string_view> names;
  std::set<std::string_view> explanations;
  for (std::size_t i = 0; i < netio::kDropCount; ++i) {
    const auto reason = static_cast<Drop>(i);
    const std::string_view name = netio::name(reason);
    CAPTURE(name);
    CHECK(!name.empty());
    for (const char letter : name) {
      CHECK((letter == '_' || std::islower(static_cast<unsigned char>(letter)) != 0));
    }
    CHECK(names.insert(name).second);
    CHECK(netio::explanation(reason).ends_with('.'));
    CHECK(explanations.insert(netio::explanation(reason)).second);
  }
  CHECK(netio::name(Drop::truncated) == "truncated");
  CHECK(netio::name(Drop::bad_gre_checksum) == "bad_gre_checksum");
  CHECK(netio::name(Drop::shutdown) == "shutdown");
}

TEST_CASE("drops are counted under one reason and summed") {
  netio::DropCounters drops;
  CHECK(drops.total() == 0);
  drops.count(Drop::loop);
  drops.count(Drop::loop);
  drops.count(Drop::shutdown);
  CHECK(drops.value(Drop::loop) == 2);
  CHECK(drops.value(Drop::shutdown) == 1);
  CHECK(drops.value(Drop::truncated) == 0);
  CHECK(drops.total() == 3);
}

TEST_CASE("what a failed write means") {
  struct Row {
    int number;
    Drop reason;
  };
  const Row rows[] = {
      {EAGAIN, Drop::queue_full},
      {ENOBUFS, Drop::queue_full},
      {EMSGSIZE, Drop::too_big},
      {ENETUNREACH, Drop::remote_unreachable},
      {EHOSTUNREACH, Drop::remote_unreachable},
      {EPERM, Drop::refused},
      {EACCES, Drop::refused},
      {EIO, Drop::interface_down},
      {ENETDOWN, Drop::interface_down},
      {EBADFD, Drop::interface_down},
      {EINVAL, Drop::write_failed},
      {EFAULT, Drop::write_failed},
  };
  for (const Row& row : rows) {
    CAPTURE(row.number);
    CHECK(netio::name(netio::drop_for_errno(row.number)) == netio::name(row.reason));
  }
}

}  // namespace ringway
