// The epoll engine: works on every kernel and in every sandbox that allows TUN and sockets at all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netio/base/fd.h"
#include "netio/epoll/epoll_port.h"
#include "netio/reactor.h"

namespace ringway::netio {

class EpollReactor final : public Reactor {
 public:
  // `precise`: use epoll_pwait2 if the kernel has it. False is for tests of what older ones get.
  [[nodiscard]] static Result<std::unique_ptr<EpollReactor>> open(bool precise = true);
  // For open().
  EpollReactor(Fd epoll, Fd wakeup, bool precise)
      : epoll_{std::move(epoll)}, wakeup_{std::move(wakeup)}, precise_{precise} {}

  [[nodiscard]] Result<Port*> attach(TunDevice device, PortId id, Pools pools) override;
  [[nodiscard]] Result<Port*> attach(RawSocket socket, PortId id, Pools pools) override;
  void wait(Duration timeout) noexcept override;
  void wake() noexcept override;

  // What it is made of, for status.
  [[nodiscard]] std::vector<std::string> features() const;

 private:
  Result<Port*> watch(std::unique_ptr<EpollPort> port);
  Duration limit(Duration timeout) noexcept;

  Fd epoll_;
  Fd wakeup_;             // an eventfd: the only thing another thread touches
  bool precise_ = false;  // epoll_pwait2 is there and allowed
  std::vector<std::unique_ptr<EpollPort>> ports_;
};

}  // namespace ringway::netio
