// The names themselves. A switch over every enumerator: a new one without a name is a warning.
#include "netio/wire/names.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "netio/wire/ethernet.h"
#include "netio/wire/header.h"
#include "netio/wire/icmp.h"
#include "netio/wire/icmpv6.h"
#include "netio/wire/protocols.h"
#include "netio/wire/tcp.h"

namespace ringway::wire {

std::string hex(std::uint64_t value, int digits) {
  std::string text = "0x";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(value >> shift) & 0xf];
  }
  return text;
}

std::string hex(ConstBytes bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += hex(byte, 2).substr(2);
  }
  return text;
}

std::string to_string(const MacAddress& address) {
  std::string text;
  for (const std::uint8_t byte : address.bytes) {
    text += text.empty() ? "" : ":";
    text += hex(ConstBytes{&byte, 1});
  }
  return text;
}

std::string to_string(EtherType type) {
  switch (type) {
    case EtherType::ipv4:
      return "ipv4";
    case EtherType::ipv6:
      return "ipv6";
    case EtherType::arp:
      return "arp";
    case EtherType::vlan:
      return "vlan";
    case EtherType::mpls:
      return "mpls";
    case EtherType::wccp:
      return "wccp";
    case EtherType::transparent_ethernet:
      return "ethernet";
    case EtherType::gre_keepalive:
      break;
  }
  return hex(static_cast<std::uint16_t>(type), 4);
}

std::string to_string(IpProtocol protocol) {
  switch (protocol) {
    case IpProtocol::hop_by_hop:
      return "hop_by_hop";
    case IpProtocol::icmp:
      return "icmp";
    case IpProtocol::ipip:
      return "ipip";
    case IpProtocol::tcp:
      return "tcp";
    case IpProtocol::udp:
      return "udp";
    case IpProtocol::ipv6:
      return "ipv6";
    case IpProtocol::routing:
      return "routing";
    case IpProtocol::fragment:
      return "fragment";
    case IpProtocol::gre:
      return "gre";
    case IpProtocol::authentication:
      return "authentication";
    case IpProtocol::icmpv6:
      return "icmpv6";
    case IpProtocol::no_next_header:
      return "no_next_header";
    case IpProtocol::destination_options:
      return "destination_options";
    case IpProtocol::mobility:
      return "mobility";
  }
  return std::to_string(static_cast<unsigned>(protocol));
}

std::string to_string(IcmpType type) {
  switch (type) {
    case IcmpType::echo_reply:
      return "echo_reply";
    case IcmpType::destination_unreachable:
      return "destination_unreachable";
    case IcmpType::redirect:
      return "redirect";
    case IcmpType::echo_request:
      return "echo_request";
    case IcmpType::time_exceeded:
      return "time_exceeded";
    case IcmpType::parameter_problem:
      return "parameter_problem";
  }
  return "type " + std::to_string(static_cast<unsigned>(type));
}

std::string to_string(Icmpv6Type type) {
  switch (type) {
    case Icmpv6Type::destination_unreachable:
      return "destination_unreachable";
    case Icmpv6Type::packet_too_big:
      return "packet_too_big";
    case Icmpv6Type::time_exceeded:
      return "time_exceeded";
    case Icmpv6Type::parameter_problem:
      return "parameter_problem";
    case Icmpv6Type::echo_request:
      return "echo_request";
    case Icmpv6Type::echo_reply:
      return "echo_reply";
    case Icmpv6Type::router_solicitation:
      return "router_solicitation";
    case Icmpv6Type::router_advertisement:
      return "router_advertisement";
    case Icmpv6Type::neighbor_solicitation:
      return "neighbor_solicitation";
    case Icmpv6Type::neighbor_advertisement:
      return "neighbor_advertisement";
  }
  return "type " + std::to_string(static_cast<unsigned>(type));
}

std::string tcp_flags_to_string(std::uint8_t flags) {
  constexpr std::array<std::pair<std::uint8_t, std::string_view>, 8> kNames = {{
      {kTcpSyn, "SYN"},
      {kTcpFin, "FIN"},
      {kTcpRst, "RST"},
      {kTcpPsh, "PSH"},
      {kTcpAck, "ACK"},
      {kTcpUrg, "URG"},
      {kTcpEce, "ECE"},
      {kTcpCwr, "CWR"},
  }};
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if ((flags & bit) != 0) {
      text += text.empty() ? "" : ",";
      text += name;
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace ringway::wire
