// pcap files: our own round trip, files of other writers, broken files; and the port that uses
// them.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "netio/memory/pcap_file.h"
#include "netio/memory/pcap_port.h"
#include "netio/packet/batch.h"
#include "netio/packet/buffer_pool.h"
#include "netio/packet/drop.h"
#include "netio/packet/packet.h"
#include "netio/port.h"
#include "tests/support/builder.h"
#include "tests/support/compare.h"
#include "tests/support/pool.h"
#include "tests/support/random.h"
#include "tests/support/temporary.h"

namespace ringway {

using namespace std::chrono_literals;
using netio::Batch;
using netio::Drop;
using netio::More;
using netio::PcapPort;
using netio::PcapWriter;
using test::PacketBytes;

namespace {

PacketBytes sample(std::size_t length) {
  return test::packet()
      .ipv4("10.0.0.1", "10.0.0.2")
      .gre({.key = 7})
      .ipv6("::1", "::2")
      .udp()
      .payload(length);
}

// A file of one 2-byte record at 1.000002 s, by the format's drawing.
PacketBytes file_by_hand(bool big_endian, std::uint32_t magic, std::uint32_t link_type) {
  PacketBytes file;
  const auto put = [&file, big_endian](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big_endian ? bytes - 1 - i : i);
      file.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  };
  put(magic, 4);
  put(2, 2);
  put(4, 2);
  put(0, 4);
  put(0, 4);
  put(65535, 4);
  put(link_type, 4);
  put(1, 4);
  put(magic == 0xa1b2c3d4 ? 2 : 2000, 4);
  put(2, 4);
  put(2, 4);
  put(0x45, 1);
  put(0x46, 1);
  return file;
}

std::string error_of(const PacketBytes& content) {
  const auto result = netio::parse_pcap(content, "x.pcap");
  return result.ok() ? "accepted" : result.error().text();
}

}  // namespace

TEST_CASE("what the writer wrote the reader reads, to the nanosecond") {
  const test::TemporaryFile file;
  {
    auto writer = PcapWriter::create(file.path());
    REQUIRE(writer.ok());
    for (std::size_t i = 0; i < 20; ++i) {
      CHECK(writer.value().write(sample(i * 100), 1'700'000'000s + std::chrono::nanoseconds{i}) ==
            0);
    }
    CHECK(writer.value().write({}, 0ns) == 0);
  }
  const auto records = netio::read_pcap(file.path());
  REQUIRE(records.ok());
  REQUIRE(records.value().size() == 21);
  for (std::size_t i = 0; i < 20; ++i) {
    test::check_same_packet(records.value()[i].bytes, sample(i * 100));
    CHECK((records.value()[i].time == 1'700'000'000s + std::chrono::nanoseconds{i}));
  }
  CHECK(records.value()[20].bytes.empty());
}

TEST_CASE("files of both byte orders and both resolutions") {
  for (const bool big_endian : {false, true}) {
    for (const std::uint32_t magic : {0xa1b2c3d4, 0xa1b23c4d}) {
      CAPTURE(big_endian);
      CAPTURE(magic);
      const auto records = netio::parse_pcap(file_by_hand(big_endian, magic, 101), "x.pcap");
      REQUIRE(records.ok());
      REQUIRE(records.value().size() == 1);
      CHECK((records.value()[0].time == 1s + 2us));
      CHECK(records.value()[0].bytes == PacketBytes{0x45, 0x46});
    }
  }
}

TEST_CASE("files that are no such pcap are refused with the reason") {
  const PacketBytes good = file_by_hand(false, 0xa1b2c3d4, 101);
  CHECK(error_of(good) == "accepted");
  CHECK(error_of({}).find("too short") != std::string::npos);
  PacketBytes pcapng = good;
  pcapng[0] = 0x0a;
  CHECK(error_of(pcapng).find("magic number") != std::string::npos);
  CHECK(error_of(file_by_hand(false, 0xa1b2c3d4, 1)).find("link type is 1,") != std::string::npos);
  for (std::size_t length = 1; length < good.size(); ++length) {
    CAPTURE(length);
    const PacketBytes cut{good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)};
    CHECK((error_of(cut) == "accepted") == (length == 24));  // a file without records is whole
  }
  PacketBytes huge = good;
  huge[24 + 8 + 3] = 0x7f;
  CHECK(error_of(huge).find("record 1 ") != std::string::npos);
  const auto missing = netio::read_pcap("/nonexistent/x.pcap");
  REQUIRE(!missing.ok());
  CHECK(missing.error().number == ENOENT);
  const auto nowhere = PcapWriter::create("/nonexistent/x.pcap");
  REQUIRE(!nowhere.ok());
  CHECK(nowhere.error().number == ENOENT);
}

TEST_CASE("random files are read or refused, never past their end") {
  CAPTURE(test::seed());
  std::mt19937_64 random{test::seed()};
  const PacketBytes good = file_by_hand(true, 0xa1b23c4d, 101);
  for (int i = 0; i < 20'000; ++i) {
    PacketBytes file = good;
    for (std::uint64_t change = random() % 4; change > 0; --change) {
      file[random() % file.size()] = static_cast<std::uint8_t>(random());
    }
    const PacketBytes exact{file.begin(),
                            file.begin() + static_cast<std::ptrdiff_t>(random() % file.size())};
    const auto result = netio::parse_pcap(exact, "x.pcap");
    REQUIRE((!result.ok() || result.value().size() <= 1));
  }
}

TEST_CASE("a writer on a full disk says so") {
  // Writes to /dev/full fail with ENOSPC, as the device is made to.
  const auto writer = PcapWriter::create("/dev/full");
  REQUIRE(!writer.ok());
  CHECK(writer.error().number == ENOSPC);
}

TEST_CASE("pcap port: replays one file and writes another") {
  const test::TemporaryFile input;
  const test::TemporaryFile output;
  constexpr std::size_t kRecords = 100;
  {
    auto writer = PcapWriter::create(input.path());
    REQUIRE(writer.ok());
    for (std::size_t i = 0; i < kRecords; ++i) {
      REQUIRE(writer.value().write(sample(i), 0s) == 0);
    }
  }
  const auto pool = test::make_pool(50);  // fewer than records: the rest comes when slots are free
  auto port = PcapPort::create(netio::PortId{9}, {.name = "replay", .mtu = 150},
                               {input.path(), output.path()}, *pool);
  REQUIRE(port.ok());
  PcapPort& pcap = *port.value();
  pcap.set_time(5s);
  std::size_t received = 0;
  std::uint64_t bytes = 0;
  for (;;) {
    Batch batch;
    if (pcap.receive(batch) == 0) {
      break;
    }
    CHECK(batch.size() <= 50);
    for (const netio::Packet* packet : batch.packets()) {
      CHECK(packet->ingress == netio::PortId{9});
      test::check_same_packet(packet->bytes(), sample(received++));
      bytes += packet->length;
    }
    pcap.transmit(batch, More::yes);
    CHECK(batch.empty());
  }
  CHECK(received == kRecords);
  CHECK(pool->available() == 50);
  const netio::PortCounters& counters = pcap.counters();
  CHECK(counters.rx_packets.value() == kRecords);
  CHECK(counters.rx_bytes.value() == bytes);
  CHECK(counters.tx_packets.value() + counters.drops.total() == kRecords);
  const auto written = netio::read_pcap(output.path());
  REQUIRE(written.ok());
  CHECK(written.value().size() == counters.tx_packets.value());
  // 76 bytes of headers: 75 records fit the MTU of 150, 0 to 74.
  CHECK(written.value().size() == 75);
  CHECK(counters.drops.value(Drop::too_big) == 25);
  CHECK((written.value().back().time == 5s));
  test::check_same_packet(written.value().back().bytes, sample(74));
}

TEST_CASE("pcap port: without an output file everything is dropped; bad files are errors") {
  const auto pool = test::make_pool(4);
  auto port = PcapPort::create(netio::PortId{9}, {.name = "deaf"}, {}, *pool);
  REQUIRE(port.ok());
  Batch batch;
  CHECK(port.value()->receive(batch) == 0);
  batch.push(test::to_packet(*pool, sample(1)));
  port.value()->transmit(batch, More::no);
  port.value()->flush();
  CHECK(batch.empty());
  CHECK(port.value()->counters().drops.value(Drop::interface_down) == 1);

  const test::TemporaryFile big;
  {
    auto writer = PcapWriter::create(big.path());
    REQUIRE(writer.ok());
    REQUIRE(writer.value().write(sample(5000), 0s) == 0);
  }
  const auto too_big = PcapPort::create(netio::PortId{9}, {}, {.input = big.path()}, *pool);
  REQUIRE(!too_big.ok());
  CHECK(too_big.error().why.find("5076 bytes") != std::string::npos);
  CHECK(!PcapPort::create(netio::PortId{9}, {}, {.input = "/nonexistent/x"}, *pool).ok());
  CHECK(!PcapPort::create(netio::PortId{9}, {}, {.output = "/nonexistent/x"}, *pool).ok());
}

}  // namespace ringway
