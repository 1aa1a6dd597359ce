// Strict readers of single values: text in, value or complaint out. They know nothing of places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/codes.h"
#include "config/fields.h"
#include "config/model.h"
#include "config/tree.h"
#include "netio/wire/address.h"

namespace ringway::config {

// Why a value is refused. The text continues a sentence that begins with the key: "must be ...".
struct Complaint {
  Code code{};
  std::string text;
  std::string hint;
};

template <class T>
using Read = std::variant<T, Complaint>;

struct Number {
  std::uint32_t value = 0;
  bool is_word = false;  // the row's word (inherit, auto) stands instead; value is 0 then
  friend bool operator==(const Number&, const Number&) = default;
};

// Precondition of all: the node is a scalar.

// Exactly true or false; YAML 1.1's yes, no, on, off are refused, since readers disagree on them.
[[nodiscard]] Read<bool> read_boolean(const ConfigNode& node);
// Decimal without sign or leading zero, within the row's range; or the row's word.
[[nodiscard]] Read<Number> read_number(const ConfigNode& node, const Field& field);
// As `ip tunnel` takes it: decimal, 0x hexadecimal, or dotted quad.
[[nodiscard]] Read<Number> read_gre_key(const ConfigNode& node);
// The index of the word in the row's list.
[[nodiscard]] Read<Number> read_choice(const ConfigNode& node, const Field& field);
[[nodiscard]] Read<Local> read_local(const ConfigNode& node);
[[nodiscard]] Read<Remote> read_remote(const ConfigNode& node);
[[nodiscard]] Read<wire::IpPrefix> read_prefix(const ConfigNode& node);

// Whether an interface may be created by this name: what the kernel takes (net/core/dev.c
// dev_valid_name), less what it expands (%), has already (lo) or what confuses commands.
[[nodiscard]] std::optional<Complaint> check_new_interface_name(std::string_view name);
// The same for the name of a tunnel, which may be longer if `interface` is given.
[[nodiscard]] std::optional<Complaint> check_tunnel_name(std::string_view name);

}  // namespace ringway::config
