// Ethernet header (IEEE 802.3) and the VLAN tag of IEEE 802.1Q.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "netio/wire/endian.h"
#include "netio/wire/header.h"
#include "netio/wire/protocols.h"

namespace ringway::wire {

struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};

  friend constexpr bool operator==(const MacAddress&, const MacAddress&) noexcept = default;
};

// |                 Destination Address (6)                       |
// |                 Source Address (6)                            |
// |          EtherType            |
struct EthernetHeader {
  MacAddress destination;
  MacAddress source;
  BeEtherType type;
};
static_assert(sizeof(EthernetHeader) == 14 && Header<EthernetHeader>);

// What stands behind EtherType::vlan:
// | PCP |D|       VLAN ID         |          EtherType            |
struct VlanTag {
  Be16 priority_id;
  BeEtherType type;

  [[nodiscard]] std::uint16_t id() const noexcept { return priority_id.value() & 0x0fff; }
};
static_assert(sizeof(VlanTag) == 4 && Header<VlanTag>);

}  // namespace ringway::wire
