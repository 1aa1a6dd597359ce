// A shard's life: start, publish, stop, on both engines. Ports are the business of tests/netns;
// here it is the threads that matter, under ThreadSanitizer.
#include "router/shard/shard.h"

#include <array>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include <doctest/doctest.h>

#include "netio/open.h"
#include "router/path/forwarding.h"

namespace ringway::test {
namespace {

using netio::EngineChoice;
using router::Forwarding;
using router::Shard;

constexpr std::array kEngines = {EngineChoice::epoll, EngineChoice::automatic};

std::unique_ptr<Shard> start(EngineChoice engine) {
  auto shard = Shard::start({.engine = engine, .tuns = {}, .sockets = {}});
  REQUIRE(shard.ok());
  return std::move(shard).value();
}

std::unique_ptr<Forwarding> generation(std::uint64_t number) {
  auto forwarding = std::make_unique<Forwarding>();
  forwarding->generation = number;
  return forwarding;
}

TEST_CASE("a shard starts, says which engine it runs on and why, and stops twice") {
  for (const EngineChoice engine : kEngines) {
    auto shard = start(engine);
    CHECK_FALSE(shard->engine().reason.empty());
    CHECK(shard->ports().empty());
    shard->stop();
    shard->stop();
  }
}

TEST_CASE("a shard that is never told to stop stops when it is destroyed") {
  for (const EngineChoice engine : kEngines) {
    auto shard = start(engine);
    shard->publish(generation(1));
  }
}

TEST_CASE("every state that was replaced comes back, in order") {
  constexpr std::uint64_t kGenerations = 1000;
  for (const EngineChoice engine : kEngines) {
    auto shard = start(engine);
    std::uint64_t expected = 1;
    for (std::uint64_t i = 1; i <= kGenerations; ++i) {
      shard->publish(generation(i));
      // publish() empties the box of retired states itself; take some here as well, as a control
      // thread that keeps count would.
      while (auto retired = shard->take_retired()) {
        CHECK(retired->generation >= expected);
        CHECK(retired->generation < i);
        expected = retired->generation + 1;
      }
    }
    shard->stop();
  }
}

TEST_CASE("shards live side by side") {
  auto first = start(EngineChoice::automatic);
  auto second = start(EngineChoice::automatic);
  first->publish(generation(1));
  second->publish(generation(1));
  first.reset();
  second->publish(generation(2));
}

}  // namespace
}  // namespace ringway::test
