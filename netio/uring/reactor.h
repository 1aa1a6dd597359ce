// The io_uring engine: everything a turn has to tell the kernel goes down in one system call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "netio/base/fd.h"
#include "netio/reactor.h"
#include "netio/uring/ring.h"
#include "netio/uring/uring_port.h"

namespace ringway::netio {

// The best that may be used. For tests of what older kernels get.
struct UringOptions {
  std::uint32_t setup_flags = ~std::uint32_t{0};
  ReceiveMode receive = ReceiveMode::multishot;
};

class UringReactor final : public Reactor {
 public:
  [[nodiscard]] static Result<std::unique_ptr<UringReactor>> open(const UringOptions& options);
  // For open().
  UringReactor(const UringOptions& options, std::unique_ptr<Ring> ring, Fd wakeup);
  // Gives the kernel's requests back before the memory they point to goes.
  ~UringReactor() override;

  [[nodiscard]] Result<Port*> attach(TunDevice device, PortId id, Pools pools) override;
  [[nodiscard]] Result<Port*> attach(RawSocket socket, PortId id, Pools pools) override;
  void wait(Duration timeout) noexcept override;
  void wake() noexcept override;

  // Set-up flags and operations in use, for status.
  [[nodiscard]] std::vector<std::string> features() const;

  // For the ports.
  [[nodiscard]] Ring& ring() noexcept { return *ring_; }
  // Submits what is queued and collects what has completed, between two waits.
  void catch_up() noexcept;

 private:
  [[nodiscard]] ReceiveMode mode_for(std::uint8_t witness) const noexcept;
  [[nodiscard]] ReceiveSource source_for(ReceiveSource::Kind kind, int fd) noexcept;
  Result<Port*> keep(std::unique_ptr<UringPort> port);
  Duration prepare(Duration timeout, bool& eager) noexcept;
  void arm_wake() noexcept;
  void reap() noexcept;
  [[nodiscard]] bool idle() const noexcept;

  UringOptions options_;
  std::unique_ptr<Ring> ring_;
  Fd wakeup_;                     // an eventfd: the only thing another thread touches
  std::uint64_t wake_count_ = 0;  // what the kernel reads from it
  bool wake_armed_ = false;
  bool woken_ = false;
  std::vector<std::unique_ptr<UringPort>> ports_;
};

}  // namespace ringway::netio
