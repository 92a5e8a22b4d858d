// The mode of the socket comes from the umask at bind(), not from a chmod()
// after it, which would leave a window.
#include "simgpu/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/descriptors.h"

namespace rollcall::simgpu {
namespace {

// As many as the kernel keeps (net.core.somaxconn, 4096 by default); further
// clients wait in connect().
constexpr int kBacklog = 4096;
constexpr mode_t kOwnerOnly = 0077;

}  // namespace

base::Result<Listener> Listener::create(const std::string& path) {
  const auto address = base::unix_address(path);
  if (!address) return tl::unexpected(address.error());
  Listener listener;
  listener.path_ = path;
  listener.fd_ = base::Fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.fd_.valid()) return base::system_failure(path, "make a socket", errno);
  const mode_t before = umask(kOwnerOnly);
  const int bound = bind(listener.fd_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  const int error = errno;
  umask(before);
  if (bound != 0) {
    return base::system_failure(
        path, "bind the socket", error,
        error == EADDRINUSE ? "another node may be serving there: choose another path" : "");
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return base::system_failure(path, "stat", errno);
  listener.device_ = info.st_dev;
  listener.inode_ = info.st_ino;
  if (listen(listener.fd_.get(), kBacklog) != 0) {
    const int listen_error = errno;
    listener.remove(false);
    return base::system_failure(path, "listen", listen_error);
  }
  return listener;
}

void Listener::remove(bool folder) const {
  struct stat info {};
  if (lstat(path_.c_str(), &info) != 0 || info.st_dev != device_ || info.st_ino != inode_) return;
  unlink(path_.c_str());
  if (folder) rmdir(std::filesystem::path(path_).parent_path().c_str());
}

}  // namespace rollcall::simgpu
