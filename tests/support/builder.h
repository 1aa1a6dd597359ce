// packet(): any packet as a test wants it, right or wrong, in one readable expression.
//
//   packet().ipv4(here, there).gre({.key = 7}).ipv4(a, b, {.ttl = 3}).udp(1000, 2000).payload(200)
//
// Headers are named from the outside in; lengths, next-protocol fields and checksums are filled
// from the inside out, unless given. The builder is an oracle: it shares no code, struct or
// constant with netio/wire, and is itself compared with scapy byte for byte (tests/golden/wire).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "netio/wire/address.h"

namespace ringway::test {

using PacketBytes = std::vector<std::uint8_t>;

// An address as text ("10.0.0.1") or as the product's type. Bad text throws std::invalid_argument.
struct Address4 {
  Address4(const char* text);
  Address4(const wire::Ipv4Address& address) : bytes{address.bytes} {}
  std::array<std::uint8_t, 4> bytes{};
};
struct Address6 {
  Address6(const char* text);
  Address6(const wire::Ipv6Address& address) : bytes{address.bytes} {}
  std::array<std::uint8_t, 16> bytes{};
};

// Every std::optional below is filled with the right value unless given. The `= {}` let a caller
// name any of them and leave out the others, of which GCC would warn.
// NOLINTBEGIN(readability-redundant-member-init)
struct EthernetFields {
  std::array<std::uint8_t, 6> destination{2, 0, 0, 0, 0, 2};
  std::array<std::uint8_t, 6> source{2, 0, 0, 0, 0, 1};
  std::optional<std::uint16_t> vlan = {};  // an 802.1Q tag with this TCI
  std::optional<std::uint16_t> type = {};
};
struct Ipv4Fields {
  std::uint8_t ttl = 64;
  std::uint8_t tos = 0;
  std::uint16_t id = 0;
  bool df = false;
  bool mf = false;
  std::uint16_t fragment_offset = 0;  // in bytes, a multiple of 8
  PacketBytes options = {};           // padded with zeros to a multiple of 4
  std::optional<std::uint8_t> protocol = {};
  std::optional<std::uint8_t> version = {};
  std::optional<std::uint8_t> ihl = {};
  std::optional<std::uint16_t> total_length = {};
  std::optional<std::uint16_t> checksum = {};
};
struct Ipv6Fields {
  std::uint8_t hop_limit = 64;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::optional<std::uint8_t> next_header = {};
  std::optional<std::uint8_t> version = {};
  std::optional<std::uint16_t> payload_length = {};
};
struct FragmentFields {
  std::uint16_t offset = 0;  // in bytes, a multiple of 8
  bool more = false;
  std::uint32_t id = 0;
  std::optional<std::uint8_t> next_header = {};
};
struct GreFields {
  std::optional<std::uint32_t> key = {};
  bool csum = false;
  std::optional<std::uint32_t> sequence = {};
  std::optional<std::uint16_t> protocol = {};
  std::optional<std::uint16_t> checksum = {};  // instead of the right one; needs csum
  std::uint16_t extra_flags = 0;               // or-ed into the first 16 bits
};
struct UdpFields {
  std::optional<std::uint16_t> length = {};
  std::optional<std::uint16_t> checksum = {};
};
struct TcpFields {
  std::uint32_t seq = 0;
  std::uint32_t ack = 0;
  std::string_view flags = "A";  // letters of FSRPAUEC
  std::uint16_t window = 8192;
  std::uint16_t urgent = 0;
  PacketBytes options = {};  // padded with zeros to a multiple of 4
  std::optional<std::uint16_t> checksum = {};
  std::optional<std::uint8_t> data_offset = {};  // in 4-byte words
};
struct EchoFields {
  std::uint16_t id = 1;
  std::uint16_t sequence = 1;
  bool reply = false;
};
struct IcmpFields {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;  // bytes 4..7 of the header: next-hop MTU, pointer, id and sequence
  std::optional<std::uint16_t> checksum = {};
};

// NOLINTEND(readability-redundant-member-init)

// A value: every call returns a changed copy, so a common beginning can be kept and continued.
class PacketBuilder {
 public:
  [[nodiscard]] PacketBuilder ethernet(const EthernetFields& fields = {}) const;
  [[nodiscard]] PacketBuilder ipv4(const Address4& source, const Address4& destination,
                                   const Ipv4Fields& fields = {}) const;
  [[nodiscard]] PacketBuilder ipv6(const Address6& source, const Address6& destination,
                                   const Ipv6Fields& fields = {}) const;
  // IPv6 extension headers. The options are the bytes behind next header and length, padded to
  // the next multiple of 8 with Pad1 and PadN options (RFC 8200 section 4.2).
  [[nodiscard]] PacketBuilder hop_by_hop(PacketBytes options = {}) const;
  [[nodiscard]] PacketBuilder destination_options(PacketBytes options = {}) const;
  // The 6 + 8n bytes behind next header and length, padded with zeros.
  [[nodiscard]] PacketBuilder routing(PacketBytes data = {}) const;
  [[nodiscard]] PacketBuilder fragment(const FragmentFields& fields = {}) const;
  // SPI, sequence number and an ICV of `icv_bytes` zeros (a multiple of 8, less 4: 12 by default).
  [[nodiscard]] PacketBuilder authentication(std::size_t icv_bytes = 12) const;
  [[nodiscard]] PacketBuilder gre(const GreFields& fields = {}) const;
  [[nodiscard]] PacketBuilder udp(std::uint16_t source = 1000, std::uint16_t destination = 2000,
                                  const UdpFields& fields = {}) const;
  [[nodiscard]] PacketBuilder tcp(std::uint16_t source = 1000, std::uint16_t destination = 2000,
                                  const TcpFields& fields = {}) const;
  // ICMP or ICMPv6, as the IP header around it says.
  [[nodiscard]] PacketBuilder icmp_echo(const EchoFields& fields = {}) const;
  [[nodiscard]] PacketBuilder icmp(const IcmpFields& fields) const;
  // `count` bytes 0, 1, 2 ... 255, 0 ...
  [[nodiscard]] PacketBuilder payload(std::size_t count) const;
  [[nodiscard]] PacketBuilder raw(PacketBytes bytes) const;

  // Edits of the finished packet, applied in the order given; nothing is filled in again.
  [[nodiscard]] PacketBuilder patched(std::size_t offset, PacketBytes bytes) const;
  // Only the first `count` bytes. Precondition: there are as many.
  [[nodiscard]] PacketBuilder truncated(std::size_t count) const;
  // Bytes behind what the headers count, as a link's padding is.
  [[nodiscard]] PacketBuilder trailing(PacketBytes bytes) const;

  [[nodiscard]] PacketBytes bytes() const;
  operator PacketBytes() const { return bytes(); }

 private:
  struct Ethernet {
    EthernetFields fields;
  };
  struct Ipv4 {
    Address4 source;
    Address4 destination;
    Ipv4Fields fields;
  };
  struct Ipv6 {
    Address6 source;
    Address6 destination;
    Ipv6Fields fields;
  };
  struct Extension {
    std::uint8_t number = 0;
    PacketBytes data;  // all behind next header and length
  };
  struct Fragment {
    FragmentFields fields;
  };
  struct Gre {
    GreFields fields;
  };
  struct Udp {
    std::uint16_t source = 0;
    std::uint16_t destination = 0;
    UdpFields fields;
  };
  struct Tcp {
    std::uint16_t source = 0;
    std::uint16_t destination = 0;
    TcpFields fields;
  };
  struct Icmp {
    bool echo = false;  // the type is that of an echo in the family of the IP header around it
    IcmpFields fields;
  };
  struct Raw {
    PacketBytes bytes;
  };
  using Layer = std::variant<Ethernet, Ipv4, Ipv6, Extension, Fragment, Gre, Udp, Tcp, Icmp, Raw>;

  struct Patch {
    std::size_t offset = 0;
    PacketBytes bytes;
  };
  struct Truncate {
    std::size_t count = 0;
  };
  struct Trail {
    PacketBytes bytes;
  };
  using Edit = std::variant<Patch, Truncate, Trail>;

  struct Serialiser;

  [[nodiscard]] PacketBuilder with(Layer layer) const;
  [[nodiscard]] PacketBuilder with(Edit edit) const;
  // The IP header that layer `index` lies in; null if there is none.
  [[nodiscard]] const Layer* ip_around(std::size_t index) const;

  std::vector<Layer> layers_;
  std::vector<Edit> edits_;
};

[[nodiscard]] inline PacketBuilder packet() {
  return {};
}

// The checksum of RFC 1071 by its definition, 16 bits at a time.
[[nodiscard]] std::uint16_t plain_checksum(const PacketBytes& bytes);

}  // namespace ringway::test
