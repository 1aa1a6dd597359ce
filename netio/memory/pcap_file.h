// Classic pcap files of IP packets (LINKTYPE_RAW, 101), so that scapy, tshark and tcpdump read what
// we wrote and we read what they wrote. Format: draft-ietf-opsawg-pcap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "netio/base/clock.h"
#include "netio/base/fd.h"
#include "netio/base/result.h"
#include "netio/wire/header.h"

namespace ringway::netio {

// A record is at most this long, so that a broken length field cannot ask for all memory.
inline constexpr std::uint32_t kPcapRecordBytesMax = 262'144;

inline constexpr off_t kPcapFileHeaderBytes = 24;

struct PcapRecord {
  Duration time{};  // since the epoch
  std::vector<std::uint8_t> bytes;
};

class PcapWriter {
 public:
  // Creates the file, or empties it.
  [[nodiscard]] static Result<PcapWriter> create(const std::string& path);

  // Appends one packet, nanoseconds kept: all of the record or, on a full disk, nothing of it.
  // Returns 0 or a positive errno.
  [[nodiscard]] int write(wire::ConstBytes packet, Duration time) noexcept;

 private:
  explicit PcapWriter(Fd file) noexcept : file_{std::move(file)} {}

  Fd file_;
  off_t bytes_ = kPcapFileHeaderBytes;  // of whole records and the file header
};

// All records of a file of either byte order, with microseconds or nanoseconds. An Error says what
// is wrong with a file that is not such a pcap, or ends within a record.
[[nodiscard]] Result<std::vector<PcapRecord>> read_pcap(const std::string& path);

// The same of the content of a file; `name` is for the Error.
[[nodiscard]] Result<std::vector<PcapRecord>> parse_pcap(wire::ConstBytes content,
                                                         const std::string& name);

}  // namespace ringway::netio
