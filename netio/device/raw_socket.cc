// Opens a raw socket and its sink, and says what is missing where that fails.
#include "netio/device/raw_socket.h"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "netio/wire/header.h"
#include "netio/wire/ipv4.h"

namespace ringway::netio {

namespace {

// The kernel charges 2 to 4 KB for a received 1500-byte packet and doubles the figure given here:
// room for about 5,000 of them, a twentieth of a second at 1 Gbit/s.
constexpr int kReceiveBufferBytes = 8 * 1024 * 1024;
// A batch of super-packets, and what a busy device has not yet sent.
constexpr int kSendBufferBytes = 4 * 1024 * 1024;

std::string name_of(wire::IpProtocol protocol) {
  switch (protocol) {
    case wire::IpProtocol::gre:
      return "raw:gre";
    case wire::IpProtocol::ipip:
      return "raw:ipip";
    case wire::IpProtocol::ipv6:
      return "raw:sit";
    default:
      return "raw:" + std::to_string(static_cast<int>(protocol));
  }
}

Error error_of(std::string operation, int number, const std::string& name) {
  Error error{.operation = std::move(operation),
              .number = number,
              .subject = "open the IPv4 socket " + name,
              .why = {},
              .fix = {}};
  if (error.is_permission()) {
    error.why = "raw sockets need CAP_NET_RAW, which this process lacks";
    error.fix =
        "run as root, or as a service with AmbientCapabilities=CAP_NET_RAW, or in a user "
        "namespace of your own: unshare -Urn";
  } else if (number == EAFNOSUPPORT || number == EPROTONOSUPPORT) {
    error.why = "this kernel, or the service's RestrictAddressFamilies=, has no IPv4 raw sockets";
    error.fix = "allow AF_INET to the service";
  }
  return error;
}

// The size wanted if we may have it, else as much of it as an ordinary user gets.
void set_buffer(int fd, int force_option, int option, int bytes) noexcept {
  if (::setsockopt(fd, SOL_SOCKET, force_option, &bytes, sizeof bytes) != 0) {
    (void)::setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof bytes);  // capped at rmem_max
  }
}

Fd open_raw(wire::IpProtocol protocol) noexcept {
  return Fd{::socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, static_cast<int>(protocol))};
}

// A socket that matches every datagram of the protocol and keeps none.
Result<Fd> open_sink(wire::IpProtocol protocol, const std::string& name) {
  Fd sink = open_raw(protocol);
  if (!sink.valid()) {
    return error_of("socket(SOCK_RAW)", errno, name);
  }
  sock_filter drop_all{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
  const sock_fprog program{.len = 1, .filter = &drop_all};
  if (::setsockopt(sink.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    return error_of("SO_ATTACH_FILTER", errno, name);
  }
  // What came before the filter would fill the buffer for ever.
  std::uint8_t byte = 0;
  while (::recv(sink.get(), &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0) {
  }
  return sink;
}

}  // namespace

Result<RawSocket> RawSocket::open(wire::IpProtocol protocol) {
  std::string name = name_of(protocol);
  // The sink first: from here on somebody always takes the protocol.
  Result<Fd> sink = open_sink(protocol, name);
  if (!sink) {
    return sink.error();
  }
  Fd fd = open_raw(protocol);
  if (!fd.valid()) {
    return error_of("socket(SOCK_RAW)", errno, name);
  }
  set_buffer(fd.get(), SO_RCVBUFFORCE, SO_RCVBUF, kReceiveBufferBytes);
  set_buffer(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF, kSendBufferBytes);
  const int on = 1;
  if (::setsockopt(fd.get(), IPPROTO_IP, IP_HDRINCL, &on, sizeof on) != 0) {
    return error_of("IP_HDRINCL", errno, name);
  }
  // The DF bit is the one in our header. DONT leaves the kernel what remains: a packet above the
  // learnt path MTU is fragmented if DF is clear and refused with EMSGSIZE if it is set
  // (net/ipv4/ip_output.c ip_fragment); above the device's MTU it is always refused (raw.c).
  const int discover = IP_PMTUDISC_DONT;
  if (::setsockopt(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) != 0) {
    return error_of("IP_MTU_DISCOVER", errno, name);
  }
  return RawSocket{protocol, std::move(name), std::move(fd), std::move(sink).value()};
}

sockaddr_in destination_of(const Packet& packet) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (const auto* header = wire::header_at<wire::Ipv4Header>(packet.bytes())) {
    address.sin_addr = std::bit_cast<in_addr>(header->destination);
  }
  return address;
}

}  // namespace ringway::netio
