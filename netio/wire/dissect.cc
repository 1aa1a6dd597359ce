// One function for each header: it reads the header at at_, adds a layer, and says what comes next.
#include "netio/wire/dissect.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "netio/wire/address.h"
#include "netio/wire/checksum.h"
#include "netio/wire/endian.h"
#include "netio/wire/ethernet.h"
#include "netio/wire/gre.h"
#include "netio/wire/header.h"
#include "netio/wire/icmp.h"
#include "netio/wire/icmpv6.h"
#include "netio/wire/ipv4.h"
#include "netio/wire/ipv6.h"
#include "netio/wire/names.h"
#include "netio/wire/protocols.h"
#include "netio/wire/tcp.h"
#include "netio/wire/udp.h"

namespace ringway::wire {

namespace {

// Deeper than any honest nesting; what is below it is called data.
constexpr std::size_t kLayersMax = 32;

std::string ipv4_flags_to_string(std::uint16_t flags_offset) {
  std::string text;
  text += (flags_offset & 0x8000) != 0 ? "reserved " : "";
  text += (flags_offset & kIpv4DontFragment) != 0 ? "DF " : "";
  text += (flags_offset & kIpv4MoreFragments) != 0 ? "MF " : "";
  return text.empty() ? "none" : text.substr(0, text.size() - 1);
}

// RFC 9293 section 3.2, RFC 7323 and RFC 2018.
std::string tcp_option_to_string(std::uint8_t kind, ConstBytes value) {
  if (kind == 2 && value.size() == 2) {
    return "mss " + std::to_string(header_at<Be16>(value)->value());
  }
  if (kind == 3 && value.size() == 1) {
    return "wscale " + std::to_string(value[0]);
  }
  if (kind == 4 && value.empty()) {
    return "sack_permitted";
  }
  if (kind == 8 && value.size() == 8) {
    return "timestamp " + std::to_string(header_at<Be32>(value)->value()) + " " +
           std::to_string(header_at<Be32>(value, 4)->value());
  }
  return "kind " + std::to_string(kind) + " " + hex(value);
}

class Dissector {
 public:
  explicit Dissector(ConstBytes packet) : packet_{packet}, end_{packet.size()} {}

  std::vector<DescribedLayer> run() {
    next_ = Next::ip;
    while (next_ != Next::done) {
      if (layers_.size() == kLayersMax) {
        what_ = "and more";
        next_ = Next::data;
      }
      step();
    }
    return std::move(layers_);
  }

 private:
  enum class Next : std::uint8_t {
    ip,  // of the version that its first nibble says
    ipv4,
    ipv6,
    extension,  // of the kind protocol_ says
    ethernet,
    gre,
    tcp,
    udp,
    icmp,
    icmpv6,
    data,
    done,
  };

  void step() {
    switch (std::exchange(next_, Next::done)) {
      case Next::ip:
        ip();
        break;
      case Next::ipv4:
        ipv4();
        break;
      case Next::ipv6:
        ipv6();
        break;
      case Next::extension:
        protocol_ == IpProtocol::fragment ? fragment() : extension();
        break;
      case Next::ethernet:
        ethernet();
        break;
      case Next::gre:
        gre();
        break;
      case Next::tcp:
        tcp();
        break;
      case Next::udp:
        udp();
        break;
      case Next::icmp:
        icmp();
        break;
      case Next::icmpv6:
        icmpv6();
        break;
      case Next::data:
        data();
        break;
      case Next::done:
        break;
    }
  }

  void ip() {
    if (at_ == end_) {
      return;
    }
    const int version = packet_[at_] >> 4;
    if (version == 4) {
      ipv4();
    } else if (version == 6) {
      ipv6();
    } else {
      what_ = "not_ip";
      next_ = Next::data;
    }
  }

  void ipv4();
  void ipv6();
  void extension();
  void fragment();
  void ethernet();
  void gre();
  void tcp();
  void tcp_options(ConstBytes options);
  void udp();
  void icmp();
  void icmpv6();
  void data();

  // The header of type H at at_; null, with a note and nothing more to come, if it is cut.
  template <class H>
  const H* begin_layer(std::string_view name) {
    layers_.push_back({std::string{name}, std::string{name}, {}, {}});
    const auto* header = header_at<H>(packet_.first(end_), at_);
    if (header == nullptr) {
      note("header cut to " + std::to_string(end_ - at_) + " bytes");
    }
    return header;
  }
  DescribedLayer& layer() { return layers_.back(); }
  void note(std::string text) { layer().notes.push_back(std::move(text)); }
  // A field of the current header, `offset` from at_.
  void field(std::string_view name, std::string value, std::size_t offset, std::size_t bytes) {
    layer().fields.push_back({std::string{name}, std::move(value), at_ + offset, bytes});
  }
  void number(std::string_view name, std::uint64_t value, std::size_t offset, std::size_t bytes) {
    field(name, std::to_string(value), offset, bytes);
  }

  // Ends the layer's reach after `length` bytes from at_, noting where that is not what is there.
  void limit(std::size_t length, std::string_view what);
  void after_ip(IpProtocol protocol);
  void after_type(EtherType type);
  [[nodiscard]] ConstBytes rest() const { return packet_.subspan(at_, end_ - at_); }
  // Notes a wrong checksum of `covered`, whose field stands at `offset`; `sum` holds what is summed
  // besides. Silent where bytes are missing.
  void verify(ConstBytes covered, std::size_t offset, ChecksumSum sum);
  // The sum of the pseudo header of the IP header around at_. Precondition: there is one.
  [[nodiscard]] ChecksumSum pseudo_header(IpProtocol protocol) const;

  ConstBytes packet_;
  std::vector<DescribedLayer> layers_;
  Next next_ = Next::done;
  std::size_t at_ = 0;   // where the next header begins
  std::size_t end_ = 0;  // where the bytes that belong to it end
  std::size_t ip_at_ = 0;
  bool ip_is_v6_ = false;
  bool incomplete_ = false;  // bytes are missing at the end: a fragment, a quote, a cut packet
  bool quoted_ = false;      // inside an ICMP error, where packets are cut by design
  IpProtocol protocol_{};    // of the extension header to come
  std::string what_;         // how to call the data to come
};

void Dissector::limit(std::size_t length, std::string_view what) {
  const std::size_t available = end_ - at_;
  if (length > available) {
    incomplete_ = true;
    if (!quoted_) {
      note(std::string{what} + " says " + std::to_string(length) + " bytes, " +
           std::to_string(available) + " are there");
    }
    return;
  }
  if (length < available) {
    note(std::to_string(available - length) + " bytes behind the end");
  }
  end_ = at_ + length;
}

void Dissector::verify(ConstBytes covered, std::size_t offset, ChecksumSum sum) {
  const ChecksumSum besides = sum;
  sum.add(covered);
  if (incomplete_ || sum.checksum() == Be16{0}) {
    return;
  }
  // Only a pseudo header makes a partial checksum, and the sum of one is never 0.
  const Be16 partial = besides.folded();
  if (partial != Be16{0} && *header_at<Be16>(covered, offset) == partial) {
    note("partial checksum");
    return;
  }
  ChecksumSum right = besides;
  right.add(covered.first(offset));
  right.add(covered.subspan(offset + 2));
  note("bad checksum, right is " + hex(right.checksum().value(), 4));
}

ChecksumSum Dissector::pseudo_header(IpProtocol protocol) const {
  ChecksumSum sum;
  const auto length = static_cast<std::uint32_t>(end_ - at_);
  if (ip_is_v6_) {
    add_pseudo_header(sum, *header_at<Ipv6Header>(packet_, ip_at_), protocol, length);
  } else {
    add_pseudo_header(sum, *header_at<Ipv4Header>(packet_, ip_at_), protocol, length);
  }
  return sum;
}

void Dissector::after_ip(IpProtocol protocol) {
  switch (protocol) {
    case IpProtocol::hop_by_hop:
    case IpProtocol::routing:
    case IpProtocol::fragment:
    case IpProtocol::authentication:
    case IpProtocol::destination_options:
    case IpProtocol::mobility:
      if (ip_is_v6_) {
        protocol_ = protocol;
        next_ = Next::extension;
        return;
      }
      break;  // extension headers mean nothing behind IPv4
    case IpProtocol::ipip:
      next_ = Next::ipv4;
      return;
    case IpProtocol::ipv6:
      next_ = Next::ipv6;
      return;
    case IpProtocol::gre:
      next_ = Next::gre;
      return;
    case IpProtocol::tcp:
      next_ = Next::tcp;
      return;
    case IpProtocol::udp:
      next_ = Next::udp;
      return;
    case IpProtocol::icmp:
      next_ = Next::icmp;
      return;
    case IpProtocol::icmpv6:
      next_ = Next::icmpv6;
      return;
    case IpProtocol::no_next_header:
      break;
  }
  what_ = "protocol " + to_string(protocol);
  next_ = Next::data;
}

void Dissector::after_type(EtherType type) {
  switch (type) {
    case EtherType::ipv4:
      next_ = Next::ipv4;
      return;
    case EtherType::ipv6:
      next_ = Next::ipv6;
      return;
    case EtherType::transparent_ethernet:
      next_ = Next::ethernet;
      return;
    case EtherType::gre_keepalive:
      what_ = "keepalive";
      next_ = Next::data;
      return;
    case EtherType::arp:
    case EtherType::vlan:
    case EtherType::wccp:
    case EtherType::mpls:
      break;
  }
  what_ = "type " + to_string(type);
  next_ = Next::data;
}

void Dissector::ipv4() {
  const auto* header = begin_layer<Ipv4Header>("ipv4");
  if (header == nullptr) {
    return;
  }
  ip_at_ = at_;
  ip_is_v6_ = false;
  const std::uint16_t header_bytes = header->header_length();
  const std::uint16_t flags = header->flags_offset;
  const std::uint32_t fragment_offset = (flags & kIpv4OffsetMask) * 8U;
  layer().summary = to_string(header->source) + " > " + to_string(header->destination);
  number("version", header->version(), 0, 1);
  number("header length", header_bytes, 0, 1);
  field("tos", hex(header->tos, 2), 1, 1);
  number("total length", header->total_length, 2, 2);
  number("id", header->identification, 4, 2);
  field("flags", ipv4_flags_to_string(flags), 6, 1);
  number("fragment offset", fragment_offset, 6, 2);
  number("ttl", header->ttl, 8, 1);
  field("protocol", to_string(header->protocol), 9, 1);
  field("checksum", hex(header->checksum.value(), 4), 10, 2);
  field("source", to_string(header->source), 12, 4);
  field("destination", to_string(header->destination), 16, 4);
  if (header->version() != 4) {
    note("bad version " + std::to_string(header->version()));
    return;
  }
  if (header_bytes < kIpv4HeaderBytes || header_bytes > end_ - at_) {
    note("bad header length " + std::to_string(header_bytes));
    return;
  }
  if (header_bytes > kIpv4HeaderBytes) {
    const std::size_t option_bytes = header_bytes - kIpv4HeaderBytes;
    field("options", hex(rest().subspan(kIpv4HeaderBytes, option_bytes)), kIpv4HeaderBytes,
          option_bytes);
  }
  if (header->total_length.value() < header_bytes) {
    note("bad total length " + std::to_string(header->total_length.value()));
    return;
  }
  // The header itself is whole even where its payload is not.
  const bool payload_incomplete = std::exchange(incomplete_, false);
  verify(rest().first(header_bytes), 10, {});
  incomplete_ = payload_incomplete;
  limit(header->total_length, "total length");
  at_ += header_bytes;
  after_ip(header->protocol);
  if (header->is_fragment()) {
    incomplete_ = true;
    layer().summary += " fragment " + std::to_string(fragment_offset) + " of id " +
                       std::to_string(header->identification.value());
  }
  if (header->is_later_fragment()) {
    what_ = to_string(header->protocol);
    next_ = Next::data;
  }
}

void Dissector::ipv6() {
  const auto* header = begin_layer<Ipv6Header>("ipv6");
  if (header == nullptr) {
    return;
  }
  ip_at_ = at_;
  ip_is_v6_ = true;
  layer().summary = to_string(header->source) + " > " + to_string(header->destination);
  number("version", header->version(), 0, 1);
  field("traffic class", hex(header->traffic_class(), 2), 0, 2);
  field("flow label", hex(header->flow_label(), 5), 1, 3);
  number("payload length", header->payload_length, 4, 2);
  field("next header", to_string(header->next_header), 6, 1);
  number("hop limit", header->hop_limit, 7, 1);
  field("source", to_string(header->source), 8, 16);
  field("destination", to_string(header->destination), 24, 16);
  if (header->version() != 6) {
    note("bad version " + std::to_string(header->version()));
    return;
  }
  limit(std::size_t{kIpv6HeaderBytes} + header->payload_length.value(), "payload length");
  at_ += kIpv6HeaderBytes;
  after_ip(header->next_header);
}

void Dissector::extension() {
  const auto* header = begin_layer<Ipv6ExtensionHeader>(to_string(protocol_));
  if (header == nullptr) {
    return;
  }
  const std::size_t length = protocol_ == IpProtocol::authentication
                                 ? (std::size_t{header->length} + 2) * 4
                                 : (std::size_t{header->length} + 1) * 8;
  field("next header", to_string(header->next_header), 0, 1);
  number("header length", length, 1, 1);
  if (length > end_ - at_) {
    note("header cut to " + std::to_string(end_ - at_) + " bytes");
    return;
  }
  field("content", hex(rest().first(length).subspan(sizeof *header)), sizeof *header,
        length - sizeof *header);
  at_ += length;
  after_ip(header->next_header);
}

void Dissector::fragment() {
  const auto* header = begin_layer<Ipv6FragmentHeader>("fragment");
  if (header == nullptr) {
    return;
  }
  const std::uint16_t offset = header->offset_more.value() & kIpv6OffsetMask;
  const bool more = (header->offset_more.value() & kIpv6MoreFragments) != 0;
  layer().summary = "fragment " + std::to_string(offset) + " of id " +
                    std::to_string(header->identification.value());
  field("next header", to_string(header->next_header), 0, 1);
  number("offset", offset, 2, 2);
  field("more", more ? "yes" : "no", 3, 1);
  number("id", header->identification, 4, 4);
  at_ += sizeof *header;
  after_ip(header->next_header);
  if (offset != 0 || more) {
    incomplete_ = true;
  }
  if (offset != 0) {
    what_ = to_string(header->next_header);
    next_ = Next::data;
  }
}

void Dissector::ethernet() {
  const auto* header = begin_layer<EthernetHeader>("ethernet");
  if (header == nullptr) {
    return;
  }
  layer().summary =
      "ethernet " + to_string(header->source) + " > " + to_string(header->destination);
  field("destination", to_string(header->destination), 0, 6);
  field("source", to_string(header->source), 6, 6);
  field("type", to_string(header->type.value()), 12, 2);
  EtherType type = header->type;
  at_ += sizeof *header;
  if (type == EtherType::vlan) {
    const auto* tag = header_at<VlanTag>(packet_.first(end_), at_);
    if (tag == nullptr) {
      note("tag cut to " + std::to_string(end_ - at_) + " bytes");
      return;
    }
    layer().summary += " vlan " + std::to_string(tag->id());
    number("vlan", tag->id(), 0, 2);
    field("inner type", to_string(tag->type.value()), 2, 2);
    type = tag->type;
    at_ += sizeof *tag;
  }
  after_type(type);
}

void Dissector::gre() {
  if (begin_layer<GreBaseHeader>("gre") == nullptr) {
    return;
  }
  const GreView view = read_gre(rest());
  field("flags", hex(view.flags, 4), 0, 2);
  field("protocol", to_string(view.protocol), 2, 2);
  if (view.error == GreError::bad_version) {
    note("bad version " + std::to_string(view.flags & kGreVersionMask));
    return;
  }
  if (view.error == GreError::bad_flags) {
    note("bad flags " + hex(view.flags, 4));
    return;
  }
  if (view.error == GreError::truncated) {
    note("header cut to " + std::to_string(end_ - at_) + " bytes");
    return;
  }
  std::size_t at = sizeof(GreBaseHeader);
  if (view.has_checksum()) {
    field("checksum", hex(header_at<Be16>(rest(), at)->value(), 4), at, 2);
    field("reserved", hex(header_at<Be16>(rest(), at + 2)->value(), 4), at + 2, 2);
    at += 4;
    layer().summary += " csum";
    verify(rest(), sizeof(GreBaseHeader), {});
  }
  if (view.has_key()) {
    number("key", view.key, at, 4);
    at += 4;
    layer().summary += " key " + std::to_string(view.key);
  }
  if (view.has_sequence()) {
    number("sequence", view.sequence, at, 4);
    layer().summary += " seq " + std::to_string(view.sequence);
  }
  at_ += view.header_bytes;
  after_type(view.protocol);
}

void Dissector::tcp() {
  const auto* header = begin_layer<TcpHeader>("tcp");
  if (header == nullptr) {
    return;
  }
  layer().summary = "tcp " + std::to_string(header->source_port.value()) + " > " +
                    std::to_string(header->destination_port.value()) + " " +
                    tcp_flags_to_string(header->flags) + " seq " +
                    std::to_string(header->sequence.value()) + " ack " +
                    std::to_string(header->acknowledgment.value());
  number("source port", header->source_port, 0, 2);
  number("destination port", header->destination_port, 2, 2);
  number("sequence", header->sequence, 4, 4);
  number("acknowledgment", header->acknowledgment, 8, 4);
  number("header length", header->header_length(), 12, 1);
  field("flags", tcp_flags_to_string(header->flags), 13, 1);
  number("window", header->window, 14, 2);
  field("checksum", hex(header->checksum.value(), 4), 16, 2);
  number("urgent pointer", header->urgent_pointer, 18, 2);
  const std::uint16_t header_bytes = header->header_length();
  if (header_bytes < kTcpHeaderBytes || header_bytes > end_ - at_) {
    note("bad header length " + std::to_string(header_bytes));
    return;
  }
  if (header_bytes > kTcpHeaderBytes) {
    tcp_options(rest().first(header_bytes).subspan(kTcpHeaderBytes));
  }
  verify(rest(), 16, pseudo_header(IpProtocol::tcp));
  at_ += header_bytes;
  next_ = Next::data;
}

void Dissector::tcp_options(ConstBytes options) {
  std::string text;
  std::size_t at = 0;
  while (at < options.size() && options[at] != 0) {
    text += text.empty() ? "" : ",";
    if (options[at] == 1) {
      text += "nop";
      ++at;
      continue;
    }
    const std::size_t length = at + 1 < options.size() ? options[at + 1] : 0;
    if (length < 2 || length > options.size() - at) {
      note("bad option length");
      break;
    }
    text += tcp_option_to_string(options[at], options.subspan(at + 2, length - 2));
    at += length;
  }
  field("options", text, kTcpHeaderBytes, options.size());
}

void Dissector::udp() {
  const auto* header = begin_layer<UdpHeader>("udp");
  if (header == nullptr) {
    return;
  }
  layer().summary = "udp " + std::to_string(header->source_port.value()) + " > " +
                    std::to_string(header->destination_port.value());
  number("source port", header->source_port, 0, 2);
  number("destination port", header->destination_port, 2, 2);
  number("length", header->length, 4, 2);
  field("checksum", hex(header->checksum.value(), 4), 6, 2);
  if (header->length.value() < kUdpHeaderBytes) {
    note("bad length " + std::to_string(header->length.value()));
    return;
  }
  // The length of a first fragment counts the datagram and not what is here.
  if (!incomplete_) {
    limit(header->length, "length");
  }
  if (header->checksum.value() != 0) {
    verify(rest(), 6, pseudo_header(IpProtocol::udp));
  } else if (ip_is_v6_) {
    note("no checksum");  // RFC 8200 section 8.1
  }
  at_ += kUdpHeaderBytes;
  next_ = Next::data;
}

void Dissector::icmp() {
  const auto* header = begin_layer<IcmpHeader>("icmp");
  if (header == nullptr) {
    return;
  }
  layer().summary = "icmp " + to_string(header->type);
  field("type", to_string(header->type), 0, 1);
  number("code", header->code, 1, 1);
  field("checksum", hex(header->checksum.value(), 4), 2, 2);
  const std::uint32_t rest_of_header = header->rest;
  verify(rest(), 2, {});
  next_ = Next::data;
  switch (header->type) {
    case IcmpType::echo_reply:
    case IcmpType::echo_request:
      number("id", rest_of_header >> 16, 4, 2);
      number("sequence", rest_of_header & 0xffff, 6, 2);
      layer().summary += " id " + std::to_string(rest_of_header >> 16) + " seq " +
                         std::to_string(rest_of_header & 0xffff);
      break;
    case IcmpType::destination_unreachable:
    case IcmpType::redirect:
    case IcmpType::time_exceeded:
    case IcmpType::parameter_problem:
      layer().summary += " code " + std::to_string(header->code);
      if (header->type == IcmpType::destination_unreachable &&
          header->code == kIcmpFragmentationNeeded) {
        layer().summary += " mtu " + std::to_string(rest_of_header & 0xffff);
      }
      field("rest", hex(rest_of_header, 8), 4, 4);
      quoted_ = true;
      next_ = Next::ip;
      break;
    default:
      field("rest", hex(rest_of_header, 8), 4, 4);
      break;
  }
  at_ += sizeof *header;
}

void Dissector::icmpv6() {
  const auto* header = begin_layer<Icmpv6Header>("icmpv6");
  if (header == nullptr) {
    return;
  }
  layer().summary = "icmpv6 " + to_string(header->type);
  field("type", to_string(header->type), 0, 1);
  number("code", header->code, 1, 1);
  field("checksum", hex(header->checksum.value(), 4), 2, 2);
  const std::uint32_t body = header->body;
  verify(rest(), 2, pseudo_header(IpProtocol::icmpv6));
  next_ = Next::data;
  switch (header->type) {
    case Icmpv6Type::echo_reply:
    case Icmpv6Type::echo_request:
      number("id", body >> 16, 4, 2);
      number("sequence", body & 0xffff, 6, 2);
      layer().summary +=
          " id " + std::to_string(body >> 16) + " seq " + std::to_string(body & 0xffff);
      break;
    case Icmpv6Type::destination_unreachable:
    case Icmpv6Type::packet_too_big:
    case Icmpv6Type::time_exceeded:
    case Icmpv6Type::parameter_problem:
      layer().summary += header->type == Icmpv6Type::packet_too_big
                             ? " mtu " + std::to_string(body)
                             : " code " + std::to_string(header->code);
      field("body", hex(body, 8), 4, 4);
      quoted_ = true;
      next_ = Next::ip;
      break;
    default:
      field("body", hex(body, 8), 4, 4);
      break;
  }
  at_ += sizeof *header;
}

void Dissector::data() {
  const std::size_t bytes = end_ - at_;
  std::string summary = std::exchange(what_, {});
  if (!summary.empty()) {
    summary += " ";
  }
  summary += "len " + std::to_string(bytes);
  layers_.push_back({"data", std::move(summary), {}, {}});
  number("length", bytes, 0, bytes);
}

}  // namespace

std::vector<DescribedLayer> dissect(ConstBytes packet) {
  return Dissector{packet}.run();
}

}  // namespace ringway::wire
