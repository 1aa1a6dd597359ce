// SocketPath: where a daemon listens, and how its name gets into the file system and out again.
#pragma once

#include <string>

#include <sys/types.h>

#include "netio/base/fd.h"
#include "netio/base/result.h"

namespace ringway::router {

// Where the daemon of this user listens unless told otherwise: /run/ringway/control.sock for root,
// $XDG_RUNTIME_DIR/ringway/control.sock for others. `runtime_dir` is that variable, may be null.
[[nodiscard]] Result<std::string> default_socket_path(uid_t user, const char* runtime_dir,
                                                      const std::string& file = "control.sock");

// A listening stream socket that owns its name: mode 0600, gone when the object goes.
class ListeningSocket {
 public:
  // Takes the place of a socket that nobody listens on any more. Fails if a live daemon answers
  // there, or if something else has that name. `make_parent`: also make the last directory, 0755.
  [[nodiscard]] static Result<ListeningSocket> bind(const std::string& path, bool make_parent);

  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  ~ListeningSocket();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Gives the descriptor to who accepts on it; the name stays ours.
  [[nodiscard]] Fd take_fd() noexcept { return std::move(fd_); }

 private:
  ListeningSocket(std::string path, Fd fd) : path_{std::move(path)}, fd_{std::move(fd)} {}

  std::string path_;
  Fd fd_;
  std::string made_directory_;  // removed again at the end, if empty then
  dev_t device_ = 0;            // of our own name: another daemon may have taken it over
  ino_t inode_ = 0;
};

}  // namespace ringway::router
