// unix(7): names, stale names, and the race between two daemons for one name.
#include "router/control/socket_path.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include "netio/base/fd.h"
#include "netio/base/result.h"

namespace ringway::router {

namespace {

constexpr int kBacklog = 16;
// How long another daemon may take to bind in the same directory; it takes microseconds.
constexpr int kLockAttemptsMax = 200;
constexpr std::chrono::milliseconds kLockPause{10};

std::string subject_for(const std::string& path) {
  return "listen on the control socket '" + path + "'";
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool fits(const std::string& path) {
  return !path.empty() && path.size() < sizeof(sockaddr_un{}.sun_path);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  return address;
}

// The calling convention of bind(2) and connect(2).
const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Returns 0 if somebody listens there, or connect's errno.
int try_connect(const std::string& path) {
  const Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_un address = address_of(path);
  if (::connect(socket.get(), generic(address), sizeof(address)) == 0) {
    return 0;
  }
  return errno;
}

// Keeps two daemons from finding the same stale socket and removing each other's fresh one. A
// directory that we may not read has no lock; then bind(2) alone decides.
Fd lock_directory(const std::string& path) {
  Fd directory{::open(parent_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  for (int i = 0; directory.valid() && i < kLockAttemptsMax; ++i) {
    if (::flock(directory.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
      break;
    }
    std::this_thread::sleep_for(kLockPause);
  }
  return directory;
}

// Makes room for a new name: removes a socket that nobody listens on.
Result<void> clear_stale(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    return {};  // nothing there; what else is wrong, bind() will say
  }
  if (!S_ISSOCK(status.st_mode)) {
    return Error{"stat", EEXIST, subject_for(path), "a file that is no socket has this name",
                 "remove it, or choose another name with --socket PATH"};
  }
  const int error_number = try_connect(path);
  // EAGAIN: alive, with a full backlog (unix(7)).
  if (error_number == 0 || error_number == EAGAIN) {
    return Error{"connect", EADDRINUSE, subject_for(path), "another daemon answers on it",
                 "stop it first, or give this one its own with --socket PATH"};
  }
  if (error_number == ECONNREFUSED && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Error{"unlink", errno, subject_for(path), "a stale socket of another user is in the way",
                 "remove it: sudo rm " + path};
  }
  return {};
}

Error bind_error(int number, const std::string& path) {
  Error error{"bind", number, subject_for(path), "", "choose another place with --socket PATH"};
  if (number == ENOENT) {
    error.why = "the directory does not exist";
    error.fix = "make it, or choose another place with --socket PATH";
  } else if (error.is_permission()) {
    error.why = "this user may not write to " + parent_of(path);
  }
  return error;
}

}  // namespace

Result<std::string> default_socket_path(uid_t user, const char* runtime_dir,
                                        const std::string& file) {
  if (user == 0) {
    return "/run/ringway/" + file;
  }
  if (runtime_dir == nullptr || *runtime_dir != '/') {
    return Error{"XDG_RUNTIME_DIR", 0, "find a place for the control socket",
                 "the variable XDG_RUNTIME_DIR names no directory",
                 "log in through a session manager, or give --socket PATH"};
  }
  return std::string{runtime_dir} + "/ringway/" + file;
}

Result<ListeningSocket> ListeningSocket::bind(const std::string& path, bool make_parent) {
  if (!fits(path)) {
    return Error{"bind", ENAMETOOLONG, subject_for(path), "the name of a socket has 1 to 107 bytes",
                 "choose a shorter one with --socket"};
  }
  std::string made;
  if (make_parent && ::mkdir(parent_of(path).c_str(), 0755) == 0) {
    made = parent_of(path);
  }
  const Fd lock = lock_directory(path);
  if (auto done = clear_stale(path); !done) {
    return std::move(done.error());
  }
  Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!fd.valid()) {
    return Error{"socket(AF_UNIX)", errno, subject_for(path), "", ""};
  }
  ListeningSocket socket{path, std::move(fd)};
  socket.made_directory_ = std::move(made);
  // Before bind(), so that the name never exists with more rights (unix_bind takes the mode of the
  // socket's own inode).
  if (::fchmod(socket.fd_.get(), 0600) != 0) {
    return Error{"fchmod", errno, subject_for(path), "", ""};
  }
  const sockaddr_un address = address_of(path);
  if (::bind(socket.fd_.get(), generic(address), sizeof(address)) != 0) {
    return bind_error(errno, path);
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) {
    socket.device_ = status.st_dev;
    socket.inode_ = status.st_ino;
  }
  if (::listen(socket.fd_.get(), kBacklog) != 0) {
    return Error{"listen", errno, subject_for(path), "", ""};
  }
  return socket;
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : path_{std::move(other.path_)},
      fd_{std::move(other.fd_)},
      made_directory_{std::exchange(other.made_directory_, {})},
      device_{other.device_},
      inode_{std::exchange(other.inode_, 0)} {}

ListeningSocket::~ListeningSocket() {
  struct stat status{};
  if (inode_ != 0 && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
  if (!made_directory_.empty()) {
    ::rmdir(made_directory_.c_str());  // fails, rightly, if another daemon lives there
  }
}

}  // namespace ringway::router
