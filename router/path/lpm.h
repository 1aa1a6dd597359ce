// Lpm: longest-prefix match, built once and then only read.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "netio/wire/address.h"

namespace ringway::router {

// A binary trie over the bits of an address, its nodes in one array. Correct first: a lookup walks
// at most 32 or 128 nodes and touches nothing but this table.
template <class Address, class Value>
class Lpm {
 public:
  // The value of the longest inserted prefix that covers `address`, or null.
  [[nodiscard]] const Value* lookup(const Address& address) const noexcept {
    std::uint32_t found = kNone;
    std::uint32_t node = 0;
    for (std::uint32_t depth = 0;; ++depth) {
      if (nodes_[node].value != kNone) {
        found = nodes_[node].value;
      }
      if (depth == kBits) {
        break;
      }
      node = nodes_[node].child[bit(address, depth)];
      if (node == 0) {  // the root is nobody's child: 0 means none
        break;
      }
    }
    return found == kNone ? nullptr : &values_[found];
  }

  // Adds a prefix (host bits are ignored), or replaces its value. Not for the packet path.
  void insert(const wire::Prefix<Address>& prefix, Value value) {
    std::uint32_t node = 0;
    for (std::uint32_t depth = 0; depth < prefix.length; ++depth) {
      const std::size_t side = bit(prefix.address, depth);
      if (nodes_[node].child[side] == 0) {
        nodes_[node].child[side] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
      }
      node = nodes_[node].child[side];
    }
    if (nodes_[node].value == kNone) {
      nodes_[node].value = static_cast<std::uint32_t>(values_.size());
      values_.push_back(std::move(value));
    } else {
      values_[nodes_[node].value] = std::move(value);
    }
  }

  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }

 private:
  static constexpr std::uint32_t kBits = sizeof(Address) * 8;
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Node {
    std::array<std::uint32_t, 2> child{};
    std::uint32_t value = kNone;
  };

  static std::size_t bit(const Address& address, std::uint32_t index) noexcept {
    return (address.bytes[index / 8] >> (7 - index % 8)) & 1U;
  }

  std::vector<Node> nodes_ = std::vector<Node>(1);  // [0] is the root
  std::vector<Value> values_;
};

}  // namespace ringway::router
