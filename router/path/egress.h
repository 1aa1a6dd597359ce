// Egress: where the path leaves packets. The path itself does no I/O; a shard or a test behind this
// does.
#pragma once

#include "netio/packet/batch.h"
#include "netio/packet/packet.h"

namespace ringway::router {

class Egress {
 public:
  Egress() = default;
  Egress(const Egress&) = delete;
  Egress& operator=(const Egress&) = delete;
  virtual ~Egress() = default;

  // Takes every packet of the batch, in order, to be sent through a port, and leaves it empty. More
  // may come in the same turn: called once per run, never per packet.
  virtual void send(netio::PortId port, netio::Batch& batch) noexcept = 0;
};

}  // namespace ringway::router
