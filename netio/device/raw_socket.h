// RawSocket: IPv4 datagrams of one protocol, outer header included both ways.
#pragma once

#include <string>

#include <netinet/in.h>

#include "netio/base/fd.h"
#include "netio/base/result.h"
#include "netio/packet/packet.h"
#include "netio/wire/protocols.h"

namespace ringway::netio {

// Receives every datagram of the protocol that the host accepts (reassembled by the kernel) with
// its IPv4 header, and sends what it is given by the destination in its IPv4 header (IP_HDRINCL;
// the kernel fills in total length, header checksum and, if zero, the source: raw(7)).
//
// A second socket of the same protocol with a drop-all filter rides along: without it a full
// receive buffer makes the kernel answer "protocol unreachable" to the peer
// (net/ipv4/raw.c raw_v4_input counts only sockets that had room).
class RawSocket {
 public:
  [[nodiscard]] static Result<RawSocket> open(wire::IpProtocol protocol);

  [[nodiscard]] wire::IpProtocol protocol() const noexcept { return protocol_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  RawSocket(wire::IpProtocol protocol, std::string name, Fd fd, Fd sink)
      : protocol_{protocol}, name_{std::move(name)}, fd_{std::move(fd)}, sink_{std::move(sink)} {}

  wire::IpProtocol protocol_{};
  std::string name_;
  Fd fd_;
  Fd sink_;  // never read; keeps the kernel from answering for us
};

// Where a packet with an outer IPv4 header is to go, as send() wants to hear it. A packet too short
// for the header goes nowhere: its address is 0.0.0.0, and the kernel refuses its length (EINVAL).
[[nodiscard]] sockaddr_in destination_of(const Packet& packet) noexcept;

}  // namespace ringway::netio
