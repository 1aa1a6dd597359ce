// Booleans, numbers, keys and words. Addresses and names are in endpoint.cc.
#include "config/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "config/codes.h"
#include "config/fields.h"
#include "config/source.h"
#include "config/tree.h"
#include "netio/wire/address.h"

namespace ringway::config {

namespace {

bool is_digits(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A whole text as a number of this base; empty if anything else stands there or it is too large.
std::optional<std::uint64_t> parse_whole(std::string_view text, int base) noexcept {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (fault != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// "010" is ten here, eight to a YAML 1.1 reader, and a text to others.
Complaint leading_zero(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
  const std::string_view decimal = text.substr(first);
  const auto octal = parse_whole(text, 8);
  const bool differs = octal && octal != parse_whole(decimal, 10);
  return {Code::leading_zero, "is a number written with a leading zero",
          differs ? fmt::format("write {}, or {} if octal was meant; YAML readers disagree",
                                decimal, *octal)
                  : fmt::format("write {}", decimal)};
}

Complaint not_a_number(const ConfigNode& node, const Field& field) {
  const std::string_view text = node.text;
  const std::string wanted =
      field.words.empty() ? "a whole number" : fmt::format("a whole number or {}", field.words);
  Complaint complaint{Code::not_a_number, fmt::format("must be {}, not {}", wanted, quoted(text)),
                      expectation(field)};
  if (text.starts_with("0x") || text.starts_with("0X")) {
    if (const auto value = parse_whole(text.substr(2), 16)) {
      complaint.hint = fmt::format("decimal only: write {}", *value);
    }
  } else if (!nearest(lower(text), split_words(field.words)).empty()) {
    complaint.hint = fmt::format("did you mean {}?", quoted(field.words));
  }
  return complaint;
}

Complaint out_of_range(std::string_view text, const std::string& range) {
  return {Code::out_of_range, fmt::format("is out of range: {}", printable(text)), range};
}

// Words of other tools and formats for what is meant here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSynonyms = {{
    {"6in4", "sit"},
    {"ip6ip", "sit"},
    {"4in4", "ipip"},
    {"ip4ip", "ipip"},
    {"ip", "ipip"},
    {"uring", "io_uring"},
    {"iouring", "io_uring"},
    {"warn", "warning"},
    {"rfc3168", "linux"},
}};

}  // namespace

Read<bool> read_boolean(const ConfigNode& node) {
  if (!node.is_quoted && node.text == "true") {
    return true;
  }
  if (!node.is_quoted && node.text == "false") {
    return false;
  }
  static constexpr std::array<std::string_view, 5> kYes = {"true", "yes", "on", "y", "1"};
  static constexpr std::array<std::string_view, 5> kNo = {"false", "no", "off", "n", "0"};
  const std::string word = lower(node.text);
  const bool means_yes = std::find(kYes.begin(), kYes.end(), word) != kYes.end();
  const bool means_no = std::find(kNo.begin(), kNo.end(), word) != kNo.end();
  const std::string hint = means_yes ? "write true" : means_no ? "write false" : "";
  return Complaint{Code::not_a_boolean,
                   fmt::format("must be true or false{}, not {}",
                               node.is_quoted ? " without quotes" : "", quoted(node.text)),
                   hint};
}

Read<Number> read_number(const ConfigNode& node, const Field& field) {
  const std::string_view text = node.text;
  if (!field.words.empty() && text == field.words) {
    return Number{.value = 0, .is_word = true};
  }
  const bool is_negative = text.starts_with('-') && is_digits(text.substr(1));
  if (is_negative) {
    return out_of_range(text, expectation(field));
  }
  if (!is_digits(text)) {
    return not_a_number(node, field);
  }
  if (node.is_quoted) {
    return Complaint{Code::not_a_number,
                     fmt::format("must be a number, not the text {}", quoted(text)),
                     "remove the quotes"};
  }
  if (text.size() > 1 && text[0] == '0') {
    return leading_zero(text);
  }
  const auto value = parse_whole(text, 10);
  if (!value || *value < field.minimum || *value > field.maximum) {
    return out_of_range(text, expectation(field));
  }
  return Number{.value = static_cast<std::uint32_t>(*value), .is_word = false};
}

Read<Number> read_gre_key(const ConfigNode& node) {
  const std::string_view text = node.text;
  const std::string range = expectation(field(FieldId::key));
  if (const auto quad = wire::parse_ipv4(text)) {
    return Number{.value = quad->to_u32(), .is_word = false};
  }
  const bool is_hex = text.starts_with("0x");
  const std::string_view digits = is_hex ? text.substr(2) : text;
  const bool is_number =
      is_hex ? !digits.empty() &&
                   digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos
             : is_digits(digits);
  if (text.starts_with('-') && is_digits(text.substr(1))) {
    return out_of_range(text, range);
  }
  if (!is_number) {
    return Complaint{Code::not_a_key, fmt::format("is not a GRE key: {}", quoted(text)), range};
  }
  if (!is_hex && text.size() > 1 && text[0] == '0') {
    return leading_zero(text);
  }
  const auto value = parse_whole(digits, is_hex ? 16 : 10);
  if (!value || *value > 0xffffffffU) {
    return out_of_range(text, range);
  }
  return Number{.value = static_cast<std::uint32_t>(*value), .is_word = false};
}

Read<Number> read_choice(const ConfigNode& node, const Field& field) {
  const std::vector<std::string_view> words = split_words(field.words);
  const auto found = std::find(words.begin(), words.end(), node.text);
  if (found != words.end()) {
    return Number{.value = static_cast<std::uint32_t>(found - words.begin()), .is_word = false};
  }
  const std::string word = lower(node.text);
  std::string_view meant = nearest(word, words);
  for (const auto& [other, ours] : kSynonyms) {
    if (word == other && std::find(words.begin(), words.end(), ours) != words.end()) {
      meant = ours;
    }
  }
  return Complaint{Code::unknown_word,
                   fmt::format("must be {}, not {}", join_words(words), quoted(node.text)),
                   meant.empty() ? std::string{} : fmt::format("did you mean {}?", quoted(meant))};
}

}  // namespace ringway::config
