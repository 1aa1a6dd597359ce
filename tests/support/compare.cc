// Two dissected packets laid side by side, field by field.
#include "tests/support/compare.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "netio/wire/describe.h"
#include "netio/wire/dissect.h"
#include "netio/wire/names.h"

namespace ringway::test {

namespace {

using Layers = std::vector<wire::DescribedLayer>;

struct Row {
  std::string field;  // "gre key"
  std::string got;
  std::string want;
  bool is_note = false;

  [[nodiscard]] bool differs() const { return got != want; }
};

constexpr std::string_view kAbsent = "-";
constexpr std::string_view kNote = "note";

// The fields of one layer, and its notes as one field more.
std::vector<wire::DescribedField> fields_of(const Layers& layers, std::size_t index) {
  if (index >= layers.size()) {
    return {};
  }
  std::vector<wire::DescribedField> fields = layers[index].fields;
  std::string notes;
  for (const std::string& note : layers[index].notes) {
    notes += (notes.empty() ? "" : "; ") + note;
  }
  if (!notes.empty()) {
    fields.push_back({std::string{kNote}, notes, 0, 0});
  }
  return fields;
}

void add_one_side(std::vector<Row>& rows, const Layers& layers, std::size_t index, bool is_got) {
  for (const wire::DescribedField& field : fields_of(layers, index)) {
    const std::string absent{kAbsent};
    rows.push_back({layers[index].name + " " + field.name, is_got ? field.value : absent,
                    is_got ? absent : field.value, field.name == kNote});
  }
}

// Both sides have this header, perhaps with different options: fields are matched by name.
void add_both_sides(std::vector<Row>& rows, const Layers& got, const Layers& want,
                    std::size_t index) {
  const auto want_fields = fields_of(want, index);
  std::size_t next = 0;  // the first wanted field that has no row yet
  const std::string layer = got[index].name + " ";
  const auto add_wanted_until = [&](std::size_t end) {
    for (; next < end; ++next) {
      rows.push_back({layer + want_fields[next].name, std::string{kAbsent}, want_fields[next].value,
                      want_fields[next].name == kNote});
    }
  };
  for (const wire::DescribedField& field : fields_of(got, index)) {
    const auto match = std::find_if(
        want_fields.begin() + static_cast<std::ptrdiff_t>(next), want_fields.end(),
        [&field](const wire::DescribedField& wanted) { return wanted.name == field.name; });
    if (match == want_fields.end()) {
      rows.push_back({layer + field.name, field.value, std::string{kAbsent}, field.name == kNote});
      continue;
    }
    add_wanted_until(static_cast<std::size_t>(match - want_fields.begin()));
    rows.push_back({layer + field.name, field.value, match->value, field.name == kNote});
    ++next;
  }
  add_wanted_until(want_fields.size());
}

std::vector<Row> rows_of(const Layers& got, const Layers& want) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < std::max(got.size(), want.size()); ++i) {
    if (i < got.size() && i < want.size() && got[i].name == want[i].name) {
      add_both_sides(rows, got, want, i);
    } else {
      add_one_side(rows, got, i, true);
      add_one_side(rows, want, i, false);
    }
  }
  return rows;
}

// For bytes that no field shows: payload, and reserved bits.
std::string first_byte_difference(std::span<const std::uint8_t> got,
                                  std::span<const std::uint8_t> want, const Layers& layers) {
  const std::size_t common = std::min(got.size(), want.size());
  const auto offset = static_cast<std::size_t>(
      std::mismatch(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(common), want.begin())
          .first -
      got.begin());
  if (offset == common) {
    return "length: got " + std::to_string(got.size()) + " bytes, want " +
           std::to_string(want.size());
  }
  std::string layer = "packet";
  std::size_t begin = 0;
  for (const wire::DescribedLayer& each : layers) {
    if (!each.fields.empty() && each.fields.front().offset <= offset) {
      layer = each.name;
      begin = each.fields.front().offset;
    }
  }
  return "byte " + std::to_string(offset - begin) + " of " + layer + ": got " +
         wire::hex(got[offset], 2) + ", want " + wire::hex(want[offset], 2);
}

std::string table_of(const std::vector<Row>& rows) {
  std::size_t field_width = 0;
  std::size_t got_width = 3;
  for (const Row& row : rows) {
    field_width = std::max(field_width, row.field.size());
    got_width = std::max(got_width, row.got.size());
  }
  const auto padded = [](std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
  };
  std::string table =
      "    " + padded("", field_width) + "  " + padded("got", got_width) + "  want\n";
  for (const Row& row : rows) {
    table += (row.differs() ? "  > " : "    ") + padded(row.field, field_width) + "  " +
             padded(row.got, got_width) + "  " + row.want + "\n";
  }
  return table;
}

}  // namespace

std::string difference(std::span<const std::uint8_t> got, std::span<const std::uint8_t> want) {
  if (std::equal(got.begin(), got.end(), want.begin(), want.end())) {
    return {};
  }
  const Layers got_layers = wire::dissect(got);
  const Layers want_layers = wire::dissect(want);
  const std::vector<Row> rows = rows_of(got_layers, want_layers);
  const auto first = std::find_if(rows.begin(), rows.end(), [](const Row& row) {
    return row.differs() && !row.is_note;  // a note is a consequence
  });
  std::string text = "packets differ\n  got:  " + wire::describe(got) +
                     "\n  want: " + wire::describe(want) + "\n  first difference: ";
  text += first != rows.end() ? first->field + ": got " + first->got + ", want " + first->want
                              : first_byte_difference(got, want, want_layers);
  return text + "\n" + table_of(rows);
}

}  // namespace ringway::test
