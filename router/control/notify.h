// Notifier: tells a service manager how far we are (sd_notify(3), the protocol without the
// library).
#pragma once

#include <string>
#include <string_view>

#include "netio/base/result.h"

namespace ringway::router {

// Sends datagrams such as "READY=1\nSTATUS=2 tunnels" to the socket that the manager gave us.
class Notifier {
 public:
  // `address`: the value of $NOTIFY_SOCKET: a path, or '@' and a name in the abstract namespace;
  // empty if there is nobody to tell.
  explicit Notifier(std::string address) : address_{std::move(address)} {}

  [[nodiscard]] bool enabled() const noexcept { return !address_.empty(); }
  // Does nothing, successfully, if not enabled.
  Result<void> send(std::string_view state) const;

 private:
  std::string address_;
};

}  // namespace ringway::router
