// The regions are read with pread, never mapped: a file that a shim truncates
// under us would kill the launcher.
#include "study/identity_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "shim/region.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;

// A slot as plain bytes: what was read is a copy, and nobody changes it.
struct SlotCopy {
  alignas(shim::RegionSlot) unsigned char bytes[sizeof(shim::RegionSlot)];
  [[nodiscard]] const shim::RegionSlot& slot() const {
    return *reinterpret_cast<const shim::RegionSlot*>(bytes);
  }
};

Discovery no_evidence(const char* reason) {
  Discovery discovery;
  discovery.source = "rollcall";
  discovery.reason = reason;
  return discovery;
}

bool read_exactly(int fd, void* buffer, size_t size, off_t offset) {
  auto* at = static_cast<unsigned char*>(buffer);
  while (size > 0) {
    const ssize_t got = pread(fd, at, size, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::optional<int64_t> duration(int64_t ns) {
  return ns == shim::kRegionUnset || ns < 0 ? std::nullopt : std::optional<int64_t>(ns);
}

Discovery from_slot(const shim::RegionSlot& slot) {
  Discovery discovery = no_evidence("");
  discovery.added_ns = duration(slot.added_ns);
  discovery.context_added_ns = duration(slot.context_added_ns);
  switch (static_cast<shim::SlotStatus>(slot.status.load(std::memory_order_relaxed))) {
    case shim::SlotStatus::kAssigned:
      discovery.state = DiscoveryState::kAssigned;
      discovery.assigned_pid = slot.assigned_pid;
      discovery.tier = shim::to_text(static_cast<shim::Tier>(slot.tier));
      return discovery;
    case shim::SlotStatus::kFailed:
      discovery.state = DiscoveryState::kFailed;
      discovery.reason = shim::to_text(static_cast<shim::Reason>(slot.reason));
      return discovery;
    case shim::SlotStatus::kEmpty:
    case shim::SlotStatus::kJoined:
    case shim::SlotStatus::kDiscovering:
      break;
  }
  discovery.reason = "discovery_unfinished";
  return discovery;
}

class RollcallSource : public IdentitySource {
 public:
  explicit RollcallSource(const std::vector<std::filesystem::path>& caches) : caches_(caches) {}

  Discovery read(const evidence::WorkerRecord& worker) override {
    if (!worker.pid || !worker.start_time) return no_evidence("worker_not_observed");
    // The worker's own getpid() is what it wrote: the last of its NSpid list.
    const int64_t own_pid = worker.nspid.empty() ? *worker.pid : worker.nspid.back();
    const base::Fd fd(
        open(caches_.at(static_cast<size_t>(worker.cache)).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) return no_evidence(errno == ENOENT ? "region_missing" : "region_unreadable");
    return find_slot(fd.get(), static_cast<int32_t>(own_pid), *worker.start_time);
  }

 private:
  static Discovery find_slot(int fd, int32_t pid, uint64_t start_time) {
    struct stat info {};
    alignas(shim::RegionHeader) unsigned char bytes[sizeof(shim::RegionHeader)];
    if (fstat(fd, &info) != 0) return no_evidence("region_unreadable");
    // A file shorter than a header is judged by what it has.
    memset(bytes, 0, sizeof bytes);
    const auto available = std::min<uint64_t>(static_cast<uint64_t>(info.st_size), sizeof bytes);
    if (!read_exactly(fd, bytes, available, 0)) return no_evidence("region_truncated");
    const auto& header = *reinterpret_cast<const shim::RegionHeader*>(bytes);
    switch (shim::check_region(header, static_cast<uint64_t>(info.st_size))) {
      case shim::RegionCheck::kValid:
        break;
      case shim::RegionCheck::kOtherVersion:
        return no_evidence("region_other_version");
      case shim::RegionCheck::kForeign:
        return no_evidence("region_foreign");
      case shim::RegionCheck::kBlank:
      case shim::RegionCheck::kDamaged:
        return no_evidence("region_damaged");
    }
    const uint32_t claimed = std::min(header.claimed.load(std::memory_order_relaxed), shim::kRegionSlots);
    std::vector<SlotCopy> slots(claimed);
    if (claimed > 0 &&
        !read_exactly(fd, slots.data(), claimed * sizeof(SlotCopy), sizeof(shim::RegionHeader))) {
      return no_evidence("region_truncated");
    }
    for (const SlotCopy& copy : slots) {
      const shim::RegionSlot& slot = copy.slot();
      if (slot.pid.load(std::memory_order_relaxed) == pid && slot.start_time == start_time)
        return from_slot(slot);
    }
    return no_evidence("no_slot");
  }

  std::vector<std::filesystem::path> caches_;
};

class NoSource : public IdentitySource {
 public:
  Discovery read(const evidence::WorkerRecord&) override { return {}; }
};

}  // namespace

base::Result<std::unique_ptr<IdentitySource>> make_identity_source(const Arm& arm,
                                                                   const IdentityFiles& files) {
  if (arm.identity == IdentitySourceKind::kRollcall) return std::make_unique<RollcallSource>(files.caches);
  return std::make_unique<NoSource>();
}

base::Result<void> check_log_patterns(const LogPatterns&, const std::string&) {
  return {};
}

DetectedSource detect_identity_source(const std::filesystem::path&) {
  return {};
}

}  // namespace rollcall::study
