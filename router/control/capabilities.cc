// Probes: uname, /proc, /dev/net/tun, a ring.
#include "router/control/capabilities.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "netio/base/fd.h"
#include "netio/open.h"

namespace ringway::router {

namespace {

constexpr const char* kTunNode = "/dev/net/tun";

// The first line, or the whole text if `whole`; empty if the file cannot be read.
std::string read_file(const char* path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string{};
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string why_no_tun(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "/dev/net/tun does not exist: sudo modprobe tun, or give the container the device "
             "(--device /dev/net/tun)";
    case EACCES:
      return "no right to open /dev/net/tun: sudo chmod 0666 /dev/net/tun (the usual mode), or ask "
             "for the group that may";
    case EPERM:
      return "a device policy forbids /dev/net/tun: give the container the device "
             "(--device /dev/net/tun; systemd: DeviceAllow=/dev/net/tun rw)";
    case ENODEV:
    case ENXIO:
      return "the kernel has no TUN driver: sudo modprobe tun";
    default:
      return "/dev/net/tun: " + std::generic_category().message(error_number);
  }
}

void probe_tun(Capabilities& out) {
  const Fd tun{::open(kTunNode, O_RDWR | O_CLOEXEC)};
  out.tun = tun.valid();
  if (!out.tun) {
    out.tun_reason = why_no_tun(errno);
  }
}

EngineAvailability probe_engine(netio::Engine engine, netio::EngineChoice choice) {
  EngineAvailability out;
  out.engine = engine;
  auto opened = netio::open_reactor(choice);
  out.available = opened.ok();
  if (opened) {
    out.reason = opened.value().report.reason;
    out.features = opened.value().report.features;
  } else {
    const Error& error = opened.error();
    out.reason = error.operation + ": " +
                 (error.number != 0 ? std::generic_category().message(error.number) : error.why);
    if (error.number != 0 && !error.why.empty()) {
      out.reason += "; " + error.why;
    }
  }
  return out;
}

void probe_engines(Capabilities& out) {
  out.engines.push_back(probe_engine(netio::Engine::io_uring, netio::EngineChoice::io_uring));
  out.engines.push_back(probe_engine(netio::Engine::epoll, netio::EngineChoice::epoll));
  auto automatic = netio::open_reactor(netio::EngineChoice::automatic);
  if (automatic) {
    out.automatic = std::move(automatic.value().report);
  } else {
    out.automatic.reason = automatic.error().text();
  }
}

bool has(std::uint64_t capabilities, unsigned number) {
  return (capabilities >> number & 1U) != 0;
}

}  // namespace

std::uint64_t effective_capabilities(std::string_view proc_status) {
  constexpr std::string_view kKey = "\nCapEff:";
  const std::size_t found = proc_status.find(kKey);
  if (found == std::string_view::npos) {
    return 0;
  }
  std::istringstream text{std::string{proc_status.substr(found + kKey.size(), 32)}};
  std::uint64_t bits = 0;
  text >> std::hex >> bits;
  return bits;
}

Capabilities probe_capabilities() {
  Capabilities out;
  utsname system{};
  if (::uname(&system) == 0) {
    out.kernel = std::string{system.release};
    out.machine = std::string{system.machine};
  }
  out.user_id = ::geteuid();
  const std::uint64_t capabilities = effective_capabilities(read_file("/proc/self/status"));
  out.net_admin = has(capabilities, CAP_NET_ADMIN);
  out.net_raw = has(capabilities, CAP_NET_RAW);
  out.io_uring_disabled = first_line(read_file("/proc/sys/kernel/io_uring_disabled"));
  rlimit memlock{};
  if (::getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
    out.memlock_bytes =
        memlock.rlim_cur == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(memlock.rlim_cur);
  }
  probe_tun(out);
  probe_engines(out);
  return out;
}

Json capabilities_document(const Capabilities& capabilities) {
  Json engines = Json::array();
  for (const EngineAvailability& engine : capabilities.engines) {
    engines.push_back(Json{{"name", netio::name(engine.engine)},
                           {"available", engine.available},
                           {"reason", engine.reason},
                           {"features", engine.features}});
  }
  return Json{{"schema", kSchema},
              {"kind", "capabilities"},
              {"version", RINGWAY_VERSION},
              {"kernel", capabilities.kernel},
              {"machine", capabilities.machine},
              {"uid", capabilities.user_id},
              {"cap_net_admin", capabilities.net_admin},
              {"cap_net_raw", capabilities.net_raw},
              {"tun", capabilities.tun},
              {"tun_reason", capabilities.tun_reason},
              {"io_uring_disabled", capabilities.io_uring_disabled},
              {"memlock_bytes", capabilities.memlock_bytes},
              {"engine", Json{{"name", netio::name(capabilities.automatic.engine)},
                              {"reason", capabilities.automatic.reason},
                              {"features", capabilities.automatic.features}}},
              {"engines", std::move(engines)},
              {"missing", missing_rights(capabilities)}};
}

std::vector<std::string> missing_rights(const Capabilities& capabilities) {
  std::vector<std::string> out;
  if (!capabilities.tun) {
    out.push_back(capabilities.tun_reason);
  }
  if (!capabilities.net_admin) {
    out.emplace_back(
        "no CAP_NET_ADMIN: only interfaces that were prepared for this user can be used "
        "(sudo ip tuntap add NAME mode tun user USER vnet_hdr)");
  }
  if (!capabilities.net_raw) {
    out.emplace_back(
        "no CAP_NET_RAW: gre, ipip and sit need raw sockets (run as root or as the system "
        "service, or inside: unshare --user --map-root-user --net)");
  }
  const bool any_engine =
      std::any_of(capabilities.engines.begin(), capabilities.engines.end(),
                  [](const EngineAvailability& engine) { return engine.available; });
  if (!any_engine) {
    out.emplace_back("neither io_uring nor epoll can be used: see the engines' reasons");
  }
  return out;
}

}  // namespace ringway::router
