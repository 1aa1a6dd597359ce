// Namespaces, interfaces and sockets by the plainest means: ioctl, one netlink message, fork.
#include "tests/platform/lab.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "netio/device/raw_socket.h"
#include "netio/device/tun_device.h"
#include "netio/epoll/reactor.h"
#include "netio/packet/batch.h"
#include "netio/uring/reactor.h"
#include "netio/wire/endian.h"
#include "tests/support/pool.h"

namespace ringway::test {

namespace {

template <class T>
Result<std::unique_ptr<netio::Reactor>> as_reactor(Result<std::unique_ptr<T>> made) {
  if (!made) {
    return made.error();
  }
  return std::unique_ptr<netio::Reactor>{std::move(made).value()};
}

Result<std::unique_ptr<netio::Reactor>> uring(netio::UringOptions options) {
  return as_reactor(netio::UringReactor::open(options));
}

void write_file(const char* path, const char* text) {
  const Fd file{::open(path, O_WRONLY | O_CLOEXEC)};
  (void)!::write(file.get(), text, std::strlen(text));
}

ifreq request_for(const std::string& interface) {
  REQUIRE(interface.size() < IFNAMSIZ);
  ifreq request{};
  std::copy(interface.begin(), interface.end(), request.ifr_name);
  return request;
}

void control(unsigned long operation, ifreq& request) {
  const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const int result = ::ioctl(socket.get(), operation, &request);
  REQUIRE_MESSAGE(result == 0, request.ifr_name, ": ", std::generic_category().message(errno));
}

sockaddr_in address_of(const char* address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = std::bit_cast<in_port_t>(wire::Be16{port});
  REQUIRE(::inet_pton(AF_INET, address, &out.sin_addr) == 1);
  return out;
}

Fd socket_of(int type, int protocol) {
  Fd socket{::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol)};
  REQUIRE(socket.valid());
  const int bytes = 64 * 1024 * 1024;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0) {
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }
  return socket;
}

}  // namespace

const std::vector<EngineRow>& engines() {
  using netio::ReceiveMode;
  static const std::vector<EngineRow> rows{
      {"epoll", {"read"}, {"recvmmsg"}, [] { return as_reactor(netio::EpollReactor::open()); }},
      {"epoll of Linux 5.10: milliseconds",
       {"read"},
       {"recvmmsg"},
       [] { return as_reactor(netio::EpollReactor::open(false)); }},
      {"io_uring",
       {"read_multishot", "poll+read_batch", "poll+read"},
       {"recv_multishot", "poll+recv_batch"},
       [] { return uring({}); }},
      {"io_uring of Linux 6.4: batches of reads",
       {"poll+read_batch", "poll+read"},
       {"poll+recv_batch"},
       [] { return uring({.receive = ReceiveMode::batch}); }},
      {"io_uring of Linux 5.15: no flags, read()",
       {"poll+read"},
       {"poll+read"},
       [] { return uring({.setup_flags = 0, .receive = ReceiveMode::direct}); }},
  };
  return rows;
}

Namespace::Namespace() : before_{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)} {
  REQUIRE(before_.valid());
  REQUIRE(::unshare(CLONE_NEWNET) == 0);
  // Neighbour discovery would mix its packets with the test's.
  write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
  write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
  set_up("lo", true);
}

Namespace::~Namespace() {
  (void)::setns(before_.get(), CLONE_NEWNET);
}

bool can_run() {
  static const std::string obstacle = in_child([]() -> std::string {
    if (::unshare(CLONE_NEWNET) != 0) {
      return "no right to make a network namespace (try: unshare -Urn)";
    }
    const Fd node{::open("/dev/net/tun", O_RDWR | O_CLOEXEC)};
    return node.valid() ? "" : "/dev/net/tun cannot be opened";
  });
  if (!obstacle.empty()) {
    MESSAGE("skipped: ", obstacle);
  }
  return obstacle.empty();
}

bool linux_is_at_least(int major, int minor) {
  utsname system{};
  REQUIRE(::uname(&system) == 0);
  int have_major = 0;
  int have_minor = 0;
  REQUIRE(std::sscanf(system.release, "%d.%d", &have_major, &have_minor) == 2);
  return have_major > major || (have_major == major && have_minor >= minor);
}

void set_address(const std::string& interface, const char* address, const char* netmask) {
  ifreq request = request_for(interface);
  sockaddr_in value = address_of(address, 0);
  std::memcpy(&request.ifr_addr, &value, sizeof value);
  control(SIOCSIFADDR, request);
  value = address_of(netmask, 0);
  std::memcpy(&request.ifr_netmask, &value, sizeof value);
  control(SIOCSIFNETMASK, request);
}

void set_mtu(const std::string& interface, int mtu) {
  ifreq request = request_for(interface);
  request.ifr_mtu = mtu;
  control(SIOCSIFMTU, request);
}

void set_queue_length(const std::string& interface, int packets) {
  ifreq request = request_for(interface);
  request.ifr_qlen = packets;
  control(SIOCSIFTXQLEN, request);
}

void set_up(const std::string& interface, bool up) {
  ifreq request = request_for(interface);
  request.ifr_flags = static_cast<short>(up ? IFF_UP : 0);
  control(SIOCSIFFLAGS, request);
}

void delete_interface(const std::string& interface) {
  struct {
    nlmsghdr header{};
    ifinfomsg link{};
  } message;
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = RTM_DELLINK;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  message.link.ifi_index = static_cast<int>(::if_nametoindex(interface.c_str()));
  const Fd netlink{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  REQUIRE(::send(netlink.get(), &message, sizeof message, 0) == sizeof message);
  std::array<char, 1024> answer{};
  REQUIRE(::recv(netlink.get(), answer.data(), answer.size(), 0) > 0);
  REQUIRE_FALSE(exists(interface));
}

bool exists(const std::string& interface) {
  return ::if_nametoindex(interface.c_str()) != 0;
}

Fd foreign_tun(const std::string& name, int flags, bool persistent) {
  Fd fd{::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  REQUIRE(fd.valid());
  ifreq request = request_for(name);
  request.ifr_flags = static_cast<short>(flags);
  REQUIRE(::ioctl(fd.get(), TUNSETIFF, &request) == 0);
  REQUIRE(::ioctl(fd.get(), TUNSETPERSIST, persistent ? 1UL : 0UL) == 0);
  return fd;
}

Fd udp_socket(const char* address, std::uint16_t port) {
  Fd socket = socket_of(SOCK_DGRAM, 0);
  const sockaddr_in local = address_of(address, port);
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&local), sizeof local) == 0);
  return socket;
}

Fd raw_socket(int protocol) {
  return socket_of(SOCK_RAW, protocol);
}

void send_to(const Fd& socket, const char* address, std::uint16_t port, const PacketBytes& bytes) {
  const sockaddr_in remote = address_of(address, port);
  const ssize_t sent = ::sendto(socket.get(), bytes.data(), bytes.size(), 0,
                                reinterpret_cast<const sockaddr*>(&remote), sizeof remote);
  REQUIRE(sent == static_cast<ssize_t>(bytes.size()));
}

std::vector<PacketBytes> read_all(const Fd& socket) {
  std::vector<PacketBytes> out;
  PacketBytes buffer(70'000);
  for (;;) {
    const ssize_t length = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length < 0) {
      REQUIRE(errno == EAGAIN);
      return out;
    }
    out.emplace_back(buffer.begin(), buffer.begin() + length);
  }
}

PacketBytes numbered(std::uint32_t number, std::size_t bytes) {
  PacketBytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<std::uint8_t>(i * 7 + number);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return out;
}

Rig::Rig(const EngineRow& engine, std::uint32_t slots)
    : small_{make_pool(slots)}, large_{make_pool(slots, netio::kLargeSlotBytes)} {
  auto opened = engine.open();
  REQUIRE_MESSAGE(opened.ok(), error_text(opened));
  reactor_ = std::move(opened).value();
}

Rig::~Rig() {
  reactor_.reset();
  CHECK(small_->available() == small_->slots());
  CHECK(large_->available() == large_->slots());
}

netio::Port& Rig::tun(const std::string& name, std::uint32_t mtu) {
  auto device = netio::TunDevice::open({.name = name, .mtu = mtu});
  REQUIRE_MESSAGE(device.ok(), error_text(device));
  set_mtu(name, static_cast<int>(mtu));
  set_queue_length(name, 2000);
  set_address(name, "10.9.0.1", "255.255.255.0");
  set_up(name, true);
  auto port = reactor_->attach(std::move(device).value(), netio::PortId{next_id_++}, pools());
  REQUIRE(port.ok());
  return *port.value();
}

netio::Port& Rig::raw(wire::IpProtocol protocol) {
  auto socket = netio::RawSocket::open(protocol);
  REQUIRE_MESSAGE(socket.ok(), error_text(socket));
  auto port = reactor_->attach(std::move(socket).value(), netio::PortId{next_id_++}, pools());
  REQUIRE(port.ok());
  return *port.value();
}

std::vector<PacketBytes> Rig::collect(netio::Port& port, std::size_t count) {
  constexpr Duration kTurn = std::chrono::milliseconds{20};
  constexpr int kIdleTurnsMax = 100;
  std::vector<PacketBytes> out;
  for (int idle = 0; out.size() < count && idle < kIdleTurnsMax; ++idle) {
    reactor_->wait(kTurn);
    netio::Batch batch;
    if (port.receive(batch) > 0) {
      idle = 0;
    }
    for (const netio::Packet* packet : batch.packets()) {
      CHECK(packet->ingress == port.id());
      out.push_back(to_bytes(*packet));
    }
  }
  return out;
}

void Rig::send(netio::Port& port, const std::vector<PacketBytes>& packets) {
  for (std::size_t next = 0; next < packets.size();) {
    netio::Batch batch;
    while (next < packets.size() && !batch.full()) {
      netio::BufferPool& pool =
          packets[next].size() <= small_->packet_bytes_max() ? *small_ : *large_;
      // Those in flight may have to come home first.
      for (int turns = 0; pool.available() == 0 && turns < 10; ++turns) {
        port.transmit(batch, netio::More::no);
        settle();
      }
      batch.push(to_packet(pool, packets[next++]));
    }
    port.transmit(batch, netio::More::yes);
    CHECK(batch.empty());
  }
  port.flush();
  settle();
}

void Rig::settle() {
  reactor_->wait(Duration::zero());
}

std::string in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Fd reading{ends[0]};
  Fd writing{ends[1]};
  std::cout.flush();  // or the child might print it again
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string text = body();
    (void)!::write(writing.get(), text.data(), text.size());
    ::_exit(0);
  }
  writing.reset();
  std::string out;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t length = ::read(reading.get(), piece.data(), piece.size());
    if (length <= 0) {
      break;
    }
    out.append(piece.data(), static_cast<std::size_t>(length));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return out;
}

}  // namespace ringway::test
