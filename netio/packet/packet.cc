// The way home of a packet.
#include "netio/packet/packet.h"

#include "netio/packet/buffer_pool.h"

namespace ringway::netio {

void recycle(Packet* packet) noexcept {
  packet->pool->recycle(packet);
}

}  // namespace ringway::netio
