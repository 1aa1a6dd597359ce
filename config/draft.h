// A configuration as far as single values can be judged: every key that was written with its value
// and its place, defaults applied. What the values mean together is for build.cc and validate.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/fields.h"
#include "config/model.h"
#include "config/report.h"
#include "config/scalar.h"
#include "config/tree.h"
#include "netio/wire/address.h"

namespace ringway::config {

// An item of `addresses` or `routes`.
struct PrefixItem {
  Span where;
  wire::IpPrefix prefix;
  std::uint32_t metric = 0;
  std::string via;  // transit routes only
  Span via_at;
};

using Value =
    std::variant<std::monostate, bool, Number, std::string, Local, Remote, std::vector<PrefixItem>>;

// One key of one map. Points into the tree, which must live as long.
struct Slot {
  const ConfigNode* key = nullptr;  // null: not written
  const ConfigNode* value = nullptr;
  Value content;          // monostate: not written, or refused with a diagnostic
  bool is_guess = false;  // an unknown key stands there that was probably meant to be this one

  [[nodiscard]] bool is_given() const noexcept { return key != nullptr; }
  [[nodiscard]] bool is_sound() const noexcept {
    return !is_given() || !std::holds_alternative<std::monostate>(content);
  }
};

class Slots {
 public:
  [[nodiscard]] Slot& operator[](FieldId id) noexcept {
    return slots_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const Slot& operator[](FieldId id) const noexcept {
    return slots_[static_cast<std::size_t>(id)];
  }
  // The value if the key was written and is sound.
  template <class T>
  [[nodiscard]] const T* get(FieldId id) const noexcept {
    return std::get_if<T>(&(*this)[id].content);
  }

 private:
  std::array<Slot, kFieldCount> slots_;
};

struct TunnelDraft {
  std::string name;
  const ConfigNode* key = nullptr;
  std::optional<Kind> kind;  // empty: missing or refused
  Slots slots;
};

struct Draft {
  Slots settings;  // top level and daemon
  Slots defaults;
  std::vector<TunnelDraft> tunnels;
  std::vector<PrefixItem> transit;
};

// Reads a whole document. Empty if it is of an unknown version or no map, which is reported.
[[nodiscard]] std::optional<Draft> read_draft(const ConfigNode& root, Report& report);

}  // namespace ringway::config
