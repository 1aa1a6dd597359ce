// Packets that the host merged before we saw them.
#pragma once

#include <cstdint>

#include "netio/packet/packet.h"

namespace ringway::router {

// The host's GRO merges trains of tunnelled TCP segments, tunnel module or not, and a raw socket
// then hands over one datagram of up to 64 KB whose inner TCP checksum holds the pseudo-header sum
// only (Linux net/ipv4/af_inet.c inet_gro_complete, gre_offload.c, sit in ip6_offload.c). Such a
// packet is correct as a super-packet: this marks it as one (partial checksum, GSO kind and size),
// so that the TUN takes it whole. The size of the segments is not told; it is taken to be what
// `mtu`, the overlay's, allows, as it is for any bulk transfer.
//
// Anything else is left as it is: packets that fit the MTU, other protocols, fragments, and large
// packets with a finished checksum (reassembled ones). Precondition: parse_ip() accepted it.
void recognise_merged(netio::Packet& packet, std::uint32_t mtu) noexcept;

}  // namespace ringway::router
