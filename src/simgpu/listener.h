// The socket file of a node: made so that there is no moment at which somebody
// else could reach it, and removed only if it is still ours.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace rollcall::simgpu {

class Listener {
 public:
  // An existing file at `path` is an error: it may be another node.
  static base::Result<Listener> create(const std::string& path);

  // The descriptor, for the server to own.
  [[nodiscard]] base::Fd take() { return std::move(fd_); }

  // Removes the socket file if it is the one that was made; with `folder` also
  // the folder that it stands in, if that is empty then.
  void remove(bool folder) const;

 private:
  base::Fd fd_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace rollcall::simgpu
