// Packets taken apart: every header with its fields and what is wrong with it. Never reads past the
// end. Allocates: not for the packet path.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "netio/wire/header.h"

namespace ringway::wire {

struct DescribedField {
  std::string name;        // "ttl"
  std::string value;       // "64"
  std::size_t offset = 0;  // of the bytes it was read from, within the packet
  std::size_t bytes = 0;
};

struct DescribedLayer {
  std::string name;                    // "ipv4", "gre", "data"
  std::string summary;                 // "10.0.0.1 > 10.0.0.2"
  std::vector<DescribedField> fields;  // in the order of the bytes
  std::vector<std::string> notes;      // what is wrong: "bad checksum, right is 0x1c46"
};

// The layers of a packet from the outside in; what no known header claims is a layer "data".
// `packet` starts at an IP header. Empty only if `packet` is.
[[nodiscard]] std::vector<DescribedLayer> dissect(ConstBytes packet);

}  // namespace ringway::wire
