// Records become packets, and packets records.
#include "netio/memory/pcap_port.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netio/base/result.h"
#include "netio/memory/pcap_file.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/port.h"

namespace ringway::netio {

Result<std::unique_ptr<PcapPort>> PcapPort::create(PortId id, PortInfo info, const PcapPaths& paths,
                                                   BufferPool& pool) {
  std::vector<PcapRecord> input;
  if (!paths.input.empty()) {
    auto records = read_pcap(paths.input);
    if (!records) {
      return std::move(records.error());
    }
    input = std::move(records).value();
  }
  const auto too_long = std::find_if(input.begin(), input.end(), [&pool](const PcapRecord& record) {
    return record.bytes.size() > pool.packet_bytes_max();
  });
  if (too_long != input.end()) {
    return Error{.operation = "read_pcap",
                 .number = 0,
                 .subject = "replay '" + paths.input + "'",
                 .why = "it holds a packet of " + std::to_string(too_long->bytes.size()) +
                        " bytes, and the pool's slots hold " +
                        std::to_string(pool.packet_bytes_max()),
                 .fix = "use a pool of large slots"};
  }
  std::optional<PcapWriter> output;
  if (!paths.output.empty()) {
    auto writer = PcapWriter::create(paths.output);
    if (!writer) {
      return std::move(writer.error());
    }
    output = std::move(writer).value();
  }
  info.receive_by = "read_pcap";
  info.transmit_by = "writev";
  return std::unique_ptr<PcapPort>{new PcapPort{
      // NOLINT: the constructor is private
      id, std::move(info), pool, std::move(input), std::move(output)}};
}

PcapPort::PcapPort(PortId id, PortInfo info, BufferPool& pool, std::vector<PcapRecord> input,
                   std::optional<PcapWriter> output)
    : Port{id, std::move(info)},
      pool_{pool},
      input_{std::move(input)},
      output_{std::move(output)} {}

std::size_t PcapPort::receive(Batch& batch) noexcept {
  std::size_t count = 0;
  for (; next_ < input_.size() && !batch.full(); ++next_, ++count) {
    PacketPtr packet = pool_.allocate();
    if (packet == nullptr) {
      break;
    }
    const std::vector<std::uint8_t>& bytes = input_[next_].bytes;
    packet->length = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), packet->bytes().begin());
    packet->ingress = id();
    counters_.rx_packets.add(1);
    counters_.rx_bytes.add(bytes.size());
    batch.push(std::move(packet));
  }
  if (count > 0) {
    counters_.rx_doorbells.add(1);
  }
  return count;
}

void PcapPort::transmit(Batch& batch, More /*more*/) noexcept {
  for (Packet* packet : batch.packets()) {
    if (!output_) {
      drop(packet, Drop::interface_down);
      continue;
    }
    if (info().mtu != 0 && packet->length > info().mtu) {
      drop(packet, Drop::too_big);
      continue;
    }
    counters_.tx_doorbells.add(1);
    const std::uint32_t bytes = packet->length;
    if (const int error = output_->write(packet->bytes(), time_); error != 0) {
      drop(packet, drop_for_errno(error));
      continue;
    }
    counters_.tx_packets.add(1);
    counters_.tx_bytes.add(bytes);
    recycle(packet);
  }
  batch.release_all();
}

}  // namespace ringway::netio
