// PcapPort: receives what a capture file holds and writes what is transmitted to another, so that
// independent tools can make the input of a path and judge its output.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netio/base/clock.h"
#include "netio/base/result.h"
#include "netio/memory/pcap_file.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/port.h"

namespace ringway::netio {

// An empty path: nothing is received, or everything transmitted is dropped as interface_down.
struct PcapPaths {
  // The `= {}` let a caller name one of them only: GCC warns of the others otherwise.
  std::string input = {};   // NOLINT(readability-redundant-member-init)
  std::string output = {};  // NOLINT(readability-redundant-member-init)
};

class PcapPort final : public Port {
 public:
  // Reads all of the input at once. Its packets must fit the slots of `pool`, which outlives the
  // port.
  [[nodiscard]] static Result<std::unique_ptr<PcapPort>> create(PortId id, PortInfo info,
                                                                const PcapPaths& paths,
                                                                BufferPool& pool);

  // Without regard to the records' times: whoever replays calls when it wants more. A packet for
  // which the pool has no slot is received by a later call.
  [[nodiscard]] std::size_t receive(Batch& batch) noexcept override;
  // Writes at once; More holds nothing back.
  void transmit(Batch& batch, More more) noexcept override;
  void flush() noexcept override {}

  // The time written with the packets from now on.
  void set_time(Duration since_epoch) noexcept { time_ = since_epoch; }

 private:
  PcapPort(PortId id, PortInfo info, BufferPool& pool, std::vector<PcapRecord> input,
           std::optional<PcapWriter> output);

  BufferPool& pool_;
  std::vector<PcapRecord> input_;
  std::size_t next_ = 0;  // the record to be received next
  std::optional<PcapWriter> output_;
  Duration time_{};
};

}  // namespace ringway::netio
