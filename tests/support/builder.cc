// Serialising from the inside out, by the RFCs' drawings and nothing else.
#include "tests/support/builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace ringway::test {

namespace {

void require(bool condition, const char* what) {
  if (!condition) {
    throw std::invalid_argument(std::string{"packet builder: "} + what);
  }
}

void put8(PacketBytes& to, std::size_t value) {
  to.push_back(static_cast<std::uint8_t>(value));
}
void put16(PacketBytes& to, std::size_t value) {
  put8(to, value >> 8);
  put8(to, value);
}
void put32(PacketBytes& to, std::uint32_t value) {
  put16(to, value >> 16);
  put16(to, value);
}
template <class Range>
void put(PacketBytes& to, const Range& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
void set16(PacketBytes& in, std::size_t offset, std::size_t value) {
  in[offset] = static_cast<std::uint8_t>(value >> 8);
  in[offset + 1] = static_cast<std::uint8_t>(value);
}

PacketBytes padded_to_4(PacketBytes bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

// Options behind the two bytes of an extension header, filled up with Pad1 or PadN.
PacketBytes padded_options(PacketBytes options) {
  const std::size_t missing = (8 - (options.size() + 2) % 8) % 8;
  if (missing == 1) {
    put8(options, 0);
  } else if (missing > 1) {
    put8(options, 1);
    put8(options, missing - 2);
    options.resize(options.size() + missing - 2);
  }
  return options;
}

std::uint8_t tcp_flags(std::string_view letters) {
  constexpr std::string_view kOrder = "FSRPAUEC";
  unsigned flags = 0;
  for (const char letter : letters) {
    const std::size_t bit = kOrder.find(letter);
    require(bit != std::string_view::npos, "TCP flags are letters of FSRPAUEC");
    flags |= 1U << bit;
  }
  return static_cast<std::uint8_t>(flags);
}

// What a header is called by the one around it.
struct Number {
  std::uint8_t protocol = 59;      // of IP; 59 is "no next header"
  std::uint16_t ether_type = 0x0;  // of Ethernet and GRE
};

constexpr std::uint8_t kExperimental = 253;  // RFC 3692: a protocol number nobody implements

}  // namespace

Address4::Address4(const char* text) {
  require(::inet_pton(AF_INET, text, bytes.data()) == 1, "not an IPv4 address");
}
Address6::Address6(const char* text) {
  require(::inet_pton(AF_INET6, text, bytes.data()) == 1, "not an IPv6 address");
}

std::uint16_t plain_checksum(const PacketBytes& bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? bytes[i] * 256U : bytes[i];
  }
  while (sum > 0xffff) {
    sum = sum % 65536 + sum / 65536;
  }
  return static_cast<std::uint16_t>(0xffff - sum);
}

// Puts one header in front of what is inside it.
struct PacketBuilder::Serialiser {
  const PacketBytes& inside;
  Number next;                // what the header inside is called
  const Layer* ip = nullptr;  // the IP header around this one
  Number own = {};            // what this one is called; set by the call

  PacketBytes operator()(const Ethernet& layer) {
    own = {143, 0x6558};
    PacketBytes out;
    put(out, layer.fields.destination);
    put(out, layer.fields.source);
    if (layer.fields.vlan) {
      put16(out, 0x8100);
      put16(out, *layer.fields.vlan);
    }
    put16(out, layer.fields.type.value_or(next.ether_type));
    put(out, inside);
    return out;
  }

  PacketBytes operator()(const Ipv4& layer) {
    own = {4, 0x0800};
    const Ipv4Fields& fields = layer.fields;
    require(fields.fragment_offset % 8 == 0, "a fragment offset is a multiple of 8");
    const PacketBytes options = padded_to_4(fields.options);
    require(options.size() <= 40, "IPv4 options are at most 40 bytes");
    const std::size_t header_bytes = 20 + options.size();
    PacketBytes out;
    put8(out, fields.version.value_or(4) * 16U + fields.ihl.value_or(header_bytes / 4));
    put8(out, fields.tos);
    put16(out, fields.total_length.value_or(header_bytes + inside.size()));
    put16(out, fields.id);
    put16(out, (fields.df ? 0x4000 : 0) + (fields.mf ? 0x2000 : 0) + fields.fragment_offset / 8);
    put8(out, fields.ttl);
    put8(out, fields.protocol.value_or(next.protocol));
    put16(out, 0);
    put(out, layer.source.bytes);
    put(out, layer.destination.bytes);
    put(out, options);
    set16(out, 10, fields.checksum.value_or(plain_checksum(out)));
    put(out, inside);
    return out;
  }

  PacketBytes operator()(const Ipv6& layer) {
    own = {41, 0x86dd};
    const Ipv6Fields& fields = layer.fields;
    PacketBytes out;
    put32(out, fields.version.value_or(6) * 0x10000000U + fields.traffic_class * 0x100000U +
                   fields.flow_label);
    put16(out, fields.payload_length.value_or(inside.size()));
    put8(out, fields.next_header.value_or(next.protocol));
    put8(out, fields.hop_limit);
    put(out, layer.source.bytes);
    put(out, layer.destination.bytes);
    put(out, inside);
    return out;
  }

  PacketBytes operator()(const Extension& layer) {
    own = {layer.number, 0};
    const std::size_t bytes = layer.data.size() + 2;
    PacketBytes out;
    put8(out, next.protocol);
    put8(out, layer.number == 51 ? bytes / 4 - 2 : bytes / 8 - 1);
    put(out, layer.data);
    put(out, inside);
    return out;
  }

  PacketBytes operator()(const Fragment& layer) {
    own = {44, 0};
    require(layer.fields.offset % 8 == 0, "a fragment offset is a multiple of 8");
    PacketBytes out;
    put8(out, layer.fields.next_header.value_or(next.protocol));
    put8(out, 0);
    put16(out, layer.fields.offset + (layer.fields.more ? 1U : 0U));
    put32(out, layer.fields.id);
    put(out, inside);
    return out;
  }

  PacketBytes operator()(const Gre& layer) {
    own = {47, 0};
    const GreFields& fields = layer.fields;
    PacketBytes out;
    put16(out, (fields.csum ? 0x8000U : 0U) + (fields.key ? 0x2000U : 0U) +
                   (fields.sequence ? 0x1000U : 0U) + fields.extra_flags);
    put16(out, fields.protocol.value_or(next.ether_type));
    if (fields.csum) {
      put32(out, 0);
    }
    if (fields.key) {
      put32(out, *fields.key);
    }
    if (fields.sequence) {
      put32(out, *fields.sequence);
    }
    put(out, inside);
    if (fields.csum) {
      set16(out, 4, fields.checksum.value_or(plain_checksum(out)));
    }
    return out;
  }

  PacketBytes operator()(const Udp& layer) {
    own = {17, 0};
    PacketBytes out;
    put16(out, layer.source);
    put16(out, layer.destination);
    put16(out, layer.fields.length.value_or(8 + inside.size()));
    put16(out, 0);
    put(out, inside);
    // RFC 768: a computed 0 is sent as 0xffff, since 0 means that there is none.
    const std::uint16_t sum = checksum_with_pseudo_header(out);
    set16(out, 6, layer.fields.checksum.value_or(sum == 0 ? 0xffff : sum));
    return out;
  }

  PacketBytes operator()(const Tcp& layer) {
    own = {6, 0};
    const TcpFields& fields = layer.fields;
    const PacketBytes options = padded_to_4(fields.options);
    require(options.size() <= 40, "TCP options are at most 40 bytes");
    PacketBytes out;
    put16(out, layer.source);
    put16(out, layer.destination);
    put32(out, fields.seq);
    put32(out, fields.ack);
    put8(out, fields.data_offset.value_or(5 + options.size() / 4) * std::size_t{16});
    put8(out, tcp_flags(fields.flags));
    put16(out, fields.window);
    put16(out, 0);
    put16(out, fields.urgent);
    put(out, options);
    put(out, inside);
    set16(out, 16, fields.checksum.value_or(checksum_with_pseudo_header(out)));
    return out;
  }

  PacketBytes operator()(const Icmp& layer) {
    const bool v6 = ip != nullptr && std::holds_alternative<Ipv6>(*ip);
    own.protocol = v6 ? 58 : 1;
    std::uint8_t type = layer.fields.type;
    if (layer.echo) {  // here the type says whether it is a reply
      type = v6 ? (type != 0 ? 129 : 128) : (type != 0 ? 0 : 8);
    }
    PacketBytes out;
    put8(out, type);
    put8(out, layer.fields.code);
    put16(out, 0);
    put32(out, layer.fields.rest);
    put(out, inside);
    const std::uint16_t sum = v6 ? checksum_with_pseudo_header(out) : plain_checksum(out);
    set16(out, 2, layer.fields.checksum.value_or(sum));
    return out;
  }

  PacketBytes operator()(const Raw& layer) {
    own.protocol = kExperimental;
    PacketBytes out = layer.bytes;
    put(out, inside);
    return out;
  }

  // RFC 9293 section 3.1 and RFC 8200 section 8.1: addresses, length and protocol, then `segment`.
  [[nodiscard]] std::uint16_t checksum_with_pseudo_header(const PacketBytes& segment) const {
    PacketBytes summed;
    if (ip == nullptr) {
      return plain_checksum(segment);
    }
    if (const auto* ipv4 = std::get_if<Ipv4>(ip)) {
      put(summed, ipv4->source.bytes);
      put(summed, ipv4->destination.bytes);
      put8(summed, 0);
      put8(summed, own.protocol);
      put16(summed, segment.size());
    } else {
      const auto& ipv6 = std::get<Ipv6>(*ip);
      put(summed, ipv6.source.bytes);
      put(summed, ipv6.destination.bytes);
      put32(summed, static_cast<std::uint32_t>(segment.size()));
      put32(summed, own.protocol);
    }
    put(summed, segment);
    return plain_checksum(summed);
  }
};

PacketBuilder PacketBuilder::with(Layer layer) const {
  PacketBuilder copy = *this;
  copy.layers_.push_back(std::move(layer));
  return copy;
}

PacketBuilder PacketBuilder::with(Edit edit) const {
  PacketBuilder copy = *this;
  copy.edits_.push_back(std::move(edit));
  return copy;
}

const PacketBuilder::Layer* PacketBuilder::ip_around(std::size_t index) const {
  while (index-- > 0) {
    const Layer& layer = layers_[index];
    if (std::holds_alternative<Ipv4>(layer) || std::holds_alternative<Ipv6>(layer)) {
      return &layer;
    }
  }
  return nullptr;
}

PacketBytes PacketBuilder::bytes() const {
  PacketBytes out;
  Number next;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Serialiser serialiser{out, next, ip_around(i)};
    PacketBytes longer = std::visit(serialiser, layers_[i]);
    next = serialiser.own;
    out = std::move(longer);
  }
  for (const Edit& edit : edits_) {
    if (const auto* patch = std::get_if<Patch>(&edit)) {
      require(patch->offset + patch->bytes.size() <= out.size(), "patch behind the end");
      std::copy(patch->bytes.begin(), patch->bytes.end(),
                out.begin() + static_cast<std::ptrdiff_t>(patch->offset));
    } else if (const auto* truncate = std::get_if<Truncate>(&edit)) {
      require(truncate->count <= out.size(), "truncated to more than there is");
      out.resize(truncate->count);
    } else {
      put(out, std::get<Trail>(edit).bytes);
    }
  }
  return out;
}

PacketBuilder PacketBuilder::ethernet(const EthernetFields& fields) const {
  return with(Layer{Ethernet{fields}});
}
PacketBuilder PacketBuilder::ipv4(const Address4& source, const Address4& destination,
                                  const Ipv4Fields& fields) const {
  return with(Layer{Ipv4{source, destination, fields}});
}
PacketBuilder PacketBuilder::ipv6(const Address6& source, const Address6& destination,
                                  const Ipv6Fields& fields) const {
  return with(Layer{Ipv6{source, destination, fields}});
}
PacketBuilder PacketBuilder::hop_by_hop(PacketBytes options) const {
  return with(Layer{Extension{0, padded_options(std::move(options))}});
}
PacketBuilder PacketBuilder::destination_options(PacketBytes options) const {
  return with(Layer{Extension{60, padded_options(std::move(options))}});
}
PacketBuilder PacketBuilder::routing(PacketBytes data) const {
  data.resize((data.size() + 2 + 7) / 8 * 8 - 2);
  return with(Layer{Extension{43, std::move(data)}});
}
PacketBuilder PacketBuilder::fragment(const FragmentFields& fields) const {
  return with(Layer{Fragment{fields}});
}
PacketBuilder PacketBuilder::authentication(std::size_t icv_bytes) const {
  require((12 + icv_bytes) % 8 == 0, "an authentication header is a multiple of 8 bytes");
  return with(Layer{Extension{51, PacketBytes(10 + icv_bytes)}});
}
PacketBuilder PacketBuilder::gre(const GreFields& fields) const {
  return with(Layer{Gre{fields}});
}
PacketBuilder PacketBuilder::udp(std::uint16_t source, std::uint16_t destination,
                                 const UdpFields& fields) const {
  return with(Layer{Udp{source, destination, fields}});
}
PacketBuilder PacketBuilder::tcp(std::uint16_t source, std::uint16_t destination,
                                 const TcpFields& fields) const {
  return with(Layer{Tcp{source, destination, fields}});
}
PacketBuilder PacketBuilder::icmp_echo(const EchoFields& fields) const {
  return with(Layer{Icmp{.echo = true,
                         .fields = {.type = fields.reply ? std::uint8_t{1} : std::uint8_t{0},
                                    .rest = fields.id * 0x10000U + fields.sequence}}});
}
PacketBuilder PacketBuilder::icmp(const IcmpFields& fields) const {
  return with(Layer{Icmp{.fields = fields}});
}
PacketBuilder PacketBuilder::payload(std::size_t count) const {
  PacketBytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i);
  }
  return raw(std::move(bytes));
}
PacketBuilder PacketBuilder::raw(PacketBytes bytes) const {
  return with(Layer{Raw{std::move(bytes)}});
}
PacketBuilder PacketBuilder::patched(std::size_t offset, PacketBytes bytes) const {
  return with(Edit{Patch{offset, std::move(bytes)}});
}
PacketBuilder PacketBuilder::truncated(std::size_t count) const {
  return with(Edit{Truncate{count}});
}
PacketBuilder PacketBuilder::trailing(PacketBytes bytes) const {
  return with(Edit{Trail{std::move(bytes)}});
}

}  // namespace ringway::test
