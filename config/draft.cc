// Walks the tree along the field table. One function per shape a value can have.
#include "config/draft.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "config/codes.h"
#include "config/fields.h"
#include "config/model.h"
#include "config/report.h"
#include "config/scalar.h"
#include "config/source.h"
#include "config/suggest.h"
#include "config/tree.h"
#include "netio/wire/address.h"

namespace ringway::config {

namespace {

// Where a map stands, for the reader and for the reader's words.
struct Scope {
  Section section = Section::top;
  std::string place;  // " in tunnel 'paris'"; empty at the top level
  bool in_defaults = false;
};

class Reader {
 public:
  Reader(const ConfigNode& root, Report& report) : root_{root}, report_{report} {}

  [[nodiscard]] std::optional<Draft> read();

 private:
  [[nodiscard]] bool is_known_version(const Slot& version);
  [[nodiscard]] static std::string subject(const Field& row, const Scope& scope) {
    return quoted(row.name()) + scope.place;
  }
  void complain(const ConfigNode& where, const std::string& subject, const Complaint& complaint);
  [[nodiscard]] bool has_shape(const ConfigNode& key, const ConfigNode& value, const Field& row,
                               const Scope& scope);

  void read_map(const ConfigNode& map, const Scope& scope, Slots& slots);
  void read_entry(const ConfigNode& key, const ConfigNode& value, const Scope& scope, Slots& slots);
  [[nodiscard]] Value read_value(const ConfigNode& value, const Field& row, const Scope& scope);
  template <class T>
  [[nodiscard]] Value settle(const ConfigNode& node, const Read<T>& read,
                             const std::string& subject);
  void unknown_key(const ConfigNode& key, const ConfigNode& value, const Scope& scope,
                   Slots& slots);
  void require(Section section, const Slots& slots, Span where, const std::string& whole);

  void read_tunnels(const ConfigNode& map);
  void read_tunnel(const ConfigNode& key, const ConfigNode& value);
  void settle_kind(TunnelDraft& tunnel);
  void inherit_defaults(TunnelDraft& tunnel) const;

  [[nodiscard]] std::vector<PrefixItem> read_addresses(const ConfigNode& list, const Field& row,
                                                       const Scope& scope);
  [[nodiscard]] std::vector<PrefixItem> read_routes(const ConfigNode& list, const Field& row,
                                                    const Scope& scope);
  [[nodiscard]] std::optional<PrefixItem> read_route(const ConfigNode& item, const Field& row,
                                                     const Scope& scope);
  [[nodiscard]] std::optional<PrefixItem> read_route_map(const ConfigNode& item, Section section,
                                                         const Scope& outer);
  [[nodiscard]] bool is_destination(const ConfigNode& where, wire::IpPrefix& prefix,
                                    const std::string& subject);
  [[nodiscard]] bool is_within_limit(const ConfigNode& list, std::size_t limit, const Field& row,
                                     const Scope& scope);

  const ConfigNode& root_;
  Report& report_;
  Draft draft_;
};

bool is_container(Type type) noexcept {
  return type == Type::section || type == Type::addresses || type == Type::routes;
}

bool is_host_prefix(const wire::IpPrefix& prefix) noexcept {
  return prefix.length == (prefix.is_ipv4() ? 32 : 128);
}

// The predicates of both families by one name.
template <class Predicate>
bool ask(const wire::IpAddress& address, Predicate predicate) {
  return std::visit(predicate, address);
}
constexpr auto kIsUnspecified = [](const auto& a) { return a.is_unspecified(); };
constexpr auto kIsLoopback = [](const auto& a) { return a.is_loopback(); };
constexpr auto kIsMulticast = [](const auto& a) { return a.is_multicast(); };

std::optional<Draft> Reader::read() {
  if (root_.is(ConfigNode::Kind::broken)) {
    return std::nullopt;
  }
  if (root_.is(ConfigNode::Kind::null)) {
    report_.file_error(Code::empty_file, "the file holds no configuration").help =
        "the smallest one has  version: 1  and a tunnel under  tunnels:";
    return std::nullopt;
  }
  if (!root_.is(ConfigNode::Kind::map)) {
    const bool lacks_space = root_.text.find(':') != std::string::npos;
    report_.error(Code::wrong_shape, root_.span, "the file must be a map of keys and values").hint =
        lacks_space ? "a space is missing after ':'" : "it begins with  version: 1";
    return std::nullopt;
  }
  // The version first: another one may mean other things by the same keys.
  for (std::size_t i = 0; i < root_.entries(); ++i) {
    if (root_.key(i).text == field(FieldId::version).name()) {
      read_entry(root_.key(i), root_.value(i), Scope{}, draft_.settings);
    }
  }
  if (!is_known_version(draft_.settings[FieldId::version])) {
    return std::nullopt;
  }
  read_map(root_, Scope{}, draft_.settings);
  require(Section::top, draft_.settings, root_.span, "the file");
  if (const Slot& defaults = draft_.settings[FieldId::defaults];
      defaults.is_given() && defaults.value->is(ConfigNode::Kind::map)) {
    read_map(*defaults.value, {Section::tunnel, " in 'defaults'", true}, draft_.defaults);
  }
  if (const Slot& daemon = draft_.settings[FieldId::daemon];
      daemon.is_given() && daemon.value->is(ConfigNode::Kind::map)) {
    read_map(*daemon.value, {Section::daemon, " in 'daemon'", false}, draft_.settings);
  }
  if (const Slot& tunnels = draft_.settings[FieldId::tunnels];
      tunnels.is_given() && tunnels.value->is(ConfigNode::Kind::map)) {
    read_tunnels(*tunnels.value);
  }
  if (auto* transit = draft_.settings.get<std::vector<PrefixItem>>(FieldId::transit_routes)) {
    draft_.transit = *transit;
  }
  return std::move(draft_);
}

bool Reader::is_known_version(const Slot& version) {
  const auto* number = std::get_if<Number>(&version.content);
  if (number == nullptr || number->value == 1) {
    return true;  // missing or no number: said elsewhere, and 1 is what is meant
  }
  report_
      .error(Code::unknown_version, version.value->span,
             fmt::format("version {} of the format is not known to this Ringway", number->value))
      .hint = "this release reads version 1";
  return false;
}

void Reader::complain(const ConfigNode& where, const std::string& subject,
                      const Complaint& complaint) {
  report_.error(complaint.code, where.span, fmt::format("{} {}", subject, complaint.text)).hint =
      complaint.hint;
}

template <class T>
Value Reader::settle(const ConfigNode& node, const Read<T>& read, const std::string& subject) {
  if (const auto* complaint = std::get_if<Complaint>(&read)) {
    complain(node, subject, *complaint);
    return {};
  }
  return Value{std::in_place_type<T>, std::get<T>(read)};
}

// Whether the value is a scalar, list or map as the row wants it. An empty container may be left
// out after its key, as it is when all of its lines are commented out.
bool Reader::has_shape(const ConfigNode& key, const ConfigNode& value, const Field& row,
                       const Scope& scope) {
  if (value.is(ConfigNode::Kind::broken)) {
    return false;
  }
  if (value.is(ConfigNode::Kind::null)) {
    if (!is_container(row.type)) {
      report_.error(Code::empty_value, key.span, subject(row, scope) + " has no value").hint =
          expectation(row);
    }
    return is_container(row.type);
  }
  const ConfigNode::Kind wanted = row.type == Type::section ? ConfigNode::Kind::map
                                  : is_container(row.type)  ? ConfigNode::Kind::sequence
                                                            : ConfigNode::Kind::scalar;
  if (value.is(wanted)) {
    return true;
  }
  const std::string_view found = value.is(ConfigNode::Kind::map)        ? "a map"
                                 : value.is(ConfigNode::Kind::sequence) ? "a list"
                                                                        : "a single value";
  auto& error = report_.error(
      Code::wrong_shape, value.span,
      fmt::format("{} must be {}, not {}", subject(row, scope), expectation(row), found));
  if (wanted == ConfigNode::Kind::sequence && value.is(ConfigNode::Kind::scalar) &&
      scope.section != Section::top) {
    error.hint = fmt::format("write [{}]", printable(value.text));
  }
  if (row.id == FieldId::tunnels && value.is(ConfigNode::Kind::sequence)) {
    error.hint = "write  NAME:  with its keys below, instead of  - name: NAME";
  }
  return false;
}

void Reader::read_map(const ConfigNode& map, const Scope& scope, Slots& slots) {
  for (std::size_t i = 0; i < map.entries(); ++i) {
    read_entry(map.key(i), map.value(i), scope, slots);
  }
}

void Reader::read_entry(const ConfigNode& key, const ConfigNode& value, const Scope& scope,
                        Slots& slots) {
  const Field* row = find_field(scope.section, key.text);
  if (row == nullptr) {
    unknown_key(key, value, scope, slots);
    return;
  }
  if (scope.in_defaults && !row->in_defaults) {
    report_
        .error(Code::not_a_default, key.span,
               fmt::format("{} cannot stand in 'defaults'", quoted(key.text)))
        .hint = "it belongs into each tunnel";
    return;
  }
  Slot& slot = slots[row->id];
  if (slot.is_given() && !slot.is_guess) {
    return;  // the version, which was read first
  }
  slot = Slot{};
  slot.key = &key;
  slot.value = &value;
  if (has_shape(key, value, *row, scope)) {
    slot.content = read_value(value, *row, scope);
  }
}

Value Reader::read_value(const ConfigNode& value, const Field& row, const Scope& scope) {
  switch (row.type) {
    case Type::section:
      return true;
    case Type::boolean:
      return settle(value, read_boolean(value), subject(row, scope));
    case Type::number:
      return settle(value, read_number(value, row), subject(row, scope));
    case Type::gre_key:
      return settle(value, read_gre_key(value), subject(row, scope));
    case Type::choice:
      return settle(value, read_choice(value, row), subject(row, scope));
    case Type::local:
      return settle(value, read_local(value), subject(row, scope));
    case Type::remote:
      return settle(value, read_remote(value), subject(row, scope));
    case Type::addresses:
      return read_addresses(value, row, scope);
    case Type::routes:
      return read_routes(value, row, scope);
    case Type::prefix:  // read by read_route, which needs more than a value
      return true;
    case Type::name:
      break;
  }
  if (row.id == FieldId::interface) {
    if (const auto complaint = check_new_interface_name(value.text)) {
      complain(value, subject(row, scope), *complaint);
      return {};
    }
  }
  return value.text;
}

void Reader::unknown_key(const ConfigNode& key, const ConfigNode& value, const Scope& scope,
                         Slots& slots) {
  const bool is_full = report_.is_full();
  const std::string place = scope.place.empty() ? " at the top level" : scope.place;
  auto& error = report_.error(Code::unknown_key, key.span,
                              fmt::format("unknown key {}{}", quoted(key.text), place));
  if (is_full) {
    return;
  }
  const Suggestion suggestion = suggest_key(scope.section, key.text, scope.in_defaults);
  error.hint = suggestion.hint;
  if (suggestion.meant != nullptr && !slots[suggestion.meant->id].is_given()) {
    // So that nothing is said to be missing, or is judged by its default.
    Slot& slot = slots[suggestion.meant->id];
    slot.key = &key;
    slot.value = &value;
    slot.is_guess = true;
  }
  if (scope.section == Section::route && key.text == field(FieldId::transit_via).name()) {
    error.hint = "the way is this tunnel; routes from tunnel to tunnel stand at the top level";
  }
  if (scope.section != Section::top || !value.is(ConfigNode::Kind::map)) {
    return;
  }
  for (std::size_t i = 0; i < value.entries(); ++i) {
    if (value.key(i).text == field(FieldId::type).name() ||
        value.key(i).text == field(FieldId::remote).name()) {
      error.hint = "tunnels stand under 'tunnels:'; indent it";
    }
  }
}

void Reader::require(Section section, const Slots& slots, Span where, const std::string& whole) {
  std::vector<std::string> missing;
  for (const Field& row : fields()) {
    if (row.section == section && row.is_required && !slots[row.id].is_given()) {
      missing.push_back(quoted(row.name()));
    }
  }
  if (missing.empty()) {
    return;
  }
  const std::vector<std::string_view> names{missing.begin(), missing.end()};
  std::string list{names[0]};
  for (std::size_t i = 1; i < names.size(); ++i) {
    list += i + 1 == names.size() ? " and " : ", ";
    list += names[i];
  }
  auto& error = report_.error(Code::missing_key, where, fmt::format("{} lacks {}", whole, list));
  if (section == Section::top && !slots[FieldId::version].is_given()) {
    error.hint = "begin the file with  version: 1";
  } else if (section == Section::tunnel && !slots[FieldId::type].is_given()) {
    error.hint = fmt::format("'type' is {}", expectation(field(FieldId::type)));
  } else if (section == Section::tunnel) {
    error.hint = "'remote' is " + expectation(field(FieldId::remote));
  }
}

void Reader::read_tunnels(const ConfigNode& map) {
  for (std::size_t i = 0; i < map.entries(); ++i) {
    if (draft_.tunnels.size() == kTunnelsMax) {
      report_.error(Code::too_many, map.key(i).span,
                    fmt::format("more than {} tunnels", kTunnelsMax));
      return;
    }
    read_tunnel(map.key(i), map.value(i));
  }
}

void Reader::read_tunnel(const ConfigNode& key, const ConfigNode& value) {
  TunnelDraft& tunnel = draft_.tunnels.emplace_back();
  tunnel.name = key.text;
  tunnel.key = &key;
  const std::string whole = "tunnel " + quoted(key.text);
  const Scope scope{Section::tunnel, " in " + whole, false};
  if (value.is(ConfigNode::Kind::map)) {
    read_map(value, scope, tunnel.slots);
  } else if (!value.is(ConfigNode::Kind::null) && !value.is(ConfigNode::Kind::broken)) {
    report_.error(Code::wrong_shape, value.span, whole + " must be a map of keys and values");
    return;
  }
  if (const auto complaint = check_tunnel_name(key.text)) {
    complain(key, "the name of a tunnel", *complaint);
  } else if (key.text.size() > kInterfaceNameMax && !tunnel.slots[FieldId::interface].is_given()) {
    report_
        .error(Code::name_too_long, key.span,
               fmt::format("the name of {} is too long for its interface", whole))
        .hint =
        fmt::format("give it  interface: NAME  of at most {} characters", kInterfaceNameMax);
  }
  if (!value.is(ConfigNode::Kind::broken)) {
    require(Section::tunnel, tunnel.slots, key.span, whole);
  }
  settle_kind(tunnel);
  inherit_defaults(tunnel);
}

// Fixes the kind and refuses what it does not have.
void Reader::settle_kind(TunnelDraft& tunnel) {
  const auto* index = tunnel.slots.get<Number>(FieldId::type);
  if (index == nullptr) {
    return;
  }
  tunnel.kind = static_cast<Kind>(index->value);
  for (const Field& row : fields()) {
    Slot& slot = tunnel.slots[row.id];
    if (slot.is_given() && (row.kinds & kind_bit(*tunnel.kind)) == 0) {
      report_
          .error(Code::not_of_this_kind, slot.key->span,
                 fmt::format("tunnel {} of type {} has no {}", quoted(tunnel.name),
                             name(*tunnel.kind), quoted(row.name())))
          .hint = fmt::format("only {} {} it", kinds_text(row.kinds),
                              row.kinds == kGreOnly ? "has" : "have");
      slot = Slot{};
    }
  }
}

void Reader::inherit_defaults(TunnelDraft& tunnel) const {
  for (const Field& row : fields()) {
    const bool fits = !tunnel.kind || (row.kinds & kind_bit(*tunnel.kind)) != 0;
    if (fits && !tunnel.slots[row.id].is_given() && draft_.defaults[row.id].is_given()) {
      tunnel.slots[row.id] = draft_.defaults[row.id];
    }
  }
}

bool Reader::is_within_limit(const ConfigNode& list, std::size_t limit, const Field& row,
                             const Scope& scope) {
  if (list.children.size() <= limit) {
    return true;
  }
  report_.error(Code::too_many, list.children[limit].span,
                fmt::format("{} holds more than {}", subject(row, scope), limit));
  return false;
}

std::vector<PrefixItem> Reader::read_addresses(const ConfigNode& list, const Field& row,
                                               const Scope& scope) {
  std::vector<PrefixItem> items;
  if (!is_within_limit(list, kAddressesMax, row, scope)) {
    return items;
  }
  for (const ConfigNode& item : list.children) {
    if (item.is(ConfigNode::Kind::broken)) {
      continue;
    }
    if (!item.is(ConfigNode::Kind::scalar)) {
      report_
          .error(Code::wrong_shape, item.span,
                 fmt::format("{} holds something that is not an address", subject(row, scope)))
          .hint = expectation(row);
      continue;
    }
    const Read<wire::IpPrefix> read = read_prefix(item);
    if (const auto* complaint = std::get_if<Complaint>(&read)) {
      complain(item, subject(row, scope), *complaint);
      continue;
    }
    const auto& prefix = std::get<wire::IpPrefix>(read);
    if (ask(prefix.address, kIsUnspecified) || ask(prefix.address, kIsLoopback) ||
        ask(prefix.address, kIsMulticast)) {
      report_
          .error(Code::unusable_prefix, item.span,
                 fmt::format("{} holds {}, which cannot be an interface's address",
                             subject(row, scope), to_string(prefix)))
          .hint = "a unicast address with its prefix length";
      continue;
    }
    items.push_back({item.span, prefix, 0, {}, {}});
  }
  return items;
}

std::vector<PrefixItem> Reader::read_routes(const ConfigNode& list, const Field& row,
                                            const Scope& scope) {
  std::vector<PrefixItem> items;
  if (!is_within_limit(list, kRoutesMax, row, scope)) {
    return items;
  }
  items.reserve(list.children.size());
  for (const ConfigNode& item : list.children) {
    if (auto route = read_route(item, row, scope)) {
      items.push_back(std::move(*route));
    }
  }
  return items;
}

std::optional<PrefixItem> Reader::read_route(const ConfigNode& item, const Field& row,
                                             const Scope& scope) {
  if (item.is(ConfigNode::Kind::broken)) {
    return std::nullopt;
  }
  const bool is_transit = row.id == FieldId::transit_routes;
  if (item.is(ConfigNode::Kind::map)) {
    const Section section = is_transit ? Section::transit : Section::route;
    return read_route_map(item, section, scope);
  }
  if (!item.is(ConfigNode::Kind::scalar) || is_transit) {
    auto& error =
        report_.error(Code::wrong_shape, item.span,
                      fmt::format("{} holds something that is not a route", subject(row, scope)));
    error.hint = is_transit ? "write {to: 10.0.0.0/8, via: TUNNEL}"
                            : "write 10.0.0.0/8 or {to: 10.0.0.0/8, metric: 100}";
    return std::nullopt;
  }
  const Read<wire::IpPrefix> read = read_prefix(item);
  if (const auto* complaint = std::get_if<Complaint>(&read)) {
    complain(item, subject(row, scope), *complaint);
    return std::nullopt;
  }
  PrefixItem route{item.span, std::get<wire::IpPrefix>(read), 0, {}, {}};
  if (!is_destination(item, route.prefix, subject(row, scope))) {
    return std::nullopt;
  }
  return route;
}

std::optional<PrefixItem> Reader::read_route_map(const ConfigNode& item, Section section,
                                                 const Scope& outer) {
  const bool is_transit = section == Section::transit;
  const Scope inner{section, " in a route" + outer.place, false};
  Slots slots;
  read_map(item, inner, slots);
  require(section, slots, item.span, "a route" + outer.place);
  const Slot& to = slots[is_transit ? FieldId::transit_to : FieldId::route_to];
  const Slot& via = slots[FieldId::transit_via];
  if (!to.is_given() || to.is_guess || !to.value->is(ConfigNode::Kind::scalar)) {
    return std::nullopt;
  }
  const Read<wire::IpPrefix> read = read_prefix(*to.value);
  const std::string whole = "'to'" + inner.place;
  if (const auto* complaint = std::get_if<Complaint>(&read)) {
    complain(*to.value, whole, *complaint);
    return std::nullopt;
  }
  PrefixItem route{to.value->span, std::get<wire::IpPrefix>(read), 0, {}, {}};
  if (!is_destination(*to.value, route.prefix, whole)) {
    return std::nullopt;
  }
  const auto* metric =
      slots.get<Number>(is_transit ? FieldId::transit_metric : FieldId::route_metric);
  route.metric = metric == nullptr ? 0 : metric->value;
  const auto* name = slots.get<std::string>(FieldId::transit_via);
  if (is_transit && name == nullptr) {
    return std::nullopt;
  }
  if (name != nullptr) {
    route.via = *name;
    route.via_at = via.value->span;
  }
  return route;
}

// Clears host bits, after refusing them as the kernel does: they are a slip in one place or the
// other, and which one only the user knows.
bool Reader::is_destination(const ConfigNode& where, wire::IpPrefix& prefix,
                            const std::string& subject) {
  const wire::IpPrefix network = network_of(prefix);
  if (!(network == prefix)) {
    report_
        .error(Code::host_bits, where.span,
               fmt::format("{} holds {}, which has bits set behind its length", subject,
                           to_string(prefix)))
        .hint = "write " + to_string(network);
    prefix = network;
    return true;
  }
  const bool is_nowhere = ask(prefix.address, kIsUnspecified) && is_host_prefix(prefix);
  if (is_nowhere || ask(prefix.address, kIsLoopback)) {
    report_.error(Code::unusable_prefix, where.span,
                  fmt::format("{} holds {}, which no packet on a wire is sent to", subject,
                              to_string(prefix)));
    return false;
  }
  return true;
}

}  // namespace

std::optional<Draft> read_draft(const ConfigNode& root, Report& report) {
  return Reader{root, report}.read();
}

}  // namespace ringway::config
