// A collector reads files that end in .prom, so a temporary name that does not is not
// taken for one.
#include "broker/metrics_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace rollcall::broker {

base::Result<void> replace_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  const base::Fd fd(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
  if (!fd.valid()) return base::system_failure(temporary, "open", errno, "choose another with --metrics");
  // Nobody waits for whoever reads a pipe that was laid there.
  struct stat info {};
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return base::failure(temporary, "is no regular file", "remove it, or choose another with --metrics");
  std::string_view left = content;
  while (!left.empty()) {
    const ssize_t wrote = write(fd.get(), left.data(), left.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int error = errno;
      unlink(temporary.c_str());
      return base::system_failure(temporary, "write", error);
    }
    left.remove_prefix(static_cast<size_t>(wrote));
  }
  if (rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  unlink(temporary.c_str());
  return base::system_failure(path, "replace", error);
}

}  // namespace rollcall::broker
