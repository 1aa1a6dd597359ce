// The walk along IPv6's extension headers: bounded, and never past the end.
#include "netio/wire/ipv6.h"

#include <cstddef>
#include <cstdint>

#include "netio/wire/header.h"
#include "netio/wire/protocols.h"

namespace ringway::wire {

namespace {

// The length of the extension header `protocol` in bytes; 0 for what is an upper layer.
std::size_t extension_bytes(IpProtocol protocol, std::uint8_t length) noexcept {
  switch (protocol) {
    case IpProtocol::hop_by_hop:
    case IpProtocol::routing:
    case IpProtocol::destination_options:
    case IpProtocol::mobility:
      return (length + std::size_t{1}) * 8;
    case IpProtocol::authentication:
      return (length + std::size_t{2}) * 4;
    case IpProtocol::fragment:
      return sizeof(Ipv6FragmentHeader);
    default:
      return 0;
  }
}

}  // namespace

Ipv6UpperLayer find_upper_layer(ConstBytes packet) noexcept {
  Ipv6UpperLayer found;
  found.protocol = header_at<Ipv6Header>(packet)->next_header;
  found.offset = kIpv6HeaderBytes;
  // One step more than there may be headers: the last one meets the upper layer.
  for (int headers = 0; headers <= kIpv6ExtensionHeadersMax; ++headers) {
    if (found.is_later_fragment || extension_bytes(found.protocol, 0) == 0) {
      found.complete = true;
      return found;
    }
    const auto* extension = header_at<Ipv6ExtensionHeader>(packet, found.offset);
    if (extension == nullptr) {
      return found;
    }
    const std::size_t length = extension_bytes(found.protocol, extension->length);
    if (found.offset + length > packet.size()) {
      return found;
    }
    if (found.protocol == IpProtocol::fragment) {
      const auto* fragment = header_at<Ipv6FragmentHeader>(packet, found.offset);
      found.is_fragment = true;
      found.is_later_fragment = (fragment->offset_more.value() & kIpv6OffsetMask) != 0;
    }
    found.protocol = extension->next_header;
    found.offset = static_cast<std::uint16_t>(found.offset + length);
  }
  return found;
}

}  // namespace ringway::wire
