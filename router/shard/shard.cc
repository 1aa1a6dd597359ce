// The loop of a shard, and its beginning and end.
#include "router/shard/shard.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <pthread.h>

#include "netio/base/assert.h"
#include "netio/base/clock.h"
#include "netio/base/result.h"
#include "netio/open.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/packet.h"
#include "netio/port.h"
#include "netio/reactor.h"
#include "router/path/egress.h"
#include "router/path/forward.h"
#include "router/path/forwarding.h"
#include "router/shard/mailbox.h"

namespace ringway::router {

namespace {

// Packets that can be somewhere at once, per port: those the kernel may fill while we work on a
// batch, those on their way out, and the batch itself. 64 of each, and as much again in reserve
// so that a slow way out does not stop reading.
constexpr std::uint32_t kSlotsPerPort = 4 * netio::kBatchCapacity;

// Slots of each size that the ports of a plan can hold.
struct SlotCount {
  std::uint32_t small = 0;
  std::uint32_t large = 0;
};

SlotCount slots_for(const ShardPlan& plan) noexcept {
  // The kernel merges what a raw socket receives into packets of up to 64 KB.
  SlotCount count{.small = 0,
                  .large = static_cast<std::uint32_t>(plan.sockets.size()) * kSlotsPerPort};
  for (const netio::TunDevice& tun : plan.tuns) {
    (netio::fits_small_slot(tun.mtu()) ? count.small : count.large) += kSlotsPerPort;
  }
  return count;
}

using Publish = std::unique_ptr<Forwarding>;
struct Stop {};
using Message = std::variant<std::monostate, Publish, Stop>;

// Gives the path's output to the ports.
class PortEgress final : public Egress {
 public:
  explicit PortEgress(const std::vector<netio::Port*>& ports) : ports_{ports} {}
  void send(netio::PortId port, netio::Batch& batch) noexcept override {
    ports_[static_cast<std::size_t>(port)]->transmit(batch, netio::More::yes);
  }

 private:
  const std::vector<netio::Port*>& ports_;
};

}  // namespace

struct Shard::State {
  explicit State(std::size_t tunnels) : counters{tunnels} {}

  void run(ShardPlan plan);
  Result<void> open(ShardPlan& plan);
  void loop();
  bool read_mail();
  bool turn(PortEgress& egress);

  // Written by the shard's thread before `ready`, read by control after it.
  Result<void> started;
  netio::EngineReport report;
  std::vector<const netio::Port*> const_ports;
  std::binary_semaphore ready{0};

  PathCounters counters;
  Mailbox<Message, 8> to_shard;
  // Twice as large: at most one letter more than `to_shard` holds comes back unread.
  Mailbox<std::unique_ptr<Forwarding>, 16> to_control;
  // Set when control will not call wake() again: the reactor may then go.
  std::atomic_flag may_end;
  std::atomic<netio::Reactor*> reactor_for_wake{nullptr};

  // The shard's own.
  std::unique_ptr<netio::BufferPool> small;
  std::unique_ptr<netio::BufferPool> large;
  std::unique_ptr<netio::Reactor> reactor;
  std::vector<netio::Port*> ports;
  std::unique_ptr<Forwarding> forwarding;

  std::thread thread;
};

Result<void> Shard::State::open(ShardPlan& plan) {
  const SlotCount slots = slots_for(plan);
  const auto create = [](std::unique_ptr<netio::BufferPool>& pool, std::uint32_t count,
                         std::uint32_t slot_bytes) -> Result<void> {
    auto created = netio::BufferPool::create(count, slot_bytes);
    if (!created) {
      return created.error();
    }
    pool = std::move(created).value();
    return {};
  };
  if (auto created = create(small, slots.small, netio::kSmallSlotBytes); !created) {
    return created;
  }
  if (auto created = create(large, slots.large, netio::kLargeSlotBytes); !created) {
    return created;
  }

  auto opened = netio::open_reactor(plan.engine);
  if (!opened) {
    return opened.error();
  }
  reactor = std::move(opened.value().reactor);
  report = std::move(opened.value().report);

  const netio::Pools pools{.small = small.get(), .large = large.get()};
  const auto attach = [&](auto& devices) -> Result<void> {
    for (auto& device : devices) {
      const auto id = static_cast<netio::PortId>(ports.size());
      auto port = reactor->attach(std::move(device), id, pools);
      if (!port) {
        return port.error();
      }
      ports.push_back(port.value());
      const_ports.push_back(port.value());
    }
    return {};
  };
  if (auto attached = attach(plan.tuns); !attached) {
    return attached;
  }
  return attach(plan.sockets);
}

void Shard::State::run(ShardPlan plan) {
  pthread_setname_np(pthread_self(), "ringway-shard");
  started = open(plan);
  const bool running = started.ok();
  if (running) {
    reactor_for_wake.store(reactor.get());
  }
  ready.release();
  if (running) {
    loop();
    may_end.wait(false);
  }
  // On this thread, as IORING_SETUP_SINGLE_ISSUER wants it, and ports before their pools.
  ports.clear();
  reactor.reset();
  large.reset();
  small.reset();
}

// One turn: wait, read the mail, one batch from each port, send. Returns true if some port has
// more.
bool Shard::State::turn(PortEgress& egress) {
  bool more = false;
  const Path path{.forwarding = *forwarding, .counters = counters, .egress = egress};
  // One batch per port and turn: a flood on one side cannot starve the other.
  for (netio::Port* port : ports) {
    netio::Batch batch;
    (void)port->receive(batch);
    more = more || batch.full();
    forward(batch, path);
  }
  for (netio::Port* port : ports) {
    port->flush();
  }
  return more;
}

void Shard::State::loop() {
  constexpr Duration kForever{-1};
  PortEgress egress{ports};
  bool more = false;
  for (;;) {
    reactor->wait(more ? Duration::zero() : kForever);
    if (!read_mail()) {
      return;
    }
    more = forwarding != nullptr && turn(egress);
  }
}

// Takes what control sent. False when it was Stop.
bool Shard::State::read_mail() {
  while (std::optional<Message> message = to_shard.receive()) {
    if (std::holds_alternative<Stop>(*message)) {
      return false;
    }
    if (auto* publish = std::get_if<Publish>(&*message)) {
      std::unique_ptr<Forwarding> retired = std::exchange(forwarding, std::move(*publish));
      if (retired != nullptr) {
        // Control empties its side before it publishes, so there is room.
        const bool sent = to_control.send(retired);
        ASSERT(sent);
      }
    }
  }
  return true;
}

Shard::Shard(std::unique_ptr<State> state) : state_{std::move(state)} {}

Shard::~Shard() {
  stop();
}

Result<std::unique_ptr<Shard>> Shard::start(ShardPlan plan) {
  auto state = std::make_unique<State>(plan.tuns.size());
  State* raw = state.get();
  raw->thread =
      std::thread{[raw, moved = std::move(plan)]() mutable { raw->run(std::move(moved)); }};
  raw->ready.acquire();
  if (!raw->started.ok()) {
    raw->thread.join();
    return raw->started.error();
  }
  return std::make_unique<Shard>(std::move(state));
}

void Shard::publish(std::unique_ptr<Forwarding> forwarding) {
  while (take_retired() != nullptr) {
  }
  Message message{std::move(forwarding)};
  while (!state_->to_shard.send(message)) {
    std::this_thread::yield();  // eight publications unread: the shard is about to read them
  }
  state_->reactor_for_wake.load()->wake();
}

std::unique_ptr<Forwarding> Shard::take_retired() {
  auto retired = state_->to_control.receive();
  return retired ? std::move(*retired) : nullptr;
}

void Shard::stop() {
  if (!state_->thread.joinable()) {
    return;
  }
  Message message{Stop{}};
  while (!state_->to_shard.send(message)) {
    std::this_thread::yield();
  }
  state_->reactor_for_wake.load()->wake();
  state_->may_end.test_and_set();
  state_->may_end.notify_one();
  state_->thread.join();
}

const netio::EngineReport& Shard::engine() const noexcept {
  return state_->report;
}

const std::vector<const netio::Port*>& Shard::ports() const noexcept {
  return state_->const_ports;
}

const PathCounters& Shard::counters() const noexcept {
  return state_->counters;
}

}  // namespace ringway::router
