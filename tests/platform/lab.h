// The laboratory of the platform tests: a network namespace, an engine with its pools, and the
// plain sockets that the kernel's side of a test needs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "netio/base/clock.h"
#include "netio/base/fd.h"
#include "netio/packet/buffer_pool.h"
#include "netio/port.h"
#include "netio/reactor.h"
#include "netio/wire/protocols.h"
#include "tests/support/builder.h"

namespace ringway::test {

// An engine, or what an older kernel would get of it. Every test of a port runs on each.
struct EngineRow {
  std::string name;
  // How its ports receive, the best first: an old kernel allows only the later ones.
  std::vector<std::string> tun_receive_by;
  std::vector<std::string> raw_receive_by;
  std::function<Result<std::unique_ptr<netio::Reactor>>()> open;
};
[[nodiscard]] const std::vector<EngineRow>& engines();

// A fresh network namespace with only `lo`, up, and without IPv6 chatter. The calling thread is in
// it as long as the object lives. Interfaces of the test end with it.
class Namespace {
 public:
  Namespace();
  ~Namespace();
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;

 private:
  Fd before_;
};

// False, with the reason printed, where this machine cannot run the platform tests: no right to
// make a network namespace, or no /dev/net/tun.
[[nodiscard]] bool can_run();

// Whether the running kernel is of this version or later.
[[nodiscard]] bool linux_is_at_least(int major, int minor);

// Changes to an interface of the namespace the thread is in. They must succeed.
void set_address(const std::string& interface, const char* address, const char* netmask);
void set_mtu(const std::string& interface, int mtu);
void set_queue_length(const std::string& interface, int packets);
void set_up(const std::string& interface, bool up);
void delete_interface(const std::string& interface);
[[nodiscard]] bool exists(const std::string& interface);

// A descriptor of /dev/net/tun bound to `name` by other hands than ours. `flags` as for TUNSETIFF.
[[nodiscard]] Fd foreign_tun(const std::string& name, int flags, bool persistent);

// A datagram socket on `address`:`port` with room for thousands of packets; never blocks.
[[nodiscard]] Fd udp_socket(const char* address, std::uint16_t port);
// A raw socket of a protocol, IP header by the kernel; never blocks.
[[nodiscard]] Fd raw_socket(int protocol);
// Sends `bytes` to `address`:`port`. It must succeed.
void send_to(const Fd& socket, const char* address, std::uint16_t port, const PacketBytes& bytes);
// Datagrams that lie in the socket.
[[nodiscard]] std::vector<PacketBytes> read_all(const Fd& socket);

// A payload that names its place in a sequence: `bytes` long, at least 4.
[[nodiscard]] PacketBytes numbered(std::uint32_t number, std::size_t bytes);
// A list of one packet. (std::vector{packet} would be a copy of its bytes.)
[[nodiscard]] inline std::vector<PacketBytes> one(const PacketBytes& bytes) {
  return std::vector<PacketBytes>(1, bytes);
}

// A reactor and its pools, and the turns of a shard in small.
class Rig {
 public:
  explicit Rig(const EngineRow& engine, std::uint32_t slots = 256);
  // Everything must have come home.
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  // A TUN of this name, up, with 10.9.0.1/24 and a queue that no test overruns.
  netio::Port& tun(const std::string& name, std::uint32_t mtu = 1500);
  netio::Port& raw(wire::IpProtocol protocol);

  // Waits and receives until `count` packets have come from the port, or nothing for two seconds.
  std::vector<PacketBytes> collect(netio::Port& port, std::size_t count);
  // Sends all, in batches, and waits once.
  void send(netio::Port& port, const std::vector<PacketBytes>& packets);
  // Waits without sleeping, so that what is queued has gone to the kernel and come back.
  void settle();
  void close() { reactor_.reset(); }

  [[nodiscard]] netio::Reactor& reactor() { return *reactor_; }
  [[nodiscard]] netio::BufferPool& small() { return *small_; }
  [[nodiscard]] netio::BufferPool& large() { return *large_; }

 private:
  [[nodiscard]] netio::Pools pools() { return {.small = small_.get(), .large = large_.get()}; }

  std::unique_ptr<netio::BufferPool> small_;
  std::unique_ptr<netio::BufferPool> large_;
  std::unique_ptr<netio::Reactor> reactor_;
  std::uint16_t next_id_ = 0;
};

// The text of the error, if there is one. (doctest may evaluate messages of tests that passed.)
template <class T>
[[nodiscard]] std::string error_text(const Result<T>& result) {
  return result.ok() ? "" : result.error().text();
}

// Runs `body` in a child process and returns what it returned; the child's rights and namespaces
// are its own.
[[nodiscard]] std::string in_child(const std::function<std::string()>& body);

// Calls of operator new by this program so far.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace ringway::test
