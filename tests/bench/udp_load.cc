// udp_load: sends UDP datagrams as fast as asked and counts what arrives, for relay_compare.py.
//
//   udp_load send ADDRESS PORT BYTES SECONDS RATE   RATE in datagrams a second, 0: flat out
//   udp_load sink PORT SECONDS                      counts until SECONDS after the first datagram
//
// Each prints one line of JSON.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "netio/wire/endian.h"

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using std::chrono_literals::operator""us;

constexpr std::size_t kBatch = 64;
constexpr std::size_t kDatagramBytesMax = 2048;
constexpr int kBufferBytes = 4 << 20;
// The sink looks at its socket by the clock instead of sleeping on it, so that a sender is not
// charged with waking somebody for each datagram.
constexpr auto kLookEvery = 200us;
constexpr auto kSendEvery = 100us;  // a paced sender wakes about this often

[[noreturn]] void give_up(const char* operation) {
  std::perror(operation);
  std::_Exit(EXIT_FAILURE);
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    std::fprintf(stderr, "udp_load: '%.*s' is no number\n", static_cast<int>(text.size()),
                 text.data());
    std::_Exit(2);
  }
  return value;
}

int open_socket(const char* address, std::uint16_t port, bool connected) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = std::bit_cast<in_port_t>(ringway::wire::Be16{port});
  if (fd < 0 || inet_pton(AF_INET, address, &name.sin_addr) != 1) {
    give_up(address);
  }
  for (const int option : {SO_RCVBUFFORCE, SO_SNDBUFFORCE}) {
    // Without the right to do so the default has to do.
    static_cast<void>(setsockopt(fd, SOL_SOCKET, option, &kBufferBytes, sizeof kBufferBytes));
  }
  // The sockets API takes every address as a sockaddr.
  const auto* generic = reinterpret_cast<const sockaddr*>(&name);  // NOLINT(*-reinterpret-cast)
  if ((connected ? connect(fd, generic, sizeof name) : bind(fd, generic, sizeof name)) != 0) {
    give_up(connected ? "connect" : "bind");
  }
  return fd;
}

// Buffers and message headers for one batch.
class Messages {
 public:
  explicit Messages(std::size_t bytes) : storage_(kBatch * bytes) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      parts_[i] = {.iov_base = storage_.data() + i * bytes, .iov_len = bytes};
      headers_[i].msg_hdr.msg_iov = &parts_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  [[nodiscard]] mmsghdr* data() noexcept { return headers_.data(); }

 private:
  std::vector<std::uint8_t> storage_;
  std::array<iovec, kBatch> parts_{};
  std::array<mmsghdr, kBatch> headers_{};
};

// How many datagrams are due now: a whole batch when flat out.
std::size_t due(Seconds since_start, double rate, std::uint64_t sent) {
  if (rate <= 0) {
    return kBatch;
  }
  const double behind = since_start.count() * rate - static_cast<double>(sent);
  return static_cast<std::size_t>(std::clamp(behind, 0.0, double{kBatch}));
}

int send_load(const char* address, std::uint16_t port, std::size_t bytes, Seconds length,
              double rate) {
  const int fd = open_socket(address, port, true);
  Messages messages{bytes};
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;
  const auto start = Clock::now();
  for (auto now = start; now - start < length; now = Clock::now()) {
    const std::size_t count = due(now - start, rate, sent);
    if (count == 0) {
      std::this_thread::sleep_for(kSendEvery);
      continue;
    }
    const int done = sendmmsg(fd, messages.data(), static_cast<unsigned>(count), 0);
    if (done > 0) {
      sent += static_cast<std::uint64_t>(done);
    } else {
      ++refused;
    }
  }
  std::printf("{\"sent\": %llu, \"refused\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(refused),
              Seconds{Clock::now() - start}.count());
  return EXIT_SUCCESS;
}

int sink(std::uint16_t port, Seconds length) {
  const int fd = open_socket("0.0.0.0", port, false);
  Messages messages{kDatagramBytesMax};
  std::uint64_t received = 0;
  std::optional<Clock::time_point> first;
  Clock::time_point last;
  std::puts("{\"ready\": true}");
  std::fflush(stdout);
  for (auto now = Clock::now(); !first || now - *first < length; now = Clock::now()) {
    const int count = recvmmsg(fd, messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (count <= 0) {
      std::this_thread::sleep_for(kLookEvery);
      continue;
    }
    received += static_cast<std::uint64_t>(count);
    last = now;
    if (!first) {
      first = now;
    }
  }
  std::printf("{\"received\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(received), Seconds{last - *first}.count());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments{argv, static_cast<std::size_t>(argc)};
  const std::string_view verb = argc > 1 ? arguments[1] : "";
  prctl(PR_SET_TIMERSLACK, 1000UL);
  if (verb == "send" && arguments.size() == 7) {
    return send_load(arguments[2], number<std::uint16_t>(arguments[3]),
                     number<std::size_t>(arguments[4]), Seconds{number<double>(arguments[5])},
                     number<double>(arguments[6]));
  }
  if (verb == "sink" && arguments.size() == 4) {
    return sink(number<std::uint16_t>(arguments[2]), Seconds{number<double>(arguments[3])});
  }
  std::fputs("usage: see the top of udp_load.cc\n", stderr);
  return 2;
}
