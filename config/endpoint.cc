// Addresses, host names, interface names and prefixes: the readers with the most to explain.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "config/codes.h"
#include "config/model.h"
#include "config/scalar.h"
#include "config/source.h"
#include "config/tree.h"
#include "netio/wire/address.h"

namespace ringway::config {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kFourParts =
    "an IPv4 address has four parts of 0..255 without leading zeros";

// Digits and dots only: meant as an address, whatever else it might name.
bool looks_like_ipv4(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789.") == std::string_view::npos &&
         text.find_first_of(kDigits) != std::string_view::npos;
}

// With or without the zone and the brackets that people write around IPv6 addresses.
bool looks_like_ipv6(std::string_view text) noexcept {
  if (text.starts_with('[')) {
    text = text.substr(1, text.find(']') - 1);
  }
  return wire::parse_ipv6(text.substr(0, text.find('%'))).has_value();
}

// RFC 1123 section 2.1, and the underscore, which names in private networks do contain.
bool is_host_name(std::string_view text) noexcept {
  constexpr std::size_t kNameMax = 253;
  constexpr std::size_t kLabelMax = 63;
  if (text.ends_with('.')) {
    text.remove_suffix(1);
  }
  if (text.empty() || text.size() > kNameMax) {
    return false;
  }
  std::string_view label;
  for (std::size_t start = 0; start <= text.size(); start += label.size() + 1) {
    label = text.substr(start, text.find('.', start) - start);
    const bool is_sound = std::all_of(label.begin(), label.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    });
    if (!is_sound || label.empty() || label.size() > kLabelMax || label.starts_with('-') ||
        label.ends_with('-')) {
      return false;
    }
  }
  // A name whose last label is a number would be an address (RFC 3696 section 2).
  return label.find_first_not_of(kDigits) != std::string_view::npos;
}

// net/core/dev.c dev_valid_name, and printable ASCII, since the kernel's isspace takes bytes of
// UTF-8 for spaces.
bool is_interface_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kInterfaceNameMax && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '/' && c != ':'; });
}

// What is wrong with a text that stands for an address, however it was meant.
std::string address_hint(std::string_view text, std::string_view expected) {
  if (text.find('/') != std::string_view::npos) {
    return "the address alone, without a prefix length";
  }
  if (looks_like_ipv4(text)) {
    return std::string{kFourParts};
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && colon == text.rfind(':') &&
      text.find_first_not_of(kDigits, colon + 1) == std::string_view::npos) {
    return "these tunnels have no port";
  }
  const auto high = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; };
  if (std::any_of(text.begin(), text.end(), high)) {
    return "write an international name in its ASCII form (xn--...)";
  }
  return std::string{expected};
}

Complaint ipv6_underlay(std::string_view text) {
  return {Code::ipv6_underlay,
          fmt::format("is an IPv6 address: {}; this release carries tunnels over IPv4 only",
                      quoted(text)),
          "use the IPv4 address"};
}

std::optional<Complaint> check_name_characters(std::string_view name) {
  if (name == "." || name == ".." || name == "lo" || name == "all" || name == "default") {
    return Complaint{Code::bad_name, fmt::format("cannot be {}", quoted(name)),
                     "the system has another meaning for this name"};
  }
  const bool is_sound = std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7f && std::string_view{"/:%\"'\\"}.find(c) == std::string_view::npos;
  });
  if (name.empty() || !is_sound || name.starts_with('-')) {
    return Complaint{Code::bad_name, fmt::format("is not a possible name: {}", quoted(name)),
                     "letters, digits and . _ - +, no spaces, not a - in front"};
  }
  return std::nullopt;
}

std::string prefix_hint(std::string_view text) {
  if (text == "default") {
    return "write 0.0.0.0/0, or ::/0 for IPv6";
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return looks_like_ipv4(text) ? std::string{kFourParts} : "10.0.0.0/8 or fd00::/8";
  }
  const std::string_view address = text.substr(0, slash);
  if (wire::parse_ipv4(address)) {
    return "the length of an IPv4 prefix is 0..32";
  }
  if (wire::parse_ipv6(address)) {
    return "the length of an IPv6 prefix is 0..128";
  }
  return looks_like_ipv4(address) ? std::string{kFourParts} : "10.0.0.0/8 or fd00::/8";
}

}  // namespace

std::optional<Complaint> check_new_interface_name(std::string_view name) {
  if (auto complaint = check_name_characters(name)) {
    return complaint;
  }
  if (name.size() > kInterfaceNameMax) {
    return Complaint{Code::name_too_long,
                     fmt::format("is too long for an interface: {}", quoted(name)),
                     fmt::format("at most {} characters", kInterfaceNameMax)};
  }
  return std::nullopt;
}

std::optional<Complaint> check_tunnel_name(std::string_view name) {
  if (auto complaint = check_name_characters(name)) {
    return complaint;
  }
  if (name.size() > kTunnelNameMax) {
    return Complaint{Code::name_too_long, fmt::format("is too long: {}", quoted(name)),
                     fmt::format("at most {} characters", kTunnelNameMax)};
  }
  return std::nullopt;
}

Read<Local> read_local(const ConfigNode& node) {
  const std::string_view text = node.text;
  if (const auto address = wire::parse_ipv4(text)) {
    if (address->is_unspecified()) {
      return Local{};
    }
    if (address->is_multicast() || address->is_broadcast() || address->is_loopback()) {
      return Complaint{Code::unusable_local,
                       fmt::format("cannot be {}: packets cannot be sent from it", text),
                       "an address of this host that the remote can reach"};
    }
    return Local{*address};
  }
  if (text == "any") {
    return Local{};
  }
  if (looks_like_ipv6(text)) {
    return ipv6_underlay(text);
  }
  if (looks_like_ipv4(text) || !is_interface_name(text)) {
    return Complaint{
        Code::not_an_address,
        fmt::format("is neither an IPv4 address nor an interface: {}", quoted(text)),
        address_hint(text, is_host_name(text) ? "host names are for 'remote' only"
                                              : "an address of this host, its interface, or any")};
  }
  return Local{InterfaceName{std::string{text}}};
}

Read<Remote> read_remote(const ConfigNode& node) {
  const std::string_view text = node.text;
  const auto address = wire::parse_ipv4(text);
  if (text == "any" || (address && address->is_unspecified())) {
    return Complaint{Code::unusable_remote, fmt::format("cannot be {}", quoted(text)),
                     "a tunnel has one remote, given by address or name"};
  }
  if (address && (address->is_multicast() || address->is_broadcast() || address->is_loopback())) {
    const std::string_view what = address->is_multicast()   ? "a multicast group"
                                  : address->is_broadcast() ? "the broadcast address"
                                                            : "this host itself (loopback)";
    return Complaint{Code::unusable_remote, fmt::format("cannot be {}, {}", text, what),
                     "the unicast address of the other end"};
  }
  if (address) {
    return Remote{*address};
  }
  if (looks_like_ipv6(text)) {
    return ipv6_underlay(text);
  }
  if (!is_host_name(text)) {
    return Complaint{Code::not_an_address,
                     fmt::format("is neither an IPv4 address nor a host name: {}", quoted(text)),
                     address_hint(text, "an address such as 192.0.2.1, or a host name")};
  }
  return Remote{HostName{std::string{text}}};
}

Read<wire::IpPrefix> read_prefix(const ConfigNode& node) {
  if (const auto prefix = wire::parse_prefix(node.text)) {
    return *prefix;
  }
  return Complaint{Code::not_a_prefix,
                   fmt::format("holds {}, which is not a prefix", quoted(node.text)),
                   prefix_hint(node.text)};
}

}  // namespace ringway::config
