// The region: what the workers of one cache file share, and where each of them
// writes down what it discovered. The launcher (or an operator) reads it while
// they live or after they died; nothing is cleared at exit.
//
// Layout, version 1.1, little endian, fixed size:
//
//   offset 0     header, 4096 bytes (RegionHeader)
//   offset 4096  4096 slots of 128 bytes (RegionSlot)
//
// Version 1.0 had no fields of a second number: a reader finds zeros there, which say
// just that.
//
// Crash-safe without a recovery step: the header's magic is written last, under
// the file's set-up lock, so a file whose maker died is all zero in the header
// and is simply set up again; a slot is claimed by one compare-and-swap on its
// pid and says how far its owner came, so a dead owner leaves a slot that is
// honest about being unfinished. A file that is not such a region is left as it
// is, and the caller is told.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/fd.h"

namespace rollcall::shim {

inline constexpr uint64_t kRegionMagic = 0x3130474552434c52;  // "RLCREG01", little endian
inline constexpr uint32_t kRegionMajor = 1;
inline constexpr uint32_t kRegionMinor = 1;
// As many as one run may have workers, all of them on one cache.
inline constexpr uint32_t kRegionSlots = 4096;

enum class SlotStatus : uint32_t {
  kEmpty = 0,
  kJoined = 1,       // in the region; has not begun to discover
  kDiscovering = 2,  // began; a slot that stays here lost its owner in the middle
  // At least one number was discovered: assigned_pid, or with the arm `tiered` the host PID
  // there and the NVML PID in nvml_pid; 0 is one that is not known.
  kAssigned = 3,
  kFailed = 4,  // none was; it says that it failed or gave up: see reason
};

enum class Tier : uint32_t {
  kNone = 0,
  kSnapshotDiff = 1,
  kInitialNamespace = 2,
  kBroker = 3,
  kChallenge = 4,
};

// Why a discovery failed. The text form is what evidence shows.
enum class Reason : uint32_t {
  kNone = 0,
  kNvmlUnavailable = 1,   // libnvidia-ml.so.1 missing, or it refused to start
  kListFailed = 2,        // NVML would not list the processes
  kContextFailed = 3,     // the driver would not make the probe context
  kEqualCounts = 4,       // as many processes after the probe context as before
  kNoNewPid = 5,          // none of those after was new
  kLockTimeout = 6,       // gave up waiting for the lock
  kLockFailed = 7,        // the lock could not be used at all
  kNoMemory = 8,          // no memory for the lists
  kOutOfMemory = 10,      // the device had no memory left for the probe context
  kDriverIncomplete = 9,  // a driver function that the probe needs is missing
  // From here on libhostpid's own: kHostpidFirst + hostpid::Reason.
  kHostpidFirst = 1000,
};

struct RegionHeader {
  std::atomic<uint64_t> magic;  // written last
  uint32_t major;
  uint32_t minor;
  uint32_t slots;
  uint32_t slot_size_bytes;
  std::atomic<uint32_t> claimed;    // how many slots were ever claimed
  std::atomic<uint32_t> lock_wake;  // futex: bumped when the discovery lock is released
  unsigned char reserved[4096 - 32];
};
static_assert(sizeof(RegionHeader) == 4096);

struct RegionSlot {
  std::atomic<int32_t> pid;      // the owner's own getpid(); 0: free
  std::atomic<uint32_t> status;  // SlotStatus; written last (release)
  uint64_t start_time;           // clock ticks since boot, from its own /proc
  uint64_t pid_namespace;        // inode
  int32_t assigned_pid;
  uint32_t tier;           // Tier
  uint32_t reason;         // Reason
  uint32_t listed_before;  // processes that NVML listed before and after the probe context
  uint32_t listed_after;
  uint32_t reserved0;
  int64_t lock_wait_ns;
  int64_t discovery_ns;      // from the start of discovery to its end, the wait included
  int64_t added_ns;          // all time in the shim up to the end of cuInit, less the real cuInit
  int64_t context_added_ns;  // the same of its hooks on contexts up to the first; kRegionUnset: none yet
  // Of the arm `tiered`. Written before status.
  int32_t nvml_pid;
  uint32_t nvml_tier;    // Tier
  uint32_t nvml_reason;  // Reason: why nvml_pid is 0
  uint32_t host_status;  // hostpid_status of either number
  uint32_t nvml_status;
  uint32_t nvml_view;         // hostpid_nvml_view, as the broker told it
  uint32_t challenges;        // begun so far
  uint32_t challenge_rounds;  // of the last one
  unsigned char reserved[16];
};
static_assert(sizeof(RegionSlot) == 128);
inline constexpr int64_t kRegionUnset = INT64_MIN;
inline constexpr size_t kRegionSizeBytes = sizeof(RegionHeader) + kRegionSlots * sizeof(RegionSlot);

// What a file turned out to be, judged by its size and header alone.
enum class RegionCheck {
  kValid,
  kBlank,         // empty, or of our size with an all-zero header: set up never finished
  kForeign,       // some other file
  kOtherVersion,  // ours, of a version that this code does not know
  kDamaged,       // our magic, but sizes that do not fit
};
RegionCheck check_region(const RegionHeader& header, uint64_t file_size_bytes);

const char* to_text(Tier tier);
const char* to_text(Reason reason);

// The caller's place in a region. Keeps the file open for as long as it lives:
// the kernel drops a process's record locks when any descriptor of the file is
// closed.
class Region {
 public:
  enum class Join { kOk, kCannotOpen, kForeign, kOtherVersion, kDamaged, kNoSpace, kFull, kSetupTimeout };

  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Opens or makes the file at `path`, sets it up if it is blank, and claims a
  // slot for the calling process. Waits for another's set-up no longer than
  // deadline_ns (CLOCK_MONOTONIC). Not thread-safe.
  Join join(const char* path, int64_t deadline_ns);

  [[nodiscard]] RegionSlot* slot() { return slot_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::atomic<uint32_t>* lock_wake() { return &header_->lock_wake; }

 private:
  Join open_file(const char* path, int64_t deadline_ns);
  Join claim_slot();

  base::Fd fd_;
  RegionHeader* header_ = nullptr;
  RegionSlot* slot_ = nullptr;
};

const char* to_text(Region::Join join);

}  // namespace rollcall::shim
