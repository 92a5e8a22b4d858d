// See descriptors.h.
#include "base/descriptors.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace rollcall::base {

Result<size_t> raise_descriptor_limit(size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return system_failure("RLIMIT_NOFILE", "read the limit of open files", errno);
  if (limit.rlim_cur >= wanted) return static_cast<size_t>(limit.rlim_cur);
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return system_failure("RLIMIT_NOFILE", "raise the limit of open files", errno);
  return static_cast<size_t>(limit.rlim_cur);
}

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return usage_error(path,
                       "a socket's path must have 1 to " + std::to_string(sizeof address.sun_path - 1) +
                           " bytes, found " + std::to_string(path.size()),
                       "choose a folder with a shorter path");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace rollcall::base
