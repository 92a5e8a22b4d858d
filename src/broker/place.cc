// The lock is taken before anything at `path` is looked at, so two brokers cannot both
// find a stale socket and each put theirs over it. The mode of the socket comes from the
// umask at bind(), not from a chmod() after it, which would leave a window.
#include "broker/place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/descriptors.h"
#include "broker/passed_descriptors.h"

namespace rollcall::broker {
namespace {

// As many as the kernel keeps at most by default (net.core.somaxconn).
constexpr int kBacklog = 4096;
constexpr mode_t kEverybodyMayConnect = 0111;  // what the umask takes away: the socket is 0666
constexpr mode_t kOthersMayWrite = 022;

// Opens the directory itself, so that all checks are of the same one.
base::Result<base::Fd> open_directory(const std::string& folder) {
  const mode_t before = umask(0);
  const int made = mkdir(folder.c_str(), 0711);
  const int error = errno;
  umask(before);
  if (made != 0 && error != EEXIST) {
    return base::system_failure(folder, "make the directory of the socket", error,
                                "make its parent directory, or choose another with --socket-dir");
  }
  base::Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) {
    const bool link = errno == ELOOP || errno == ENOTDIR;
    return link ? base::failure(folder, "expected a directory, found something else or a symbolic link",
                                "remove it, or choose another with --socket-dir")
                : base::system_failure(folder, "open", errno);
  }
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return base::system_failure(folder, "examine", errno);
  if (info.st_uid != geteuid()) {
    return base::failure(folder,
                         "expected a directory of user " + std::to_string(geteuid()) +
                             ", found one of user " + std::to_string(info.st_uid),
                         "clients would not trust it: remove it, or choose another with --socket-dir");
  }
  if ((info.st_mode & kOthersMayWrite) != 0) {
    return base::failure(
        folder, "others may write to this directory, so anybody could replace the socket",
        "give it a directory of its own with --socket-dir (or take the right from others, if this is one)");
  }
  return fd;
}

base::Result<base::Fd> take_lock(int folder_fd, const std::string& folder) {
  const std::string name = folder + "/hostpidd.lock";
  base::Fd fd(openat(folder_fd, "hostpidd.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return base::system_failure(name, "open", errno);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return base::system_failure(name, "lock", errno);
  return base::failure(name, "another hostpidd holds this lock and serves there",
                       "end that one first, or choose another with --socket-dir");
}

// Whether somebody listens at the path.
bool is_served(const sockaddr_un& address) {
  const base::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         (errno != ECONNREFUSED && errno != ENOENT);
}

// What is at the path may be replaced: nothing, or a socket of ours that is left over.
base::Result<void> check_replaceable(const std::string& path, const sockaddr_un& address) {
  struct stat before {};
  if (lstat(path.c_str(), &before) != 0) {
    if (errno == ENOENT) return {};
    return base::system_failure(path, "examine", errno);
  }
  if (!S_ISSOCK(before.st_mode) || before.st_uid != geteuid()) {
    return base::failure(path, "something is there that is not a socket of ours", "remove it by hand");
  }
  if (is_served(address)) {
    return base::failure(path, "another server listens there", "end that one first, or choose another path");
  }
  struct stat after {};
  if (lstat(path.c_str(), &after) != 0 || after.st_dev != before.st_dev || after.st_ino != before.st_ino) {
    return base::failure(path, "changed while it was examined: another server starts there",
                         "end that one first, or choose another path");
  }
  return {};
}

}  // namespace

base::Result<SocketPlace> SocketPlace::take(const std::string& path) {
  const auto address = base::unix_address(path);
  if (!address) return tl::unexpected(address.error());
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty() || path.front() != '/') {
    return base::usage_error(path, "expected an absolute path of a socket in a directory of its own");
  }
  const auto folder_fd = open_directory(folder);
  if (!folder_fd) return tl::unexpected(folder_fd.error());
  SocketPlace place;
  place.path_ = path;
  auto lock = take_lock(folder_fd->get(), folder);
  if (!lock) return tl::unexpected(lock.error());
  place.lock_ = std::move(*lock);
  if (auto free = check_replaceable(path, *address); !free) return tl::unexpected(free.error());

  const std::string temporary = folder + "/.new.sock";
  const auto temporary_address = base::unix_address(temporary);
  if (!temporary_address) return tl::unexpected(temporary_address.error());
  struct stat info {};
  if (lstat(temporary.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) unlink(temporary.c_str());
  place.listener_ = base::Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!place.listener_.valid()) return base::system_failure(path, "make a socket", errno);
  refuse_passed_descriptors(place.listener_.get());
  const mode_t before = umask(kEverybodyMayConnect);
  const int bound = bind(place.listener_.get(), reinterpret_cast<const sockaddr*>(&*temporary_address),
                         sizeof *temporary_address);
  const int error = errno;
  umask(before);
  if (bound != 0) return base::system_failure(temporary, "bind the socket", error);
  // It listens before it has its name, so that whoever finds it can connect.
  if (lstat(temporary.c_str(), &info) != 0 || listen(place.listener_.get(), kBacklog) != 0 ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const int failed = errno;
    unlink(temporary.c_str());
    return base::system_failure(path, "listen", failed);
  }
  place.device_ = info.st_dev;
  place.inode_ = info.st_ino;
  return place;
}

void SocketPlace::remove_file() {
  struct stat info {};
  if (lstat(path_.c_str(), &info) != 0 || info.st_dev != device_ || info.st_ino != inode_) return;
  unlink(path_.c_str());
}

}  // namespace rollcall::broker
