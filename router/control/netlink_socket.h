// NetlinkSocket: one request to rtnetlink and its answer. Knows messages, not their meaning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <linux/netlink.h>

#include <libmnl/libmnl.h>

#include "netio/base/result.h"

namespace ringway::router {

// A request under construction. `Header` is what the message type demands behind nlmsghdr.
class NetlinkRequest {
 public:
  static constexpr std::size_t kBytes = 1024;  // ours hold a few attributes of at most 16 bytes

  // `name` is the type's own word, for messages: "RTM_NEWADDR". It must be a literal.
  NetlinkRequest(const char* name, std::uint16_t type, std::uint16_t flags);
  // From a message of a dump, header included, to send it back. Precondition: fits(message).
  NetlinkRequest(const char* name, std::span<const std::uint8_t> message, std::uint16_t flags);
  [[nodiscard]] static bool fits(std::span<const std::uint8_t> message) noexcept {
    return message.size() >= sizeof(nlmsghdr) && message.size() <= kBytes;
  }
  NetlinkRequest(const NetlinkRequest&) = delete;
  NetlinkRequest& operator=(const NetlinkRequest&) = delete;
  ~NetlinkRequest() = default;

  template <class Header>
  [[nodiscard]] Header& put_header() {
    return *static_cast<Header*>(mnl_nlmsg_put_extra_header(message_, sizeof(Header)));
  }
  void put_u32(std::uint16_t type, std::uint32_t value);
  void put_u8(std::uint16_t type, std::uint8_t value);
  void put_bytes(std::uint16_t type, std::span<const std::uint8_t> value);
  void put_string(std::uint16_t type, const std::string& value);
  [[nodiscard]] nlattr* begin_nest(std::uint16_t type);
  void end_nest(nlattr* nest);

  [[nodiscard]] nlmsghdr& message() noexcept { return *message_; }
  [[nodiscard]] const char* name() const noexcept { return name_; }

 private:
  alignas(nlmsghdr) std::array<std::uint8_t, kBytes> buffer_{};
  nlmsghdr* message_;
  const char* name_;
};

// The attributes of a message or of a nest, by type. Views into the message.
class NetlinkAttributes {
 public:
  // Attributes behind a header of `header_bytes`; types above `type_max` are left out.
  NetlinkAttributes(const nlmsghdr& message, std::size_t header_bytes, std::uint16_t type_max);
  NetlinkAttributes(const nlattr& nest, std::uint16_t type_max);

  // Null if absent.
  [[nodiscard]] const nlattr* find(std::uint16_t type) const;
  [[nodiscard]] std::uint32_t u32(std::uint16_t type, std::uint32_t otherwise) const;
  [[nodiscard]] std::uint8_t u8(std::uint16_t type, std::uint8_t otherwise) const;
  [[nodiscard]] std::string string(std::uint16_t type) const;
  // Copies exactly out.size() bytes; false if absent or of another size.
  [[nodiscard]] bool bytes(std::uint16_t type, std::span<std::uint8_t> out) const;

 private:
  static int collect(const nlattr* attribute, void* self);
  std::vector<const nlattr*> by_type_;
};

// A socket of NETLINK_ROUTE in the network namespace of the thread that opened it. One thread.
class NetlinkSocket {
 public:
  using Visitor = std::function<void(const nlmsghdr&)>;

  [[nodiscard]] static Result<NetlinkSocket> open();

  // Sends the request and waits until the kernel has done it; `visit` sees each message of the
  // answer (dumps have many) and may be empty. A failure carries the kernel's own sentence where it
  // gives one (NETLINK_EXT_ACK). `subject` reads after "cannot".
  Result<void> transact(NetlinkRequest& request, const std::string& subject,
                        const Visitor& visit = {});

 private:
  struct Close {
    void operator()(mnl_socket* socket) const noexcept { mnl_socket_close(socket); }
  };
  using Handle = std::unique_ptr<mnl_socket, Close>;
  struct Answer;

  explicit NetlinkSocket(Handle handle);
  [[nodiscard]] static Result<Handle> connect();
  [[nodiscard]] int receive(Answer& answer);

  Handle handle_;
  std::uint32_t sequence_ = 0;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace ringway::router
