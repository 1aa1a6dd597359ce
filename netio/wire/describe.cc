// What dissect found, on one line or several.
#include "netio/wire/describe.h"

#include <string>

#include "netio/wire/dissect.h"
#include "netio/wire/header.h"

namespace ringway::wire {

namespace {

bool is_ip(const DescribedLayer& layer) {
  return layer.name == "ipv4" || layer.name == "ipv6";
}

}  // namespace

std::string describe(ConstBytes packet) {
  std::string line;
  for (const DescribedLayer& layer : dissect(packet)) {
    if (!line.empty()) {
      line += is_ip(layer) ? " | " : " ";
    }
    line += layer.summary;
    for (const std::string& note : layer.notes) {
      line += " [" + note + "]";
    }
  }
  return line.empty() ? "empty" : line;
}

std::string describe_lines(ConstBytes packet) {
  std::string lines;
  for (const DescribedLayer& layer : dissect(packet)) {
    lines += layer.name;
    for (const DescribedField& field : layer.fields) {
      lines += (&field == layer.fields.data() ? " " : ", ") + field.name + " " + field.value;
    }
    for (const std::string& note : layer.notes) {
      lines += " [" + note + "]";
    }
    lines += "\n";
  }
  return lines.empty() ? "empty\n" : lines;
}

}  // namespace ringway::wire
