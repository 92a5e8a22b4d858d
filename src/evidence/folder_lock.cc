// See folder_lock.h.
#include "evidence/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

namespace rollcall::evidence {

base::Result<base::Fd> lock_folder(const std::filesystem::path& path) {
  base::Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return base::system_failure(path.string(), "open the folder", errno);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return base::usage_error(path.string(), "another launcher is writing this experiment",
                               "wait until it has ended, or choose another --out");
    }
    return base::system_failure(path.string(), "lock the folder", errno);
  }
  return fd;
}

}  // namespace rollcall::evidence
