// See identity_parts.h.
#include "study/identity_parts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rollcall::study {
namespace {

tl::unexpected<const char*> fault(const char* reason) {
  return tl::unexpected<const char*>(reason);
}

}  // namespace

tl::expected<RegionFile, const char*> RegionFile::open(const std::filesystem::path& path) {
  // Not blocking: opening a FIFO would wait for its writer for ever.
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fault(errno == ENOENT ? "region_missing" : "region_unreadable");
  struct stat info {};
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return fault("region_unreadable");
  return RegionFile(std::move(fd), static_cast<uint64_t>(info.st_size));
}

bool RegionFile::read_at(void* buffer, size_t size, uint64_t offset) const {
  auto* at = static_cast<unsigned char*>(buffer);
  while (size > 0) {
    const ssize_t got = pread(fd_.get(), at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<size_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::filesystem::path file_of(const std::vector<std::filesystem::path>& files,
                              const evidence::WorkerRecord& worker) {
  const auto cache = static_cast<size_t>(worker.cache);
  return cache < files.size() ? files[cache] : std::filesystem::path();
}

std::optional<int64_t> own_pid(const evidence::WorkerRecord& worker) {
  if (!worker.pid || worker.nspid.empty()) return std::nullopt;
  return worker.nspid.back();
}

evidence::Discovery make_discovery(const char* source, evidence::DiscoveryState state, std::string reason) {
  evidence::Discovery discovery;
  discovery.state = state;
  discovery.source = source;
  discovery.reason = std::move(reason);
  return discovery;
}

}  // namespace rollcall::study
