// Requests and answers of rtnetlink by libmnl (netlink(7), linux/netlink.h).
#include "router/control/netlink_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <libmnl/libmnl.h>

#include "netio/base/assert.h"
#include "netio/base/result.h"

namespace ringway::router {

namespace {

// The kernel fills a dump message up to the reader's buffer, at most 32 KiB (netlink_dump).
constexpr std::size_t kReceiveBytes = 32768;
// A dump is restarted if the table changed meanwhile (NLM_F_DUMP_INTR); on a busy router that may
// happen again.
constexpr int kDumpAttemptsMax = 10;

}  // namespace

NetlinkRequest::NetlinkRequest(const char* name, std::uint16_t type, std::uint16_t flags)
    : message_{mnl_nlmsg_put_header(buffer_.data())}, name_{name} {
  message_->nlmsg_type = type;
  message_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
}

NetlinkRequest::NetlinkRequest(const char* name, std::span<const std::uint8_t> message,
                               std::uint16_t flags)
    : name_{name} {
  ASSERT(fits(message));
  std::copy(message.begin(), message.end(), buffer_.begin());
  message_ = static_cast<nlmsghdr*>(static_cast<void*>(buffer_.data()));
  message_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  message_->nlmsg_pid = 0;
}

void NetlinkRequest::put_u32(std::uint16_t type, std::uint32_t value) {
  ASSERT(mnl_attr_put_u32_check(message_, kBytes, type, value));
}

void NetlinkRequest::put_u8(std::uint16_t type, std::uint8_t value) {
  ASSERT(mnl_attr_put_u8_check(message_, kBytes, type, value));
}

void NetlinkRequest::put_bytes(std::uint16_t type, std::span<const std::uint8_t> value) {
  ASSERT(mnl_attr_put_check(message_, kBytes, type, value.size(), value.data()));
}

void NetlinkRequest::put_string(std::uint16_t type, const std::string& value) {
  ASSERT(mnl_attr_put_strz_check(message_, kBytes, type, value.c_str()));
}

nlattr* NetlinkRequest::begin_nest(std::uint16_t type) {
  nlattr* const nest = mnl_attr_nest_start_check(message_, kBytes, type);
  ASSERT(nest != nullptr);
  return nest;
}

void NetlinkRequest::end_nest(nlattr* nest) {
  mnl_attr_nest_end(message_, nest);
}

NetlinkAttributes::NetlinkAttributes(const nlmsghdr& message, std::size_t header_bytes,
                                     std::uint16_t type_max)
    : by_type_(type_max + std::size_t{1}) {
  mnl_attr_parse(&message, static_cast<unsigned>(header_bytes), &NetlinkAttributes::collect, this);
}

NetlinkAttributes::NetlinkAttributes(const nlattr& nest, std::uint16_t type_max)
    : by_type_(type_max + std::size_t{1}) {
  mnl_attr_parse_nested(&nest, &NetlinkAttributes::collect, this);
}

int NetlinkAttributes::collect(const nlattr* attribute, void* self) {
  auto& by_type = static_cast<NetlinkAttributes*>(self)->by_type_;
  const std::uint16_t type = mnl_attr_get_type(attribute);
  if (type < by_type.size()) {
    by_type[type] = attribute;
  }
  return MNL_CB_OK;
}

const nlattr* NetlinkAttributes::find(std::uint16_t type) const {
  return type < by_type_.size() ? by_type_[type] : nullptr;
}

std::uint32_t NetlinkAttributes::u32(std::uint16_t type, std::uint32_t otherwise) const {
  const nlattr* const found = find(type);
  return found != nullptr && mnl_attr_validate(found, MNL_TYPE_U32) == 0 ? mnl_attr_get_u32(found)
                                                                         : otherwise;
}

std::uint8_t NetlinkAttributes::u8(std::uint16_t type, std::uint8_t otherwise) const {
  const nlattr* const found = find(type);
  return found != nullptr && mnl_attr_validate(found, MNL_TYPE_U8) == 0 ? mnl_attr_get_u8(found)
                                                                        : otherwise;
}

std::string NetlinkAttributes::string(std::uint16_t type) const {
  const nlattr* const found = find(type);
  return found != nullptr && mnl_attr_validate(found, MNL_TYPE_NUL_STRING) == 0
             ? mnl_attr_get_str(found)
             : std::string{};
}

bool NetlinkAttributes::bytes(std::uint16_t type, std::span<std::uint8_t> out) const {
  const nlattr* const found = find(type);
  if (found == nullptr || mnl_attr_get_payload_len(found) != out.size()) {
    return false;
  }
  std::memcpy(out.data(), mnl_attr_get_payload(found), out.size());
  return true;
}

// What has been learnt from the messages of one answer.
struct NetlinkSocket::Answer {
  const Visitor& visit;
  std::uint32_t sequence = 0;
  int error_number = 0;
  std::string kernel_text;

  static int on_message(const nlmsghdr* message, void* self) {
    const auto& answer = *static_cast<Answer*>(self);
    if (answer.visit) {
      answer.visit(*message);
    }
    return MNL_CB_OK;
  }

  // NLMSG_ERROR: also the acknowledgement, with error 0. Attributes follow the error header and the
  // request, which the kernel repeats unless NLM_F_CAPPED (struct nlmsgerr in linux/netlink.h).
  static int on_error(const nlmsghdr* message, void* self) {
    auto& answer = *static_cast<Answer*>(self);
    if (mnl_nlmsg_get_payload_len(message) < sizeof(nlmsgerr)) {
      answer.error_number = EBADMSG;
      return MNL_CB_STOP;
    }
    const auto& error = *static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(message));
    answer.error_number = -error.error;
    const bool capped = (message->nlmsg_flags & NLM_F_CAPPED) != 0;
    const std::size_t repeated = capped ? 0 : error.msg.nlmsg_len - sizeof(nlmsghdr);
    answer.read_text(*message, sizeof(nlmsgerr) + repeated);
    return MNL_CB_STOP;
  }

  // NLMSG_DONE: the end of a dump, with the dump's own error code.
  static int on_done(const nlmsghdr* message, void* self) {
    auto& answer = *static_cast<Answer*>(self);
    if (mnl_nlmsg_get_payload_len(message) >= sizeof(int)) {
      answer.error_number = -*static_cast<const int*>(mnl_nlmsg_get_payload(message));
      answer.read_text(*message, sizeof(int));
    }
    return MNL_CB_STOP;
  }

  void read_text(const nlmsghdr& message, std::size_t offset) {
    if ((message.nlmsg_flags & NLM_F_ACK_TLVS) != 0 &&
        offset <= mnl_nlmsg_get_payload_len(&message)) {
      kernel_text = NetlinkAttributes{message, offset, NLMSGERR_ATTR_MSG}.string(NLMSGERR_ATTR_MSG);
    }
  }
};

NetlinkSocket::NetlinkSocket(Handle handle) : handle_{std::move(handle)}, buffer_(kReceiveBytes) {}

Result<NetlinkSocket::Handle> NetlinkSocket::connect() {
  const std::string subject = "talk to the kernel about interfaces (netlink)";
  Handle handle{mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)};
  if (handle == nullptr) {
    return Error{"socket(AF_NETLINK)", errno, subject, "",
                 "allow AF_NETLINK sockets (systemd: RestrictAddressFamilies=)"};
  }
  if (mnl_socket_bind(handle.get(), 0, MNL_SOCKET_AUTOPID) < 0) {
    return Error{"bind(AF_NETLINK)", errno, subject, "", ""};
  }
  int on = 1;
  // Both are refinements (Linux 4.12 and 4.20): without them messages are poorer and dumps longer.
  mnl_socket_setsockopt(handle.get(), NETLINK_EXT_ACK, &on, sizeof(on));
  mnl_socket_setsockopt(handle.get(), NETLINK_GET_STRICT_CHK, &on, sizeof(on));
  return handle;
}

Result<NetlinkSocket> NetlinkSocket::open() {
  auto handle = connect();
  if (!handle) {
    return std::move(handle.error());
  }
  return NetlinkSocket{std::move(handle).value()};
}

// Returns 0 at the end of the answer, or the errno of a broken conversation.
int NetlinkSocket::receive(Answer& answer) {
  std::array<mnl_cb_t, NLMSG_MIN_TYPE> control{};
  control[NLMSG_ERROR] = &Answer::on_error;
  control[NLMSG_DONE] = &Answer::on_done;
  while (true) {
    const ssize_t length = mnl_socket_recvfrom(handle_.get(), buffer_.data(), buffer_.size());
    if (length < 0 && errno == EINTR) {
      continue;
    }
    if (length < 0) {
      return errno;
    }
    const int more = mnl_cb_run2(buffer_.data(), static_cast<std::size_t>(length), answer.sequence,
                                 mnl_socket_get_portid(handle_.get()), &Answer::on_message, &answer,
                                 control.data(), static_cast<unsigned>(control.size()));
    if (more < 0) {
      return errno;
    }
    if (more == MNL_CB_STOP) {
      return 0;
    }
  }
}

Result<void> NetlinkSocket::transact(NetlinkRequest& request, const std::string& subject,
                                     const Visitor& visit) {
  const bool dump = (request.message().nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
  if (!dump) {
    request.message().nlmsg_flags |= NLM_F_ACK;
  }
  // A dump that was interrupted is thrown away as a whole: what it showed may be half of two
  // states.
  std::vector<std::vector<std::uint8_t>> messages;
  const Visitor keep = [&messages](const nlmsghdr& message) {
    const auto* const bytes = static_cast<const std::uint8_t*>(static_cast<const void*>(&message));
    messages.emplace_back(bytes, bytes + message.nlmsg_len);
  };
  for (int attempt = 1;; ++attempt) {
    messages.clear();
    request.message().nlmsg_seq = ++sequence_;
    Answer answer{keep, sequence_, 0, {}};
    if (mnl_socket_sendto(handle_.get(), &request.message(), request.message().nlmsg_len) < 0) {
      return Error{request.name(), errno, subject, "", ""};
    }
    const int broken = receive(answer);
    if (broken != 0) {
      // The rest of the answer may still be on its way: talk on through a new socket.
      auto fresh = connect();
      if (!fresh) {
        return std::move(fresh.error());
      }
      handle_ = std::move(fresh).value();
      if (broken == EINTR && dump && attempt < kDumpAttemptsMax) {
        continue;
      }
      return Error{request.name(), broken, subject, "", ""};
    }
    if (answer.error_number != 0) {
      return Error{request.name(), answer.error_number, subject,
                   answer.kernel_text.empty() ? "" : "the kernel says: " + answer.kernel_text, ""};
    }
    break;
  }
  for (const auto& message : messages) {
    if (visit) {
      visit(*static_cast<const nlmsghdr*>(static_cast<const void*>(message.data())));
    }
  }
  return {};
}

}  // namespace ringway::router
