// Why a packet ended here. Every dropped packet is counted under exactly one of these reasons.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "netio/packet/counters.h"

namespace ringway::netio {

// A reason is a diagnosis. The order is that of the packet's way; kDropTexts in drop.cc names each.
enum class Drop : std::uint8_t {
  // Reading and parsing.
  truncated,            // shorter than its own headers say, or than the buffer could hold
  not_ip,               // first nibble neither 4 nor 6
  bad_header_length,    // IHL or a length field that cannot be
  bad_header_checksum,  // IPv4 header checksum
  // Finding the tunnel of an outer packet.
  no_tunnel,         // nobody configured this local, remote, protocol and key
  outer_fragment,    // a piece of an outer packet that nobody has put together
  unknown_protocol,  // GRE protocol type, or IP protocol, that this tunnel does not carry
  // Taking off the outer header.
  bad_gre_version,          // version field not 0
  bad_gre_flags,            // routing, strict source route or recursion bits (RFC 2784 section 2.3)
  bad_gre_checksum,         // the GRE checksum does not verify
  missing_gre_checksum,     // icsum is set and the packet carries none
  unexpected_gre_checksum,  // strict_csum is set, icsum is not, and the packet carries one
  missing_sequence,         // iseq is set and the packet carries none
  old_sequence,             // iseq is set and the number is not newer than the last
  ecn_violation,            // outer CE on an inner Not-ECT packet (RFC 6040 section 4.2)
  bad_inner_header,         // what the tunnel carried is no whole, valid IP packet
  martian_source,           // inner source that no host may use (RFC 4213 section 3.6)
  loop,  // inner packet addressed to the encapsulator itself (RFC 2784 section 3.1)
  // Routing.
  ttl_exceeded,  // TTL or hop limit used up in forwarding
  // Putting on the outer header.
  wrong_family,  // IPv6 into ipip, IPv4 into sit
  too_big,       // larger than an IP packet, or than the way out, may be
  // Leaving.
  queue_full,          // the kernel's queue had no room (EAGAIN, ENOBUFS)
  remote_unreachable,  // the host has no route to the remote (ENETUNREACH, EHOSTUNREACH)
  refused,             // a firewall or security module said no (EPERM, EACCES)
  interface_down,      // the interface is down or gone (EIO, ENETDOWN, EBADFD)
  write_failed,        // any other error of a write or send
  shutdown,            // in flight when the daemon stopped
};

inline constexpr std::size_t kDropCount = static_cast<std::size_t>(Drop::shutdown) + 1;

// The name used in `ringway show drops` and in JSON: "bad_gre_checksum".
[[nodiscard]] std::string_view name(Drop reason) noexcept;
// One sentence for a user: what it means, and where to look.
[[nodiscard]] std::string_view explanation(Drop reason) noexcept;
// The reason for a failed write, send or sendmsg. `error_number` is a positive errno.
[[nodiscard]] Drop drop_for_errno(int error_number) noexcept;

// Drops by reason. One writer, any number of readers.
class DropCounters {
 public:
  void count(Drop reason) noexcept { counters_[static_cast<std::size_t>(reason)].add(1); }
  [[nodiscard]] std::uint64_t value(Drop reason) const noexcept {
    return counters_[static_cast<std::size_t>(reason)].value();
  }
  [[nodiscard]] std::uint64_t total() const noexcept;

 private:
  std::array<Counter, kDropCount> counters_{};
};

}  // namespace ringway::netio
