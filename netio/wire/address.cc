// Addresses and prefixes as text, and the arithmetic of prefixes.
#include "netio/wire/address.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace ringway::wire {

namespace {

// inet_pton takes dotted quads without leading zeros only, and for IPv6 the forms of RFC 4291
// without zone: what we want, once the text is known to hold no NUL that would end it early.
template <class Address>
std::optional<Address> parse(int family, std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::copy(text.begin(), text.end(), terminated.begin());
  Address address;
  if (::inet_pton(family, terminated.data(), address.bytes.data()) != 1) {
    return std::nullopt;
  }
  return address;
}

// inet_ntop writes RFC 5952: lower case, no leading zeros, "::" for the first longest run of two
// or more zero groups, and a dotted tail for IPv4-mapped addresses.
template <class Address>
std::string format(int family, const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, address.bytes.data(), text.data(), text.size());
  return text.data();
}

// One to three digits without a leading zero, at most `max`.
std::optional<std::uint8_t> parse_prefix_length(std::string_view text, std::uint32_t max) noexcept {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  std::uint32_t length = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    length = length * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  if (length > max) {
    return std::nullopt;
  }
  return static_cast<std::uint8_t>(length);
}

std::uint8_t bits_of(const IpAddress& address) noexcept {
  return std::holds_alternative<Ipv4Address>(address) ? 32 : 128;
}

// The bytes of an address of either family; valid as long as the address is.
std::span<const std::uint8_t> bytes_in(const IpAddress& address) noexcept {
  if (const auto* ipv4 = std::get_if<Ipv4Address>(&address)) {
    return ipv4->bytes;
  }
  return std::get_if<Ipv6Address>(&address)->bytes;
}

// The mask of byte `index` under a prefix of `length` bits.
std::uint8_t mask_of_byte(std::size_t index, std::uint8_t length) noexcept {
  const std::size_t bits_before = index * 8;
  const std::size_t bits =
      length <= bits_before ? 0 : std::min<std::size_t>(8, length - bits_before);
  return static_cast<std::uint8_t>(0xff00U >> bits);
}

template <class Address>
Address masked(Address address, std::uint8_t length) noexcept {
  for (std::size_t i = 0; i < address.bytes.size(); ++i) {
    address.bytes[i] &= mask_of_byte(i, length);
  }
  return address;
}

}  // namespace

std::optional<Ipv4Address> parse_ipv4(std::string_view text) noexcept {
  return parse<Ipv4Address>(AF_INET, text);
}

std::optional<Ipv6Address> parse_ipv6(std::string_view text) noexcept {
  return parse<Ipv6Address>(AF_INET6, text);
}

std::optional<IpAddress> parse_ip(std::string_view text) noexcept {
  if (const auto ipv4 = parse_ipv4(text)) {
    return *ipv4;
  }
  if (const auto ipv6 = parse_ipv6(text)) {
    return *ipv6;
  }
  return std::nullopt;
}

std::optional<IpPrefix> parse_prefix(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const auto address = parse_ip(text.substr(0, slash));
  if (!address) {
    return std::nullopt;
  }
  const std::uint8_t bits = bits_of(*address);
  if (slash == std::string_view::npos) {
    return IpPrefix{*address, bits};
  }
  const auto length = parse_prefix_length(text.substr(slash + 1), bits);
  if (!length) {
    return std::nullopt;
  }
  return IpPrefix{*address, *length};
}

std::string to_string(const Ipv4Address& address) {
  return format(AF_INET, address);
}

std::string to_string(const Ipv6Address& address) {
  return format(AF_INET6, address);
}

std::string to_string(const IpAddress& address) {
  return std::visit([](const auto& one) { return to_string(one); }, address);
}

std::string to_string(const IpPrefix& prefix) {
  return to_string(prefix.address) + "/" + std::to_string(prefix.length);
}

IpPrefix network_of(const IpPrefix& prefix) noexcept {
  IpPrefix network = prefix;
  if (auto* ipv4 = std::get_if<Ipv4Address>(&network.address)) {
    *ipv4 = masked(*ipv4, prefix.length);
  } else if (auto* ipv6 = std::get_if<Ipv6Address>(&network.address)) {
    *ipv6 = masked(*ipv6, prefix.length);
  }
  return network;
}

bool contains(const IpPrefix& prefix, const IpAddress& address) noexcept {
  if (prefix.address.index() != address.index()) {
    return false;
  }
  const auto ours = bytes_in(prefix.address);
  const auto theirs = bytes_in(address);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (((ours[i] ^ theirs[i]) & mask_of_byte(i, prefix.length)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace ringway::wire
