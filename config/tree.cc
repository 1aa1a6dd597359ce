// Events to tree. Faults after which one can go on are noted and passed over; others end it.
#include "config/tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "config/codes.h"
#include "config/report.h"
#include "config/source.h"
#include "config/syntax.h"

namespace ringway::config {

namespace {

// Thrown through the parser to end it, after the cause is reported. Never leaves this file.
struct Stop {};

constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

ConfigNode make_node(ConfigNode::Kind kind, Span span) {
  ConfigNode node;
  node.kind = kind;
  node.span = span;
  return node;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const Source& source, Report& report) : source_{source}, report_{report} {}

  [[nodiscard]] ConfigNode take_root() { return std::move(root_); }
  // Where the parser was at the last event, and which bracket was opened and not closed.
  [[nodiscard]] std::size_t reached() const noexcept { return reached_; }
  [[nodiscard]] std::optional<Span> open_bracket() const noexcept;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  struct Open {
    ConfigNode node;
    bool is_flow = false;
  };

  [[nodiscard]] Span span_at(const YAML::Mark& mark, std::size_t length) noexcept;
  void refuse_properties(Span span, const std::string& tag, YAML::anchor_t anchor);
  void open(ConfigNode::Kind kind, const YAML::Mark& mark, YAML::EmitterStyle::value style);
  void close();
  void place(ConfigNode node);
  void check_keys(Open& map);
  void check_value(const ConfigNode& key, ConfigNode& value, bool is_flow);
  [[nodiscard]] bool is_value_indented(const ConfigNode& key, const ConfigNode& value) const;
  [[nodiscard]] bool is_key_sound(const ConfigNode& key);

  const Source& source_;
  Report& report_;
  std::vector<Open> open_;
  ConfigNode root_;
  std::size_t documents_ = 0;
  std::size_t nodes_ = 0;
  std::size_t reached_ = 0;
};

std::optional<Span> TreeBuilder::open_bracket() const noexcept {
  const auto found =
      std::find_if(open_.rbegin(), open_.rend(), [](const Open& open) { return open.is_flow; });
  return found == open_.rend() ? std::nullopt : std::optional{found->node.span};
}

Span TreeBuilder::span_at(const YAML::Mark& mark, std::size_t length) noexcept {
  reached_ = static_cast<std::size_t>(std::max(mark.pos, 0));
  return {static_cast<std::uint32_t>(reached_), static_cast<std::uint32_t>(length)};
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  const Span span = span_at(mark, 3);
  if (++documents_ == 1) {
    return;
  }
  if (source_.rest_of_line(span.offset).starts_with("---")) {
    report_.error(Code::several_documents, span, "a second document begins here").hint =
        "a configuration is one document; put other files beside it";
  } else {
    report_.error(Code::several_documents, {span.offset, 1}, "text after the end of the document")
        .hint = "everything belongs into one map; check brackets and indentation above";
  }
  throw Stop{};
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Span span = span_at(mark, 1);
  refuse_properties(span, "?", anchor);
  place(make_node(ConfigNode::Kind::null, span));
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) {
  const Span span = span_at(mark, 1);
  report_alias(source_, report_, span.offset);
  place(make_node(ConfigNode::Kind::broken, span));
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const Span begin = span_at(mark, 1);
  refuse_properties(begin, tag, anchor);
  const std::size_t content = skip_properties(source_, begin.offset);
  ConfigNode node = make_node(ConfigNode::Kind::scalar, begin);
  node.text = value;
  const ScalarExtent extent = scalar_extent(source_, content, value);
  node.is_quoted = extent.is_quoted;
  node.span = {static_cast<std::uint32_t>(content), static_cast<std::uint32_t>(extent.length)};
  if (extent.is_unclosed) {
    // What follows was swallowed by the quote or is out of step with it: nothing to gain there.
    report_unclosed_quote(report_, content);
    throw Stop{};
  }
  place(std::move(node));
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  refuse_properties(span_at(mark, 1), tag, anchor);
  open(ConfigNode::Kind::sequence, mark, style);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value style) {
  refuse_properties(span_at(mark, 1), tag, anchor);
  open(ConfigNode::Kind::map, mark, style);
}

void TreeBuilder::OnMapEnd() {
  check_keys(open_.back());
  close();
}

// `tag` is "?" for what is plain, "!" for what is quoted (or says just "!"), else as written.
void TreeBuilder::refuse_properties(Span span, const std::string& tag, YAML::anchor_t anchor) {
  const std::string_view written = source_.rest_of_line(span.offset);
  if (anchor != YAML::NullAnchor) {
    const std::size_t at = written.substr(0, written.find(' ')).find('&');
    const std::size_t offset = span.offset + (at == std::string_view::npos ? 0 : at);
    report_anchor(source_, report_, offset);
  }
  const bool says_bang = tag == "!" && written.starts_with('!');
  if (says_bang || (tag != "?" && tag != "!" && !tag.empty() && tag != kStringTag)) {
    const std::string_view word = written.substr(0, written.find_first_of(" \t"));
    report_
        .error(Code::explicit_tag,
               {span.offset, static_cast<std::uint32_t>(std::max<std::size_t>(word.size(), 1))},
               "types are not written into the file by tags")
        .hint = "leave the tag out; Ringway knows the type of every key";
  }
}

void TreeBuilder::open(ConfigNode::Kind kind, const YAML::Mark& mark,
                       YAML::EmitterStyle::value style) {
  const Span span = span_at(mark, 1);
  if (open_.size() == kDepthMax) {
    report_.error(Code::nested_too_deep, span,
                  fmt::format("nested more than {} levels deep", kDepthMax));
    throw Stop{};
  }
  Open& opened = open_.emplace_back();
  opened.node.kind = kind;
  opened.node.span = span;
  opened.is_flow = style == YAML::EmitterStyle::Flow;
}

void TreeBuilder::close() {
  ConfigNode done = std::move(open_.back().node);
  open_.pop_back();
  place(std::move(done));
}

void TreeBuilder::place(ConfigNode node) {
  if (++nodes_ > kNodesMax) {
    report_.error(Code::too_many_values, node.span,
                  fmt::format("more than {} values in one file", kNodesMax));
    throw Stop{};
  }
  if (open_.empty()) {
    root_ = std::move(node);
    return;
  }
  ConfigNode& parent = open_.back().node;
  if (parent.is(ConfigNode::Kind::sequence) && node.is(ConfigNode::Kind::null)) {
    report_.error(Code::empty_value, place_of_null(source_, node.span), "an empty item in a list")
        .hint = "is there a comma or a dash too many?";
    return;
  }
  parent.children.push_back(std::move(node));
}

bool TreeBuilder::is_key_sound(const ConfigNode& key) {
  if (key.is(ConfigNode::Kind::broken)) {
    return false;
  }
  if (!key.is(ConfigNode::Kind::scalar)) {
    report_.error(Code::wrong_shape, key.span, "a key must be a word");
    return false;
  }
  if (key.text == "<<" && !key.is_quoted) {
    report_.error(Code::merge_key, key.span, "merge keys are not supported").hint =
        "put what tunnels have in common under 'defaults:'";
    return false;
  }
  return true;
}

// In a block map a value that begins on a later line stands further right than its key; only the
// items of a block list may stand below it (YAML 1.2 section 8.2.2). The parser forgives it.
bool TreeBuilder::is_value_indented(const ConfigNode& key, const ConfigNode& value) const {
  const Position key_at = source_.position(key.span.offset);
  const Position value_at = source_.position(value.span.offset);
  const bool is_block_list = value.is(ConfigNode::Kind::sequence) &&
                             source_.rest_of_line(value.span.offset).starts_with('-');
  return value_at.line == key_at.line || value_at.column > key_at.column ||
         (is_block_list && value_at.column == key_at.column);
}

// A value that is not where its key says becomes broken, so that its key does not count as missing.
void TreeBuilder::check_value(const ConfigNode& key, ConfigNode& value, bool is_flow) {
  if (value.is(ConfigNode::Kind::null) && !is_colon_behind(source_, key.span)) {
    // The parser takes a lone word for a key without a value; it was the colon that was forgotten.
    report_.error(Code::bad_syntax, key.span,
                  fmt::format("a ':' is missing behind {}", quoted(key.text)));
    value.kind = ConfigNode::Kind::broken;
  } else if (!is_flow && !value.is(ConfigNode::Kind::null) && !is_value_indented(key, value)) {
    report_
        .error(Code::bad_syntax, value.span,
               fmt::format("the value of {} must stand further right than it", quoted(key.text)))
        .hint = "check the indentation";
    value.kind = ConfigNode::Kind::broken;
  }
}

// Removes entries whose key is unsound or was there before, after saying so.
void TreeBuilder::check_keys(Open& map) {
  std::vector<ConfigNode> kept;
  kept.reserve(map.node.children.size());
  std::unordered_map<std::string, std::uint32_t> first_at;
  for (std::size_t i = 0; i < map.node.entries(); ++i) {
    ConfigNode& key = map.node.children[2 * i];
    ConfigNode& value = map.node.children[2 * i + 1];
    if (!is_key_sound(key)) {
      continue;
    }
    check_value(key, value, map.is_flow);
    const auto [first, is_new] = first_at.emplace(key.text, key.span.offset);
    if (!is_new) {
      report_.error(Code::defined_twice, key.span, quoted(key.text) + " is defined twice").hint =
          fmt::format("first defined in line {}", source_.position(first->second).line);
      continue;
    }
    kept.push_back(std::move(key));
    kept.push_back(std::move(value));
  }
  map.node.children = std::move(kept);
}

}  // namespace

std::optional<ConfigNode> parse_tree(const Source& source, Report& report) {
  if (!check_characters(source, report) || !check_lines(source, report)) {
    return std::nullopt;
  }
  TreeBuilder builder{source, report};
  try {
    std::istringstream stream{std::string{source.text()}};
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder)) {
      report.file_error(Code::empty_file, "the file holds no configuration").help =
          "the smallest one has  version: 1  and a tunnel under  tunnels:";
      return std::nullopt;
    }
    // A second call finds what stands behind the document; the builder refuses it.
    static_cast<void>(parser.HandleNextDocument(builder));
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& fault) {
    const auto offset = static_cast<std::size_t>(std::max(fault.mark.pos, 0));
    report_syntax_fault(source, report,
                        {.text = fault.msg,
                         .offset = offset,
                         .reached = builder.reached(),
                         .open_bracket = builder.open_bracket()});
    return std::nullopt;
  } catch (const std::exception& fault) {  // std::bad_alloc, or a bug of the library
    report.file_error(Code::bad_syntax, fmt::format("cannot parse the file: {}", fault.what()));
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace ringway::config
