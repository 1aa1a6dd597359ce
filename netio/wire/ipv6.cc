// The walk along IPv6's extension headers: bounded, and never past the end.
#include "netio/wire/ipv6.h"

#include <cstdint>

namespace ringway::wire {

Ipv6UpperLayer find_upper_layer(ConstBytes packet) noexcept {
  Ipv6UpperLayer found;
  found.protocol = header_at<Ipv6Header>(packet)->next_header;
  found.offset = kIpv6HeaderBytes;
  // One step more than there may be headers: the last one meets the upper layer.
  for (int headers = 0; headers <= kIpv6ExtensionHeadersMax; ++headers) {
    std::size_t length = 0;
    IpProtocol next{};
    switch (found.protocol) {
      case IpProtocol::hop_by_hop:
      case IpProtocol::routing:
      case IpProtocol::destination_options:
      case IpProtocol::mobility:
      case IpProtocol::authentication: {
        const auto* extension = header_at<Ipv6ExtensionHeader>(packet, found.offset);
        if (extension == nullptr) {
          return found;
        }
        length = found.protocol == IpProtocol::authentication
                     ? (extension->length + std::size_t{2}) * 4
                     : (extension->length + std::size_t{1}) * 8;
        next = extension->next_header;
        break;
      }
      case IpProtocol::fragment: {
        const auto* fragment = header_at<Ipv6FragmentHeader>(packet, found.offset);
        if (fragment == nullptr) {
          return found;
        }
        length = sizeof(Ipv6FragmentHeader);
        found.is_fragment = true;
        found.is_later_fragment = (fragment->offset_more.value() & kIpv6OffsetMask) != 0;
        next = fragment->next_header;
        break;
      }
      default:
        found.complete = true;
        return found;
    }
    if (found.offset + length > packet.size()) {
      return found;
    }
    found.offset = static_cast<std::uint16_t>(found.offset + length);
    found.protocol = next;
    if (found.is_later_fragment) {
      found.complete = true;
      return found;
    }
  }
  return found;
}

}  // namespace ringway::wire
