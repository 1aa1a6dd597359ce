// relay: the plainest GRE endpoint there is, for relay_compare.py to measure Ringway against. One
// blocking read and one blocking write for each packet, one thread for each direction, no options.
//
//   relay INTERFACE LOCAL REMOTE
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

constexpr std::size_t kPacketBytesMax = 65'536;
constexpr std::size_t kGreBytes = 4;
constexpr int kBufferBytes = 8 << 20;  // as ringwayd asks for: the queues shall be alike
constexpr std::array<std::uint8_t, kGreBytes> kGreIpv4 = {0x00, 0x00, 0x08, 0x00};

[[noreturn]] void give_up(const char* operation) {
  std::perror(operation);
  std::_Exit(EXIT_FAILURE);
}

int open_tun(std::string_view name) {
  const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  ifreq request{};
  std::copy_n(name.begin(), std::min(name.size(), sizeof request.ifr_name - 1), request.ifr_name);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0) {
    give_up("/dev/net/tun");
  }
  return fd;
}

sockaddr_in address_of(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, text, &address.sin_addr) != 1) {
    give_up(text);
  }
  return address;
}

int open_gre(const char* local, const char* remote) {
  const int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_GRE);
  const sockaddr_in here = address_of(local);
  const sockaddr_in there = address_of(remote);
  // The sockets API takes every address as a sockaddr.
  const auto generic = [](const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);  // NOLINT(*-reinterpret-cast)
  };
  if (fd < 0 || bind(fd, generic(here), sizeof here) != 0 ||
      connect(fd, generic(there), sizeof there) != 0) {
    give_up("raw socket");
  }
  for (const int option : {SO_RCVBUFFORCE, SO_SNDBUFFORCE}) {
    // Without the right to do so the default has to do.
    static_cast<void>(setsockopt(fd, SOL_SOCKET, option, &kBufferBytes, sizeof kBufferBytes));
  }
  return fd;
}

// Behind a GRE header that is written once, each packet is read into its place.
void encapsulate(int tun, int gre) {
  static std::array<std::uint8_t, kPacketBytesMax> buffer;
  std::copy(kGreIpv4.begin(), kGreIpv4.end(), buffer.begin());
  for (;;) {
    const ssize_t count = read(tun, buffer.data() + kGreBytes, buffer.size() - kGreBytes);
    if (count < 0) {
      give_up("read from the TUN");
    }
    // A full queue drops the packet, as any endpoint would.
    static_cast<void>(send(gre, buffer.data(), kGreBytes + static_cast<std::size_t>(count), 0));
  }
}

void decapsulate(int gre, int tun) {
  static std::array<std::uint8_t, kPacketBytesMax> buffer;
  for (;;) {
    const ssize_t count = recv(gre, buffer.data(), buffer.size(), 0);
    if (count < 0) {
      continue;  // an ICMP error about what we sent: the other end's buffer was full
    }
    const std::size_t outer_bytes = std::size_t{4} * (buffer[0] & 0x0f) + kGreBytes;
    if (static_cast<std::size_t>(count) > outer_bytes) {
      static_cast<void>(
          write(tun, buffer.data() + outer_bytes, static_cast<std::size_t>(count) - outer_bytes));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments{argv, static_cast<std::size_t>(argc)};
  if (arguments.size() != 4) {
    std::fputs("usage: relay INTERFACE LOCAL REMOTE\n", stderr);
    return 2;
  }
  const int tun = open_tun(arguments[1]);
  const int gre = open_gre(arguments[2], arguments[3]);
  std::fputs("relay: ready\n", stderr);
  std::thread{encapsulate, tun, gre}.detach();
  decapsulate(gre, tun);
}
