// The order write → fsync → name → fsync of the directory is what makes a
// file appear whole or not at all even when the machine stops in between.
#include "base/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace rollcall::base {
namespace {

constexpr mode_t kFileMode = 0666;  // the umask decides
constexpr int kMaxTemporaries = 100;
constexpr mode_t kDirectoryMode = 0777;  // the umask decides

std::string disk_advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another folder";
    case EROFS:
    case EACCES:
    case EPERM:
      return "choose a folder that you may write to";
    case EEXIST:
      return "nothing is overwritten: choose another name";
    default:
      return {};
  }
}

tl::unexpected<Error> file_failure(const std::filesystem::path& path, const char* call, int error) {
  return system_failure(path.string(), call, error, disk_advice(error));
}

Result<void> write_all(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t wrote = write(fd, content.data(), content.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return file_failure(path, "write", errno);
    }
    content.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

std::string name_through_proc(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// A file without a name: if this process is killed, nothing is left of it. Unset where
// the file system has none, or there is no /proc to name it through.
Fd open_nameless(const std::filesystem::path& folder) {
  Fd fd(open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kFileMode));
  struct stat info {};
  if (fd.valid() && stat(name_through_proc(fd.get()).c_str(), &info) != 0) fd.reset();
  return fd;
}

// A killed process may have left a file of this name, and its PID may be ours now.
Fd open_temporary(const std::filesystem::path& path, std::filesystem::path& temporary) {
  Fd fd;
  for (int attempt = 0; attempt < kMaxTemporaries && !fd.valid(); ++attempt) {
    temporary = path;
    temporary += ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(attempt);
    fd.reset(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
    if (!fd.valid() && errno != EEXIST) break;
  }
  return fd;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

}  // namespace

Result<NewFile> NewFile::create(const std::filesystem::path& path) {
  Fd fd = open_nameless(folder_of(path));
  std::filesystem::path temporary;
  if (!fd.valid()) fd = open_temporary(path, temporary);
  if (!fd.valid()) return file_failure(temporary, "create", errno);
  return NewFile(path, std::move(fd), std::move(temporary));
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::move(other.fd_)),
      temporary_(std::exchange(other.temporary_, {})) {}

NewFile::~NewFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<void> NewFile::write(std::string_view piece) {
  return write_all(fd_.get(), piece, path_);
}

Result<void> NewFile::finish() {
  if (fsync(fd_.get()) != 0) return file_failure(path_, "flush", errno);
  // Neither a link nor this rename ever replaces.
  const int named =
      temporary_.empty()
          ? linkat(AT_FDCWD, name_through_proc(fd_.get()).c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW)
          : renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
  if (named != 0) return file_failure(path_, "give the file its name", errno);
  temporary_.clear();
  return sync_directory(folder_of(path_));
}

Result<void> write_new_file(const std::filesystem::path& path, std::string_view content) {
  auto file = NewFile::create(path);
  if (!file) return tl::unexpected<Error>(file.error());
  if (auto wrote = file->write(content); !wrote) return wrote;
  return file->finish();
}

Result<std::string> read_file(const std::filesystem::path& path, size_t max_bytes) {
  // Not blocking: opening a FIFO would wait for its writer for ever.
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return system_failure(path.string(), "open", errno);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return system_failure(path.string(), "examine", errno);
  if (!S_ISREG(info.st_mode)) return failure(path.string(), "expected a regular file, found something else");
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(fd.get(), buffer, sizeof buffer);
    if (got < 0) {
      if (errno == EINTR) continue;
      return system_failure(path.string(), "read", errno);
    }
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > max_bytes) {
      return failure(path.string(),
                     "larger than the " + std::to_string(max_bytes) + " bytes expected at most");
    }
  }
}

Result<void> make_new_directory(const std::filesystem::path& path) {
  if (mkdir(path.c_str(), kDirectoryMode) != 0) return file_failure(path, "make the folder", errno);
  return {};
}

Result<void> rename_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    return file_failure(to, ("rename " + from.string() + " to it").c_str(), errno);
  }
  return {};
}

Result<void> sync_directory(const std::filesystem::path& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return file_failure(path, "open", errno);
  // Some file systems refuse to flush a directory (EINVAL); they have nothing to flush.
  if (fsync(fd.get()) != 0 && errno != EINVAL) return file_failure(path, "flush", errno);
  return {};
}

}  // namespace rollcall::base
