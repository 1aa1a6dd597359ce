// What each reason for a drop is called, what it tells a user, and which errno means which.
#include "netio/packet/drop.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "netio/base/assert.h"

namespace ringway::netio {

namespace {

struct DropText {
  Drop reason;
  std::string_view name;
  std::string_view explanation;
};

// In the order of the enum; the static_assert below holds it to that.
constexpr std::array<DropText, kDropCount> kDropTexts{{
    {Drop::truncated, "truncated",
     "The packet is shorter than its own headers say; look at MTUs and captures on the way here."},
    {Drop::not_ip, "not_ip", "The first four bits name neither IPv4 nor IPv6."},
    {Drop::bad_header_length, "bad_header_length",
     "A header length field is impossible; the sender is broken or the packet was damaged."},
    {Drop::bad_header_checksum, "bad_header_checksum",
     "The IPv4 header checksum does not verify; the packet was damaged on its way."},
    {Drop::no_tunnel, "no_tunnel",
     "No tunnel is configured for this local and remote address, protocol and key; compare both "
     "ends."},
    {Drop::outer_fragment, "outer_fragment",
     "A piece of a fragmented outer packet that could not be put together; lower the tunnel's "
     "MTU."},
    {Drop::unknown_protocol, "unknown_protocol",
     "The tunnel does not carry this GRE protocol type or IP protocol."},
    {Drop::bad_gre_version, "bad_gre_version",
     "The GRE version is not 0; the peer may speak PPTP, which is not supported."},
    {Drop::bad_gre_flags, "bad_gre_flags",
     "The GRE header asks for source routing or recursion control, which RFC 2784 dropped."},
    {Drop::bad_gre_checksum, "bad_gre_checksum",
     "The GRE checksum does not verify; the packet was damaged on its way."},
    {Drop::missing_gre_checksum, "missing_gre_checksum",
     "icsum is set and the packet carries no GRE checksum; set ocsum at the peer."},
    {Drop::unexpected_gre_checksum, "unexpected_gre_checksum",
     "The packet carries a GRE checksum and strict_csum refuses it without icsum; set icsum here."},
    {Drop::missing_sequence, "missing_sequence",
     "iseq is set and the packet carries no sequence number; set oseq at the peer."},
    {Drop::old_sequence, "old_sequence",
     "The sequence number is not newer than the last; packets were reordered, repeated or the peer "
     "restarted."},
    {Drop::ecn_violation, "ecn_violation",
     "The outer header says Congestion Experienced and the inner packet does not speak ECN "
     "(RFC 6040)."},
    {Drop::bad_inner_header, "bad_inner_header",
     "What the tunnel carried is not a whole, valid IP packet."},
    {Drop::martian_source, "martian_source",
     "The inner source address is one that no host may use."},
    {Drop::loop, "loop", "The inner packet is addressed to the tunnel's own endpoint."},
    {Drop::ttl_exceeded, "ttl_exceeded",
     "The TTL or hop limit was used up; look for a routing loop."},
    {Drop::wrong_family, "wrong_family",
     "The tunnel does not carry this address family: ipip carries IPv4, sit carries IPv6."},
    {Drop::too_big, "too_big",
     "The packet is larger than the way out allows; lower the MTU of the tunnel."},
    {Drop::queue_full, "queue_full",
     "The kernel's queue had no room; the way out is slower than what comes in."},
    {Drop::remote_unreachable, "remote_unreachable",
     "The host has no route to the remote; look at `ip route get REMOTE`."},
    {Drop::refused, "refused",
     "A firewall rule or security module of this host forbade the packet to leave."},
    {Drop::interface_down, "interface_down",
     "The interface is down or gone; look at `ip link show`."},
    {Drop::write_failed, "write_failed", "The kernel refused the packet for another reason."},
    {Drop::shutdown, "shutdown", "The packet was in flight when the daemon stopped."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kDropTexts.size(); ++i) {
    if (static_cast<std::size_t>(kDropTexts[i].reason) != i || kDropTexts[i].name.empty()) {
      return false;
    }
  }
  return true;
}
static_assert(in_order(), "kDropTexts has every reason once, in the order of the enum");

const DropText& text_of(Drop reason) noexcept {
  const auto index = static_cast<std::size_t>(reason);
  ASSERT(index < kDropTexts.size());
  return kDropTexts[index];
}

}  // namespace

std::string_view name(Drop reason) noexcept {
  return text_of(reason).name;
}

std::string_view explanation(Drop reason) noexcept {
  return text_of(reason).explanation;
}

Drop drop_for_errno(int error_number) noexcept {
  switch (error_number) {
    case EAGAIN:   // the socket's send buffer
    case ENOBUFS:  // the qdisc or the device
    case ENOMEM:
      return Drop::queue_full;
    case EMSGSIZE:  // net/ipv4/raw.c raw_send_hdrinc: larger than the device's MTU
      return Drop::too_big;
    case ENETUNREACH:    // no route
    case EHOSTUNREACH:   // a route of type unreachable, or no neighbour
    case EADDRNOTAVAIL:  // the route needs a source address that the host does not have
      return Drop::remote_unreachable;
    case EPERM:   // netfilter OUTPUT
    case EACCES:  // a route of type prohibit, a broadcast address
      return Drop::refused;
    case EIO:  // drivers/net/tun.c tun_get_user: the interface is not up
    case ENETDOWN:
    case EBADFD:  // drivers/net/tun.c: the interface was deleted under the descriptor
    case ENODEV:
    case ENXIO:
      return Drop::interface_down;
    case ECANCELED:
      return Drop::shutdown;
    default:
      return Drop::write_failed;
  }
}

std::uint64_t DropCounters::total() const noexcept {
  std::uint64_t sum = 0;
  for (const Counter& counter : counters_) {
    sum += counter.value();
  }
  return sum;
}

}  // namespace ringway::netio
