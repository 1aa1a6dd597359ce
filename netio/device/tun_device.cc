// Creates or attaches to a TUN interface, and explains each way in which that can fail.
#include "netio/device/tun_device.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netio/device/vnet_header.h"

namespace ringway::netio {

namespace {

constexpr const char* kNode = "/dev/net/tun";
constexpr short kFlags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;

// A process that was killed holds its interface until the kernel has taken it apart.
constexpr int kBusyTries = 50;
constexpr std::chrono::milliseconds kBusyPause{20};

ifreq request_for(const std::string& name) noexcept {
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), name.size());  // shorter than ifr_name: checked
  return request;
}

// What the kernel would refuse, or misunderstand (net/core/dev.c dev_valid_name; '%' is a
// template).
std::optional<std::string> fault_of(std::string_view name) {
  if (name.empty()) {
    return "the name is empty";
  }
  if (name.size() >= IFNAMSIZ) {
    return "interface names have at most 15 bytes and this one has " + std::to_string(name.size());
  }
  if (name == "." || name == ".." || name.find_first_of("/:% \t\n\v\f\r") != name.npos) {
    return "an interface name has no blank, '/', ':' or '%' in it";
  }
  return std::nullopt;
}

// What sort of interface has this name: "tun", "tap", or "" for anything else.
std::string kind_of(const std::string& name) {
  const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request = request_for(name);
  request.ifr_data = reinterpret_cast<char*>(&info);  // the ioctl's way to pass a struct
  if (::ioctl(socket.get(), SIOCETHTOOL, &request) != 0 || std::string_view{info.driver} != "tun") {
    return {};
  }
  return info.bus_info;
}

using Directory = std::unique_ptr<DIR, decltype([](DIR* open) { ::closedir(open); })>;

// Whether one of the descriptors of a process is the interface: /proc/PID/fdinfo says "iff:\tNAME".
bool holds(const std::string& process, const std::string& name) {
  const std::string folder = "/proc/" + process + "/fdinfo";
  const Directory descriptors{::opendir(folder.c_str())};
  const std::string wanted = "iff:\t" + name + "\n";
  while (descriptors != nullptr) {
    const dirent* entry = ::readdir(descriptors.get());
    if (entry == nullptr) {
      break;
    }
    const Fd file{::open((folder + "/" + entry->d_name).c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<char, 1024> text{};
    const ssize_t length = ::read(file.get(), text.data(), text.size());
    if (length > 0 && std::string_view{text.data(), static_cast<std::size_t>(length)}.find(
                          wanted) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// "process 4711 holds it", as far as we may see.
std::string holder_of(const std::string& name) {
  const Directory processes{::opendir("/proc")};
  while (processes != nullptr) {
    const dirent* entry = ::readdir(processes.get());
    if (entry == nullptr) {
      break;
    }
    const std::string process = entry->d_name;
    if (process.find_first_not_of("0123456789") == std::string::npos && holds(process, name)) {
      return "process " + process + " holds it";
    }
  }
  return "another process holds it";
}

Error node_error(int number, const std::string& subject) {
  Error error{.operation = std::string{"open "} + kNode,
              .number = number,
              .subject = subject,
              .why = {},
              .fix = {}};
  switch (number) {
    case ENOENT:
      error.why = "there is no /dev/net/tun: the module is not loaded, or the container lacks it";
      error.fix =
          "sudo modprobe tun; in a container: --device /dev/net/tun; without udev: "
          "sudo mkdir -p /dev/net && sudo mknod -m 0666 /dev/net/tun c 10 200";
      break;
    case ENODEV:
    case ENXIO:
      error.why = "/dev/net/tun is there but the kernel has no tun driver behind it";
      error.fix = "sudo modprobe tun; a kernel without CONFIG_TUN cannot run tunnels";
      break;
    case EACCES:
      error.why = "the mode of /dev/net/tun keeps user " + std::to_string(::geteuid()) + " out";
      error.fix = "sudo chmod 0666 /dev/net/tun (the usual mode: creating needs CAP_NET_ADMIN)";
      break;
    case EPERM:
      error.why = "the device rules of this container or service forbid /dev/net/tun";
      error.fix = "container: --device /dev/net/tun; systemd: DeviceAllow=/dev/net/tun rw";
      break;
    default:
      break;
  }
  return error;
}

Error create_error(int number, const std::string& name, bool existed) {
  Error error{.operation = "TUNSETIFF",
              .number = number,
              .subject = (existed ? "attach to interface '" : "create interface '") + name + "'",
              .why = {},
              .fix = {}};
  const std::string user = std::to_string(::geteuid());
  switch (number) {
    case EPERM:
      error.why = existed ? "the interface belongs to another user or group than user " + user
                          : "the process lacks CAP_NET_ADMIN and no persistent interface '" + name +
                                "' owned by user " + user + " exists";
      error.fix = (existed ? "sudo ip link delete " + name + " && " : std::string{}) +
                  "sudo ip tuntap add " + name +
                  " mode tun user $USER vnet_hdr   (once), or give " + "the daemon CAP_NET_ADMIN";
      break;
    case EBUSY:
      error.why = holder_of(name);
      error.fix = "stop that process, or give this tunnel another interface name";
      break;
    case EINVAL: {
      const std::string kind = existed ? kind_of(name) : std::string{};
      if (existed && kind != "tun") {
        error.why = kind == "tap" ? "the interface is a TAP (layer 2), and a TUN is needed"
                                  : "an interface of this name exists and is not a TUN";
        error.fix = "give this tunnel another interface name, or: sudo ip link delete " + name;
      }
      break;
    }
    default:
      break;
  }
  return error;
}

// TUNSETIFF, with patience while the name is busy. Returns 0 or errno.
int set_interface(int fd, const std::string& name, bool existed) {
  short flags = kFlags;
  for (int tries = 0;; ++tries) {
    ifreq request = request_for(name);
    request.ifr_flags = flags;
    if (::ioctl(fd, TUNSETIFF, &request) == 0) {
      return 0;
    }
    const int number = errno;
    if (number == EINVAL && existed && flags == kFlags && kind_of(name) == "tun") {
      // A persistent interface made with multi_queue wants to hear so from everyone who attaches.
      flags = static_cast<short>(kFlags | IFF_MULTI_QUEUE);
    } else if (number == EBUSY && tries < kBusyTries) {
      std::this_thread::sleep_for(kBusyPause);
    } else {
      return number;
    }
  }
}

// A persistent interface keeps the header format of whoever used it last.
Result<void> set_header_format(int fd, const std::string& name) {
  const auto failed = [&name](const char* operation) {
    return Error{.operation = operation,
                 .number = errno,
                 .subject = "prepare interface '" + name + "'",
                 .why = "the kernel does not give us its packets behind a vnet header",
                 .fix = "sudo ip link delete " + name + ", and let it be created anew"};
  };
  ifreq request{};
  if (::ioctl(fd, TUNGETIFF, &request) != 0 || (request.ifr_flags & IFF_VNET_HDR) == 0) {
    return failed("TUNGETIFF");
  }
  int header_bytes = kVnetHeaderBytes;
  if (::ioctl(fd, TUNSETVNETHDRSZ, &header_bytes) != 0) {
    return failed("TUNSETVNETHDRSZ");
  }
  int little_endian = 0;
  if (::ioctl(fd, TUNSETVNETLE, &little_endian) != 0) {
    return failed("TUNSETVNETLE");
  }
  // A write must never wait (drivers/net/tun.c tun_alloc_skb): the engines count on it.
  int send_bytes = INT_MAX;
  if (::ioctl(fd, TUNSETSNDBUF, &send_bytes) != 0) {
    return failed("TUNSETSNDBUF");
  }
  // Whole packets with complete checksums, both ways.
  if (::ioctl(fd, TUNSETOFFLOAD, 0UL) != 0) {
    return failed("TUNSETOFFLOAD");
  }
  return {};
}

}  // namespace

Result<TunDevice> TunDevice::open(const TunOptions& options) {
  const std::string& name = options.name;
  const std::string subject = "create interface '" + name + "'";
  if (const std::optional<std::string> fault = fault_of(name)) {
    return Error{.operation = "invalid interface name",
                 .number = 0,
                 .subject = subject,
                 .why = *fault,
                 .fix = "set `interface:` of the tunnel to a shorter, plain name"};
  }
  Fd fd{::open(kNode, O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  if (!fd.valid()) {
    return node_error(errno, subject);
  }
  const bool existed = ::if_nametoindex(name.c_str()) != 0;
  if (const int number = set_interface(fd.get(), name, existed); number != 0) {
    return create_error(number, name, existed);
  }
  if (Result<void> ready = set_header_format(fd.get(), name); !ready) {
    return ready.error();
  }
  return TunDevice{options, std::move(fd), existed};
}

}  // namespace ringway::netio
