// Sleeping, waking and choosing: the reactors themselves.
#include "netio/uring/reactor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/device/retry.h"
#include "netio/open.h"
#include "netio/uring/ring.h"
#include "tests/platform/lab.h"

namespace ringway::test {
namespace {

using netio::Engine;
using netio::EngineChoice;

constexpr Duration kForever{-1};

Duration time_of(const std::function<void()>& body) {
  const Instant before = monotonic_now();
  body();
  return monotonic_now() - before;
}

TEST_CASE("a wait sleeps as long as it is told, and not at all for zero") {
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    Rig rig{engine, 0};
    rig.settle();
    for (const auto timeout : {std::chrono::microseconds{300}, std::chrono::microseconds{1500},
                               std::chrono::microseconds{20'000}}) {
      CAPTURE(timeout.count());
      // A signal may end a wait, and the end of an earlier ring is one (io_ring_exit_work adds task
      // work to this thread); a timeout rounded to nothing would be thousands of turns.
      int turns = 0;
      const Instant end = monotonic_now() + timeout;
      for (; monotonic_now() < end; ++turns) {
        rig.reactor().wait(end - monotonic_now());
      }
      CHECK(turns <= 4);
      CHECK(monotonic_now() - end < std::chrono::seconds{1});
    }
    CHECK(time_of([&] { rig.settle(); }) < std::chrono::milliseconds{200});
  }
}

TEST_CASE("a wake ends a wait, also one that has not begun, and no later one") {
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    Rig rig{engine, 0};
    rig.reactor().wake();
    rig.reactor().wait(kForever);
    rig.reactor().wake();
    rig.reactor().wake();
    rig.reactor().wait(kForever);
    rig.settle();
    int turns = 0;
    const Instant end = monotonic_now() + std::chrono::milliseconds{5};
    for (; monotonic_now() < end; ++turns) {
      rig.reactor().wait(end - monotonic_now());
    }
    CHECK(turns <= 4);
  }
}

TEST_CASE("wakes from another thread are never lost") {
  constexpr int kRounds = 2000;
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    Rig rig{engine, 0};
    // The other thread wakes us once for each round that we have begun; a lost one would hang.
    std::atomic<int> round{0};
    std::thread other{[&] {
      for (int next = 1; next <= kRounds; ++next) {
        round.wait(next - 1);
        rig.reactor().wake();
      }
    }};
    for (int next = 1; next <= kRounds; ++next) {
      round.store(next);
      round.notify_one();
      rig.reactor().wait(kForever);
    }
    other.join();
    CHECK(round.load() == kRounds);
  }
}

TEST_CASE("a port says how it receives and transmits, and it is the best that the kernel has") {
  if (!can_run()) {
    return;
  }
  const bool modern = linux_is_at_least(6, 7);
  for (const EngineRow& engine : engines()) {
    CAPTURE(engine.name);
    const Namespace space;
    Rig rig{engine};
    const auto check = [modern](const std::vector<std::string>& ways, const std::string& way) {
      CAPTURE(way);
      CHECK(std::find(ways.begin(), ways.end(), way) != ways.end());
      if (modern) {
        CHECK(way == ways.front());
      }
    };
    check(engine.tun_receive_by, rig.tun("rw0").info().receive_by);
    netio::Port& raw = rig.raw(wire::IpProtocol::ipv6);
    check(engine.raw_receive_by, raw.info().receive_by);
    CHECK(raw.info().name == "raw:sit");
    CHECK(raw.info().transmit_by ==
          std::string{engine.name.starts_with("epoll") ? "sendmmsg" : "sendmsg"});
  }
}

TEST_CASE("a port that failed rests twice as long each time, and starts anew after a success") {
  using std::chrono::milliseconds;
  netio::Retry retry;
  const Instant start{};
  CHECK_FALSE(retry.resting());
  for (const int pause : {10, 20, 40, 80, 160, 320, 640, 1000, 1000}) {
    CAPTURE(pause);
    retry.fault();
    CHECK(retry.resting());
    CHECK(retry.remaining(start) == milliseconds{pause});
    CHECK(retry.remaining(start + milliseconds{pause - 1}) == milliseconds{1});
    CHECK(retry.resting());
    CHECK(retry.remaining(start + milliseconds{pause}) == Duration::zero());
    CHECK_FALSE(retry.resting());
  }
  retry.success();
  retry.fault();
  CHECK(retry.remaining(start) == milliseconds{10});
}

TEST_CASE("a tag comes back as it went") {
  using netio::Request;
  using netio::Tag;
  for (const Tag tag :
       {Tag{}, Tag{Request::transmit, 0xffff, 0xffffffff}, Tag{Request::read, 1, 2}}) {
    CHECK(Tag::unpack(tag.pack()) == tag);
  }
}

TEST_CASE("set-up flags are given up one by one until the kernel agrees") {
  // A kernel that refuses a flag is one where we may not set it: the ladder must still end well.
  for (const std::uint32_t refused : {IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_SINGLE_ISSUER,
                                      IORING_SETUP_COOP_TASKRUN, IORING_SETUP_SUBMIT_ALL}) {
    CAPTURE(refused);
    // DEFER_TASKRUN without SINGLE_ISSUER is itself refused with EINVAL, by every kernel.
    auto ring = netio::Ring::open(~refused);
    REQUIRE(ring.ok());
  }
}

TEST_CASE("a forced engine is the one that opens, with its features") {
  for (const EngineChoice choice : {EngineChoice::io_uring, EngineChoice::epoll}) {
    auto opened = netio::open_reactor(choice);
    REQUIRE_MESSAGE(opened.ok(), error_text(opened));
    const netio::EngineReport& report = opened.value().report;
    CHECK((report.engine == Engine::epoll) == (choice == EngineChoice::epoll));
    CHECK(report.reason == std::string{netio::name(report.engine)} + " was asked for.");
    CHECK_FALSE(report.features.empty());
  }
}

// The tests below run in a child under deny_io_uring; by themselves they do nothing.
struct Denied {
  std::string error;
  std::string call;
};

std::string run_denied(const Denied& row, const char* test) {
  const std::string command = std::string{RINGWAY_DENY_IO_URING} + " " + row.error + " " +
                              row.call + " /proc/" + std::to_string(::getpid()) +
                              "/exe --no-skip --minimal=true --test-case='" + test + "'";
  const std::unique_ptr<std::FILE, decltype([](std::FILE* file) { ::pclose(file); })> output{
      ::popen(command.c_str(), "re")};
  std::string text;
  std::array<char, 4096> piece{};
  while (std::fgets(piece.data(), piece.size(), output.get()) != nullptr) {
    text += piece.data();
  }
  return text;
}

TEST_CASE("denied: choose" * doctest::skip()) {
  auto automatic = netio::open_reactor(EngineChoice::automatic);
  REQUIRE(automatic.ok());
  std::printf("engine: %s\nreason: %s\n", netio::name(automatic.value().report.engine).data(),
              automatic.value().report.reason.c_str());
  auto forced = netio::open_reactor(EngineChoice::io_uring);
  std::printf("forced: %s\n", forced.ok() ? "opened" : forced.error().text().c_str());
}

TEST_CASE("where io_uring is denied, automatic takes epoll with the reason, forced is an error") {
  const std::vector<Denied> rows{
      {"EPERM", "setup"},    {"ENOSYS", "setup"},    {"ENOMEM", "setup"},
      {"EPERM", "register"}, {"ENOSYS", "register"}, {"EPERM", "enter"},
  };
  for (const Denied& row : rows) {
    CAPTURE(row.error);
    CAPTURE(row.call);
    const std::string text = run_denied(row, "denied: choose");
    CAPTURE(text);
    CHECK(text.find("engine: epoll\n") != std::string::npos);
    CHECK(text.find("reason: io_uring is unavailable: io_uring_" + row.call) != std::string::npos);
    CHECK(text.find("forced: cannot set up io_uring") != std::string::npos);
    const char* hint = row.error == "EPERM"    ? "seccomp filter"
                       : row.error == "ENOSYS" ? "older than 5.11"
                                               : "RLIMIT_MEMLOCK is";
    CHECK(text.find(hint) != std::string::npos);
  }
}

}  // namespace
}  // namespace ringway::test
