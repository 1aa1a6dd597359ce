// One datagram per change of state.
#include "router/control/notify.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "netio/base/fd.h"
#include "netio/base/result.h"

namespace ringway::router {

namespace {

Error failed(const char* operation, int number, const std::string& address) {
  return {operation, number, "tell the service manager at '" + address + "' our state",
          "the address comes from the variable NOTIFY_SOCKET",
          "start the daemon without that variable if no service manager waits for it"};
}

}  // namespace

Result<void> Notifier::send(std::string_view state) const {
  if (!enabled()) {
    return {};
  }
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  // sd_notify(3): "/" and "@" are the address families that exist (vsock is for machines).
  if ((address_[0] != '/' && address_[0] != '@') || address_.size() >= sizeof(to.sun_path)) {
    return failed("NOTIFY_SOCKET", EAFNOSUPPORT, address_);
  }
  std::copy(address_.begin(), address_.end(), std::begin(to.sun_path));
  if (address_[0] == '@') {
    to.sun_path[0] = '\0';  // unix(7): abstract names begin with a null byte
  }
  const Fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket.valid()) {
    return failed("socket(AF_UNIX)", errno, address_);
  }
  // An abstract name has no terminator: the length tells where it ends.
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const ssize_t sent =
      ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&to), length);  // sendto's calling convention
  if (sent < 0) {
    return failed("sendto", errno, address_);
  }
  return {};
}

}  // namespace ringway::router
