// IP addresses and prefixes: as bytes in a packet, as text in a file.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "netio/wire/endian.h"

namespace ringway::wire {

struct Ipv4Address {
  std::array<std::uint8_t, 4> bytes{};

  [[nodiscard]] static constexpr Ipv4Address from_u32(std::uint32_t host_order) noexcept {
    return std::bit_cast<Ipv4Address>(Be32{host_order});
  }
  // In host byte order, so that prefixes and ranges compare as numbers.
  [[nodiscard]] constexpr std::uint32_t to_u32() const noexcept {
    return std::bit_cast<Be32>(bytes).value();
  }
  [[nodiscard]] constexpr bool is_unspecified() const noexcept { return to_u32() == 0; }
  [[nodiscard]] constexpr bool is_multicast() const noexcept { return (bytes[0] & 0xf0) == 0xe0; }
  [[nodiscard]] constexpr bool is_loopback() const noexcept { return bytes[0] == 127; }
  [[nodiscard]] constexpr bool is_broadcast() const noexcept { return to_u32() == 0xffffffff; }

  friend constexpr auto operator<=>(const Ipv4Address&, const Ipv4Address&) noexcept = default;
};

struct Ipv6Address {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] constexpr bool is_unspecified() const noexcept { return *this == Ipv6Address{}; }
  [[nodiscard]] constexpr bool is_multicast() const noexcept { return bytes[0] == 0xff; }
  [[nodiscard]] constexpr bool is_loopback() const noexcept {
    return *this == Ipv6Address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  }
  [[nodiscard]] constexpr bool is_link_local() const noexcept {
    return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  }

  friend constexpr auto operator<=>(const Ipv6Address&, const Ipv6Address&) noexcept = default;
};

static_assert(sizeof(Ipv4Address) == 4 && alignof(Ipv4Address) == 1);
static_assert(sizeof(Ipv6Address) == 16 && alignof(Ipv6Address) == 1);

using IpAddress = std::variant<Ipv4Address, Ipv6Address>;

// An address and how many of its leading bits count. The other bits are kept as given, since
// 10.0.0.1/24 on an interface means both a host and a network.
template <class Address>
struct Prefix {
  Address address{};
  std::uint8_t length = 0;  // 0..32 or 0..128

  friend constexpr bool operator==(const Prefix&, const Prefix&) noexcept = default;
};

using Ipv4Prefix = Prefix<Ipv4Address>;
using Ipv6Prefix = Prefix<Ipv6Address>;

struct IpPrefix {
  IpAddress address;
  std::uint8_t length = 0;

  [[nodiscard]] bool is_ipv4() const noexcept {
    return std::holds_alternative<Ipv4Address>(address);
  }
  friend bool operator==(const IpPrefix&, const IpPrefix&) noexcept = default;
};

// Text to address: dotted quad only (no "10.1", no octal), RFC 4291 forms for IPv6, no zone.
[[nodiscard]] std::optional<Ipv4Address> parse_ipv4(std::string_view text) noexcept;
[[nodiscard]] std::optional<Ipv6Address> parse_ipv6(std::string_view text) noexcept;
[[nodiscard]] std::optional<IpAddress> parse_ip(std::string_view text) noexcept;
// "10.0.0.0/8" or "2001:db8::/32"; an address alone is a host prefix (/32, /128).
[[nodiscard]] std::optional<IpPrefix> parse_prefix(std::string_view text) noexcept;

[[nodiscard]] std::string to_string(const Ipv4Address& address);
[[nodiscard]] std::string to_string(const Ipv6Address& address);  // RFC 5952
[[nodiscard]] std::string to_string(const IpAddress& address);
[[nodiscard]] std::string to_string(const IpPrefix& prefix);

// The prefix with its host bits cleared, as a routing table wants it.
[[nodiscard]] IpPrefix network_of(const IpPrefix& prefix) noexcept;
// True if the leading `length` bits of both are equal. Different families never match.
[[nodiscard]] bool contains(const IpPrefix& prefix, const IpAddress& address) noexcept;

}  // namespace ringway::wire
