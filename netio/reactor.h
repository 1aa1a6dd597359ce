// Reactor: what a shard sleeps in. It owns the ports of its engine and the kernel's way to them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "netio/base/clock.h"
#include "netio/base/result.h"
#include "netio/port.h"

namespace ringway::netio {

class BufferPool;
class TunDevice;
class RawSocket;

// The packet memory of a shard. Both outlive the reactor.
struct Pools {
  BufferPool* small = nullptr;  // kSmallSlotBytes: packets up to a usual MTU
  BufferPool* large = nullptr;  // kLargeSlotBytes: anything an IP header can announce
};

class Reactor {
 public:
  Reactor() = default;
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;
  virtual ~Reactor() = default;

  // Makes a port of an opened device. The reactor owns it; the pointer is valid as long as the
  // reactor is. Ports read into `pools` and begin reading with the next wait().
  [[nodiscard]] virtual Result<Port*> attach(TunDevice device, PortId id, Pools pools) = 0;
  [[nodiscard]] virtual Result<Port*> attach(RawSocket socket, PortId id, Pools pools) = 0;

  // Hands everything transmitted so far to the kernel, then sleeps until a port may have packets,
  // wake() was called, or `timeout` has passed (negative: no limit; zero: do not sleep). One system
  // call in the common case.
  virtual void wait(Duration timeout) noexcept = 0;

  // Ends a wait(), also one that has not begun. The only call that any thread may make.
  virtual void wake() noexcept = 0;
};

}  // namespace ringway::netio
