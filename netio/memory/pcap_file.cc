// Reading and writing the two headers of a pcap file.
#include "netio/memory/pcap_file.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "netio/base/clock.h"
#include "netio/base/fd.h"
#include "netio/base/result.h"
#include "netio/wire/header.h"

namespace ringway::netio {

namespace {

constexpr std::uint32_t kMagicMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t kLinkTypeRaw = 101;

// Both are written in the byte order of the machine; the magic number tells the reader which.
struct FileHeader {
  std::uint32_t magic = kMagicNanoseconds;
  std::uint16_t version_major = 2;
  std::uint16_t version_minor = 4;
  std::uint32_t reserved[2] = {};  // NOLINT(modernize-avoid-c-arrays): as in the format
  std::uint32_t snap_length = kPcapRecordBytesMax;
  std::uint32_t link_type = kLinkTypeRaw;
};
static_assert(sizeof(FileHeader) == kPcapFileHeaderBytes);

struct RecordHeader {
  std::uint32_t seconds = 0;
  std::uint32_t fraction = 0;
  std::uint32_t captured_bytes = 0;
  std::uint32_t original_bytes = 0;
};
static_assert(sizeof(RecordHeader) == 16);

Error system_error(const char* operation, int number, const std::string& subject) {
  return {.operation = operation, .number = number, .subject = subject, .why = {}, .fix = {}};
}

// What a write that was not whole means. A short write to a file: the disk is full.
int write_errno(ssize_t written) noexcept {
  return written < 0 ? errno : ENOSPC;
}

Error format_error(const std::string& name, std::string why) {
  return {.operation = "read_pcap",
          .number = 0,
          .subject = "read '" + name + "'",
          .why = std::move(why),
          .fix = "convert it: tshark -F pcap -r FILE -w OUT (link type raw IP)"};
}

// What the magic number says about the rest of the file.
struct Flavour {
  bool swapped = false;
  std::uint32_t nanoseconds_per_unit = 1;

  [[nodiscard]] std::uint32_t host(std::uint32_t value) const noexcept {
    return swapped ? __builtin_bswap32(value) : value;
  }
};

std::optional<Flavour> flavour_of(std::uint32_t magic) noexcept {
  for (const bool swapped : {false, true}) {
    const Flavour flavour{swapped, 1};
    if (flavour.host(magic) == kMagicNanoseconds) {
      return flavour;
    }
    if (flavour.host(magic) == kMagicMicroseconds) {
      return Flavour{swapped, 1000};
    }
  }
  return std::nullopt;
}

// The T at the front of `bytes`, which is moved behind it. Precondition: it is there.
template <class T>
T take(wire::ConstBytes& bytes) noexcept {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

}  // namespace

Result<PcapWriter> PcapWriter::create(const std::string& path) {
  Fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)};
  if (!file.valid()) {
    return system_error("open", errno, "create capture file '" + path + "'");
  }
  const FileHeader header;
  const ssize_t written = ::write(file.get(), &header, sizeof header);
  if (written != static_cast<ssize_t>(sizeof header)) {
    return system_error("write", write_errno(written), "write capture file '" + path + "'");
  }
  return PcapWriter{std::move(file)};
}

int PcapWriter::write(wire::ConstBytes packet, Duration time) noexcept {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  RecordHeader header{.seconds = static_cast<std::uint32_t>(time.count() / kNanoseconds),
                      .fraction = static_cast<std::uint32_t>(time.count() % kNanoseconds),
                      .captured_bytes = static_cast<std::uint32_t>(packet.size()),
                      .original_bytes = static_cast<std::uint32_t>(packet.size())};
  // writev reads only; its struct serves readv as well and so has no const.
  const std::array<iovec, 2> parts{
      {{&header, sizeof header},
       {const_cast<std::uint8_t*>(packet.data()), packet.size()}}};  // NOLINT
  const ssize_t written = ::writev(file_.get(), parts.data(), static_cast<int>(parts.size()));
  if (written == static_cast<ssize_t>(sizeof header + packet.size())) {
    bytes_ += written;
    return 0;
  }
  const int error = write_errno(written);
  if (written > 0 && ::ftruncate(file_.get(), bytes_) != 0) {
    return errno;
  }
  return error;
}

Result<std::vector<PcapRecord>> read_pcap(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.valid()) {
    return system_error("open", errno, "open capture file '" + path + "'");
  }
  std::vector<std::uint8_t> content;
  std::array<std::uint8_t, 65536> piece{};
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0) {
      return system_error("read", errno, "read capture file '" + path + "'");
    }
    if (count == 0) {
      return parse_pcap(content, path);
    }
    content.insert(content.end(), piece.data(), piece.data() + count);
  }
}

Result<std::vector<PcapRecord>> parse_pcap(wire::ConstBytes content, const std::string& name) {
  if (content.size() < sizeof(FileHeader)) {
    return format_error(name, "it is too short for a pcap file");
  }
  const auto header = take<FileHeader>(content);
  const auto flavour = flavour_of(header.magic);
  if (!flavour) {
    return format_error(name, "it does not begin with the magic number of pcap");
  }
  // The upper half of the field holds details of the link's checksum, not its type.
  const std::uint32_t link_type = flavour->host(header.link_type) & 0xffff;
  if (link_type != kLinkTypeRaw) {
    return format_error(name, "its link type is " + std::to_string(link_type) + ", not 101 (IP)");
  }
  std::vector<PcapRecord> records;
  while (!content.empty()) {
    if (content.size() < sizeof(RecordHeader)) {
      return format_error(name, "it ends within the header of a record");
    }
    const auto record = take<RecordHeader>(content);
    const std::uint32_t bytes = flavour->host(record.captured_bytes);
    if (bytes > kPcapRecordBytesMax || bytes > content.size()) {
      return format_error(name, "record " + std::to_string(records.size() + 1) + " of " +
                                    std::to_string(bytes) + " bytes is not whole");
    }
    const std::int64_t fraction =
        std::int64_t{flavour->host(record.fraction)} * flavour->nanoseconds_per_unit;
    const auto packet = content.first(bytes);
    records.push_back({std::chrono::seconds{flavour->host(record.seconds)} + Duration{fraction},
                       {packet.begin(), packet.end()}});
    content = content.subspan(bytes);
  }
  return records;
}

}  // namespace ringway::netio
