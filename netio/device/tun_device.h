// TunDevice: a TUN interface, opened and configured, nothing read or written yet.
#pragma once

#include <cstdint>
#include <string>

#include "netio/base/fd.h"
#include "netio/base/result.h"

namespace ringway::netio {

struct TunOptions {
  std::string name;          // interface name, at most 15 bytes
  std::uint32_t mtu = 1500;  // sizes the receive buffers; the interface's own MTU is set by control
};

// Layer 3, no packet information, every packet behind a 10-byte virtio_net_hdr (IFF_VNET_HDR) of
// the machine's byte order. Non-blocking. The interface ends with the last descriptor unless it was
// persistent before. (Linux drivers/net/tun.c; Documentation/networking/tuntap.rst)
class TunDevice {
 public:
  // Creates the interface, or attaches to a persistent one that this user may use. Errors tell
  // apart: /dev/net/tun missing, no right to open it, no right to create, name taken or busy.
  [[nodiscard]] static Result<TunDevice> open(const TunOptions& options);

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] std::uint32_t mtu() const noexcept { return options_.mtu; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // True if the interface existed before open(); it will then survive us.
  [[nodiscard]] bool existed() const noexcept { return existed_; }

 private:
  TunDevice(TunOptions options, Fd fd, bool existed)
      : options_{std::move(options)}, fd_{std::move(fd)}, existed_{existed} {}

  TunOptions options_;
  Fd fd_;
  bool existed_ = false;
};

}  // namespace ringway::netio
