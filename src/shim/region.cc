// See region.h for the layout and why it is crash-safe.
#include "shim/region.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "hostpid/types.h"
#include "shim/lock.h"

namespace rollcall::shim {
namespace {

// Containers of different users may share a cache; the umask decides.
constexpr mode_t kRegionMode = 0666;

bool all_zero(const void* memory, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(memory);
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

RegionCheck check_file(int fd) {
  struct statx info {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &info) != 0) return RegionCheck::kDamaged;
  if (!S_ISREG(info.stx_mode)) return RegionCheck::kForeign;
  RegionHeader header{};
  ssize_t got = 0;
  do {
    got = pread(fd, static_cast<void*>(&header), sizeof header, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return RegionCheck::kDamaged;
  return check_region(header, info.stx_size);
}

// Disk space for what is about to be touched through a mapping: a write into a
// hole of a full disk would kill the host with SIGBUS. Only what is used, so
// that a cache of one worker takes two pages and not half a megabyte.
bool allocate(int fd, size_t offset, size_t size) {
  return posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0;
}

void set_up(RegionHeader* header) {
  header->major = kRegionMajor;
  header->minor = kRegionMinor;
  header->slots = kRegionSlots;
  header->slot_size_bytes = sizeof(RegionSlot);
  header->claimed.store(0, std::memory_order_relaxed);
  header->lock_wake.store(0, std::memory_order_relaxed);
  header->magic.store(kRegionMagic, std::memory_order_release);
}

}  // namespace

RegionCheck check_region(const RegionHeader& header, uint64_t file_size_bytes) {
  if (file_size_bytes == 0) return RegionCheck::kBlank;
  const uint64_t magic = header.magic.load(std::memory_order_acquire);
  if (magic == kRegionMagic) {
    if (header.major != kRegionMajor) return RegionCheck::kOtherVersion;
    const bool fits = file_size_bytes == kRegionSizeBytes && header.slots == kRegionSlots &&
                      header.slot_size_bytes == sizeof(RegionSlot);
    return fits ? RegionCheck::kValid : RegionCheck::kDamaged;
  }
  // A maker that died left our size and, with the magic still missing, either
  // nothing or exactly the fields that set_up writes first.
  if (magic == 0 && file_size_bytes == kRegionSizeBytes) {
    const bool untouched = all_zero(&header, sizeof header);
    const bool half_made = (header.major == kRegionMajor || header.major == 0) &&
                           header.minor <= kRegionMinor &&
                           (header.slots == kRegionSlots || header.slots == 0) &&
                           (header.slot_size_bytes == sizeof(RegionSlot) || header.slot_size_bytes == 0) &&
                           all_zero(header.reserved, sizeof header.reserved);
    if (untouched || half_made) return RegionCheck::kBlank;
  }
  return RegionCheck::kForeign;
}

Region::Join Region::open_file(const char* path, int64_t deadline_ns) {
  fd_.reset(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kRegionMode));
  if (!fd_.valid()) return Join::kCannotOpen;
  RegionCheck check = check_file(fd_.get());
  if (check == RegionCheck::kBlank) {
    FileLock lock(fd_.get(), FileLock::kSetupByte, nullptr);
    if (lock.acquire(deadline_ns) != FileLock::Result::kAcquired) return Join::kSetupTimeout;
    check = check_file(fd_.get());  // another may have been faster
    if (check == RegionCheck::kBlank && !file_size_allowed(kRegionSizeBytes)) return Join::kCannotOpen;
    if (check == RegionCheck::kBlank && ftruncate(fd_.get(), static_cast<off_t>(kRegionSizeBytes)) != 0) {
      return Join::kCannotOpen;
    }
    if (check == RegionCheck::kBlank) {
      if (!allocate(fd_.get(), 0, sizeof(RegionHeader))) return Join::kCannotOpen;
      void* memory = mmap(nullptr, sizeof(RegionHeader), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
      if (memory == MAP_FAILED) return Join::kCannotOpen;
      set_up(static_cast<RegionHeader*>(memory));
      munmap(memory, sizeof(RegionHeader));
      check = RegionCheck::kValid;
    }
  }
  switch (check) {
    case RegionCheck::kValid:
      return Join::kOk;
    case RegionCheck::kOtherVersion:
      return Join::kOtherVersion;
    case RegionCheck::kForeign:
      return Join::kForeign;
    case RegionCheck::kBlank:
    case RegionCheck::kDamaged:
      break;
  }
  return Join::kDamaged;
}

Region::Join Region::claim_slot() {
  auto* slots = reinterpret_cast<RegionSlot*>(header_ + 1);
  const uint64_t own_namespace = base::own_pid_namespace_inode();
  const auto own_pid = static_cast<int32_t>(getpid());
  const uint32_t start = header_->claimed.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < kRegionSlots; ++i) {
    const uint32_t index = (start + i) % kRegionSlots;
    if (!allocate(fd_.get(), sizeof(RegionHeader) + index * sizeof(RegionSlot), sizeof(RegionSlot)))
      return Join::kNoSpace;
    RegionSlot* slot = &slots[index];
    int32_t owner = slot->pid.load(std::memory_order_acquire);
    if (owner != 0) {
      // A dead owner's slot may be taken over once every slot has had an owner;
      // only in its own namespace can it be told that it is dead.
      const bool reclaimable = start >= kRegionSlots && slot->pid_namespace == own_namespace &&
                               kill(owner, 0) != 0 && errno == ESRCH;
      if (!reclaimable) continue;
    }
    if (!slot->pid.compare_exchange_strong(owner, own_pid, std::memory_order_acq_rel)) continue;
    // The status first: until the start time is ours, too, a reader who matches
    // both pid and start time cannot take the former owner's result for ours.
    slot->status.store(static_cast<uint32_t>(SlotStatus::kEmpty), std::memory_order_release);
    slot->start_time = base::own_start_time();
    slot->pid_namespace = own_namespace;
    slot->assigned_pid = 0;
    slot->tier = static_cast<uint32_t>(Tier::kNone);
    slot->reason = static_cast<uint32_t>(Reason::kNone);
    slot->listed_before = 0;
    slot->listed_after = 0;
    slot->lock_wait_ns = kRegionUnset;
    slot->discovery_ns = kRegionUnset;
    slot->added_ns = kRegionUnset;
    slot->context_added_ns = kRegionUnset;
    slot->nvml_pid = 0;
    slot->nvml_tier = static_cast<uint32_t>(Tier::kNone);
    slot->nvml_reason = static_cast<uint32_t>(Reason::kNone);
    slot->host_status = 0;
    slot->nvml_status = 0;
    slot->nvml_view = 0;
    slot->challenges = 0;
    slot->challenge_rounds = 0;
    slot->status.store(static_cast<uint32_t>(SlotStatus::kJoined), std::memory_order_release);
    slot_ = slot;
    return Join::kOk;
  }
  return Join::kFull;
}

Region::Join Region::join(const char* path, int64_t deadline_ns) {
  const Join opened = open_file(path, deadline_ns);
  if (opened != Join::kOk) {
    fd_.reset();
    return opened;
  }
  void* memory = mmap(nullptr, kRegionSizeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return Join::kCannotOpen;
  header_ = static_cast<RegionHeader*>(memory);
  return claim_slot();
}

const char* to_text(Tier tier) {
  switch (tier) {
    case Tier::kNone:
      return "";
    case Tier::kSnapshotDiff:
      return "snapshot-diff";
    case Tier::kInitialNamespace:
      return "initial-namespace";
    case Tier::kBroker:
      return "broker";
    case Tier::kChallenge:
      return "challenge";
  }
  return "unknown";
}

const char* to_text(Reason reason) {
  if (reason >= Reason::kHostpidFirst) {
    const auto own = static_cast<uint32_t>(reason) - static_cast<uint32_t>(Reason::kHostpidFirst);
    if (own > static_cast<uint32_t>(hostpid::Reason::kLast)) return "unknown";
    return hostpid::to_text(static_cast<hostpid::Reason>(own));
  }
  switch (reason) {
    case Reason::kHostpidFirst:
    case Reason::kNone:
      return "";
    case Reason::kNvmlUnavailable:
      return "nvml_unavailable";
    case Reason::kListFailed:
      return "list_failed";
    case Reason::kOutOfMemory:
      return "out_of_memory";
    case Reason::kContextFailed:
      return "context_failed";
    case Reason::kEqualCounts:
      return "equal_counts";
    case Reason::kNoNewPid:
      return "no_new_pid";
    case Reason::kLockTimeout:
      return "lock_timeout";
    case Reason::kLockFailed:
      return "lock_failed";
    case Reason::kNoMemory:
      return "no_memory";
    case Reason::kDriverIncomplete:
      return "driver_incomplete";
  }
  return "unknown";
}

const char* to_text(Region::Join join) {
  switch (join) {
    case Region::Join::kOk:
      return "joined";
    case Region::Join::kCannotOpen:
      return "the cache file cannot be opened, made or given its size";
    case Region::Join::kForeign:
      return "the cache file is not a Rollcall region; it is left as it is";
    case Region::Join::kOtherVersion:
      return "the cache file is a Rollcall region of another version; it is left as it is";
    case Region::Join::kDamaged:
      return "the cache file is a damaged Rollcall region; it is left as it is";
    case Region::Join::kNoSpace:
      return "the disk has no space for a slot of the cache file";
    case Region::Join::kFull:
      return "every slot of the cache file is taken";
    case Region::Join::kSetupTimeout:
      return "another process did not finish setting the cache file up in time";
  }
  return "unknown";
}

}  // namespace rollcall::shim
