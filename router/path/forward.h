// forward: the whole way of a packet through the router. READ FIRST.
#pragma once

#include "netio/packet/batch.h"
#include "router/path/counters.h"
#include "router/path/egress.h"
#include "router/path/forwarding.h"

namespace ringway::router {

// What one shard forwards with. All of it belongs to the shard.
struct Path {
  Forwarding& forwarding;
  PathCounters& counters;
  Egress& egress;
};

// Takes a batch that one port received (all packets have the same ingress) and leaves it empty:
// each packet has been given to the egress, or ended and been counted under one reason. Order
// within a flow is kept. Does no I/O, allocates nothing, reads no clock, cannot throw.
void forward(netio::Batch& batch, Path path) noexcept;

}  // namespace ringway::router
