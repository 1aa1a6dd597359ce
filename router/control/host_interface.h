// HostInterface: brings a tunnel's interface to the wanted state, and back.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "config/model.h"
#include "netio/base/result.h"
#include "netio/wire/address.h"
#include "router/control/log.h"
#include "router/control/netlink.h"

namespace ringway::router {

// A TUN's default queue of 500 packets drops within one burst of TCP at line rate; 1000 is what
// Ethernet interfaces have (net/ethernet/eth.c DEFAULT_TX_QUEUE_LEN).
inline constexpr std::uint32_t kQueueLengthMin = 1000;

struct WantedInterface {
  std::string name;
  bool existed = false;  // made by somebody else: survives us, and keeps what is not ours
  std::uint32_t mtu = 0;
  bool carries_ipv6 = true;
  std::vector<wire::IpPrefix> addresses;
  std::vector<config::Route> routes;
};

// Owns the changes that it made. Touches only what differs, so that somebody without rights may use
// an interface that was prepared for them. Control thread only.
class HostInterface {
 public:
  // All steps, or none: if one fails, those before it have been taken back. `netlink` and `log`
  // outlive the object.
  [[nodiscard]] static Result<HostInterface> apply(Netlink& netlink, const Log& log,
                                                   const WantedInterface& wanted);

  HostInterface(HostInterface&& other) noexcept;
  HostInterface& operator=(HostInterface&& other) = delete;
  HostInterface(const HostInterface&) = delete;
  HostInterface& operator=(const HostInterface&) = delete;
  ~HostInterface() { undo(); }

  // Takes every change back, the last one first. Fine if the interface is gone. Safe to call twice.
  void undo() noexcept;

  // Lowers the MTU after apply(). The MTU from before apply() is still what undo() restores.
  Result<void> lower_mtu(std::uint32_t mtu);

  [[nodiscard]] const Interface& interface() const noexcept { return interface_; }

 private:
  struct MtuChanged {
    std::uint32_t before;
  };
  struct QueueLengthChanged {
    std::uint32_t before;
  };
  struct SetUp {};
  struct AddressAdded {
    wire::IpPrefix address;
  };
  struct RouteAdded {
    config::Route route;
  };
  using Change = std::variant<MtuChanged, QueueLengthChanged, SetUp, AddressAdded, RouteAdded>;

  HostInterface(Netlink& netlink, const Log& log, Interface interface, bool existed)
      : netlink_{&netlink}, log_{&log}, interface_{std::move(interface)}, existed_{existed} {}

  Result<void> bring(const WantedInterface& wanted, const Link& link);
  Result<void> bring_mtu(std::uint32_t wanted, std::uint32_t present);
  void bring_queue_length(std::uint32_t present);
  Result<void> bring_up();
  Result<void> bring_addresses(const std::vector<wire::IpPrefix>& wanted,
                               const std::vector<InterfaceAddress>& present);
  Result<void> bring_routes(const std::vector<config::Route>& wanted);
  void silence_ipv6();

  Result<void> take_back(const Change& change);
  void undo_changes();

  Netlink* netlink_;
  const Log* log_;
  Interface interface_;
  bool existed_;
  bool active_ = true;  // false once undone or moved from
  std::vector<Change> changes_;
  SavedInterface foreign_;  // what others had put on it before us
};

}  // namespace ringway::router
