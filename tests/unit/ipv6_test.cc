// The walk along IPv6's extension headers: rows, and random chains against a slow model.
#include "netio/wire/ipv6.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

#include <doctest/doctest.h>

#include "netio/wire/header.h"
#include "netio/wire/protocols.h"
#include "tests/support/builder.h"
#include "tests/support/random.h"

namespace ringway {

using test::PacketBuilder;
using test::PacketBytes;
using wire::IpProtocol;
using wire::Ipv6UpperLayer;

namespace {

PacketBuilder start() {
  return test::packet().ipv6("2001:db8::1", "2001:db8::2");
}

PacketBuilder with_hops(int count) {
  PacketBuilder builder = start();
  for (int i = 0; i < count; ++i) {
    builder = builder.destination_options();
  }
  return builder;
}

// The same walk as a recursion over what is left.
Ipv6UpperLayer slow_walk(std::span<const std::uint8_t> left, std::uint8_t protocol,
                         std::uint16_t offset, int headers_left, bool is_fragment) {
  const Ipv6UpperLayer here{.protocol = static_cast<IpProtocol>(protocol),
                            .offset = offset,
                            .is_fragment = is_fragment,
                            .is_later_fragment = false,
                            .complete = false};
  const bool by_eights = protocol == 0 || protocol == 43 || protocol == 60 || protocol == 135;
  if (!by_eights && protocol != 44 && protocol != 51) {
    Ipv6UpperLayer found = here;
    found.complete = headers_left >= 0;
    return found;
  }
  if (headers_left < 0 || left.size() < 2) {
    return here;
  }
  std::size_t length = by_eights ? left[1] * 8U + 8U : left[1] * 4U + 8U;
  if (protocol == 44) {
    length = 8;
  }
  if (left.size() < length) {
    return here;
  }
  const auto next = static_cast<std::uint16_t>(offset + length);
  if (protocol == 44 && left[2] * 256 + left[3] > 7) {
    return {.protocol = static_cast<IpProtocol>(left[0]),
            .offset = next,
            .is_fragment = true,
            .is_later_fragment = true,
            .complete = headers_left > 0};
  }
  return slow_walk(left.subspan(length), left[0], next, headers_left - 1,
                   is_fragment || protocol == 44);
}

bool same(const Ipv6UpperLayer& a, const Ipv6UpperLayer& b) {
  return a.protocol == b.protocol && a.offset == b.offset && a.is_fragment == b.is_fragment &&
         a.is_later_fragment == b.is_later_fragment && a.complete == b.complete;
}

}  // namespace

TEST_CASE("where the upper layer begins") {
  struct Row {
    std::string_view name;
    PacketBytes packet;
    IpProtocol protocol;
    std::uint16_t offset;
    bool complete;
    bool is_fragment = false;
    bool is_later_fragment = false;
  };
  const auto esp = static_cast<IpProtocol>(50);
  const Row rows[] = {
      {"udp at once", start().udp(), IpProtocol::udp, 40, true},
      {"nothing follows", start(), IpProtocol::no_next_header, 40, true},
      {"hop-by-hop", start().hop_by_hop().tcp(), IpProtocol::tcp, 48, true},
      {"long options", start().destination_options(PacketBytes(70)).udp(), IpProtocol::udp, 112,
       true},
      {"routing", start().routing(PacketBytes(22)).udp(), IpProtocol::udp, 64, true},
      {"authentication counts in fours", start().authentication().udp(), IpProtocol::udp, 64, true},
      {"authentication of 28 bytes", start().authentication(20).udp(), IpProtocol::udp, 72, true},
      {"all kinds in order",
       start().hop_by_hop().destination_options().routing().fragment().authentication().udp(),
       IpProtocol::udp, 96, true, true},
      {"esp is an upper layer", test::packet().ipv6("::1", "::2", {.next_header = 50}).payload(20),
       esp, 40, true},
      {"gre inside", start().hop_by_hop().gre().ipv4("10.0.0.1", "10.0.0.2"), IpProtocol::gre, 48,
       true},
      {"atomic fragment", start().fragment({.id = 7}).udp(), IpProtocol::udp, 48, true, true},
      {"first fragment", start().fragment({.more = true, .id = 7}).udp().payload(24),
       IpProtocol::udp, 48, true, true},
      // The bytes of this one look like a TCP header; they are the middle of a payload.
      {"later fragment", start().fragment({.offset = 1480, .id = 7}).tcp(), IpProtocol::tcp, 48,
       true, true, true},
      {"later fragment of options",
       start().fragment({.offset = 8, .more = true}).destination_options().udp(),
       IpProtocol::destination_options, 48, true, true, true},
      {"eight headers", with_hops(8).udp(), IpProtocol::udp, 104, true},
      {"nine headers", with_hops(9).udp(), IpProtocol::udp, 112, false},
      {"thirty headers", with_hops(30).udp(), IpProtocol::destination_options, 112, false},
      {"announced header missing", start().hop_by_hop().truncated(40), IpProtocol::hop_by_hop, 40,
       false},
      {"cut within the first two bytes", start().hop_by_hop().truncated(41), IpProtocol::hop_by_hop,
       40, false},
      {"cut within its length", start().hop_by_hop().udp().truncated(47), IpProtocol::hop_by_hop,
       40, false},
      {"fragment header cut", start().fragment().truncated(47), IpProtocol::fragment, 40, false},
      {"length far behind the end", start().hop_by_hop().udp().patched(41, {255}),
       IpProtocol::hop_by_hop, 40, false},
      {"second header cut", start().hop_by_hop().destination_options().udp().truncated(50),
       IpProtocol::destination_options, 48, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Ipv6UpperLayer found = wire::find_upper_layer(row.packet);
    CHECK(static_cast<int>(found.protocol) == static_cast<int>(row.protocol));
    CHECK(found.offset == row.offset);
    CHECK(found.complete == row.complete);
    CHECK(found.is_fragment == row.is_fragment);
    CHECK(found.is_later_fragment == row.is_later_fragment);
  }
}

TEST_CASE("random chains: the walk equals the slow one and stays within the packet") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  constexpr std::uint8_t kKinds[] = {0, 43, 44, 51, 60, 135, 17, 50};
  std::size_t complete = 0;
  for (int i = 0; i < 100'000; ++i) {
    PacketBytes packet = test::random_bytes(random, 40 + random() % 120);
    packet[6] = kKinds[random() % 6];
    // Every eighth byte may begin a header: make most of them do so.
    for (std::size_t at = 40; at + 1 < packet.size(); at += 8) {
      packet[at] = kKinds[random() % 8];
      packet[at + 1] = static_cast<std::uint8_t>(random() % 4);
      if (at + 3 < packet.size() && random() % 2 == 0) {
        packet[at + 2] = 0;
        packet[at + 3] = static_cast<std::uint8_t>(random() % 8);
      }
    }
    const Ipv6UpperLayer got = wire::find_upper_layer(packet);
    const Ipv6UpperLayer want = slow_walk(std::span{packet}.subspan(40), packet[6], 40,
                                          wire::kIpv6ExtensionHeadersMax, false);
    REQUIRE(same(got, want));
    REQUIRE(got.offset <= packet.size());
    complete += got.complete ? 1 : 0;
  }
  CHECK(complete > 10'000);
  CHECK(complete < 90'000);
}

TEST_CASE("the fields of the first word") {
  const PacketBytes bytes =
      test::packet().ipv6("::1", "::2", {.traffic_class = 0xb9, .flow_label = 0xabcde});
  PacketBytes changed = bytes;
  auto* header = wire::header_at<wire::Ipv6Header>(wire::Bytes{changed});
  CHECK(header->version() == 6);
  CHECK(header->traffic_class() == 0xb9);
  CHECK(header->flow_label() == 0xabcde);
  for (int value = 0; value < 256; ++value) {
    header->set_traffic_class(static_cast<std::uint8_t>(value));
    CHECK(changed ==
          test::packet()
              .ipv6("::1", "::2",
                    {.traffic_class = static_cast<std::uint8_t>(value), .flow_label = 0xabcde})
              .bytes());
  }
}

}  // namespace ringway
