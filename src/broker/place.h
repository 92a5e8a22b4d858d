// Where the broker is to be found: a directory that only its owner can write to, one
// lock in it, and the socket file. Made so that there is no moment at which somebody
// else could put himself in its place, and no moment without a socket file where there
// was one. What is not ours is never removed.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace rollcall::broker {

class SocketPlace {
 public:
  // Makes the directory (0711) if it is missing, locks it, and listens at `path`. An
  // error if the directory is another user's, writable by others or a symbolic link; if
  // another broker holds the lock; if what is at `path` is not a socket of ours that
  // nobody listens at.
  static base::Result<SocketPlace> take(const std::string& path);

  SocketPlace(SocketPlace&&) = default;
  SocketPlace& operator=(SocketPlace&&) = default;

  [[nodiscard]] int listener() const { return listener_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Removes the socket file if it is still the one that was made; who has connected
  // stays so.
  void remove_file();
  // No more connections: those that were not accepted are refused.
  void close_listener() { listener_.reset(); }

 private:
  SocketPlace() = default;

  std::string path_;
  base::Fd lock_;
  base::Fd listener_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace rollcall::broker
