// The shared region of HAMi-core, version 1.2, as a reader meets it: a file that
// other processes write while it is read. Only the layout is ours to know (from
// public sources and measurement); everything is read as bytes, checked, and
// never mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::hami {

inline constexpr int32_t kRegionMagic = 19920718;
inline constexpr int32_t kRegionMajor = 1;
inline constexpr int32_t kRegionMinor = 2;

// One field of the layout, for `rollcall probe layout` and for the reader alike.
// A field that repeats has the size of all its elements; those of a slot are of slot 0.
struct Field {
  const char* name;
  size_t offset;
  size_t size_bytes;
};
inline constexpr size_t kSlots = 1024;
inline constexpr size_t kSlotsOffset = 1856;
inline constexpr size_t kSlotBytes = 1960;
inline constexpr size_t kSlotPidOffset = 0;
inline constexpr size_t kSlotHostPidOffset = 4;
inline constexpr size_t kUsedSlotsOffset = 2008896;
inline constexpr size_t kRegionBytes = 2008952;  // the file has one byte more
const std::vector<Field>& region_fields();

enum class RegionCheck {
  kValid,
  kForeign,       // another magic: not HAMi-core's
  kOtherVersion,  // its magic, another version
  kBlank,         // empty, or no magic yet (it is written last): not initialised
  kTruncated,     // its magic and version, shorter than the layout; or shrunk while it was read
};
struct RegionSummary {
  RegionCheck check = RegionCheck::kForeign;
  int32_t magic = 0, major = 0, minor = 0;
  uint64_t size_bytes = 0;
  std::optional<int32_t> used_slots;
};

// Reads `size` bytes at `offset`; false if they are not there.
using ReadAt = std::function<bool(void* buffer, size_t size, uint64_t offset)>;

// From the header alone; whatever the file's size.
RegionSummary check_region(uint64_t file_size_bytes, const ReadAt& read_at);

struct Slot {
  size_t index = 0;
  int32_t pid = 0;       // the process's own getpid()
  int32_t host_pid = 0;  // what it was assigned; 0: nothing yet, or it failed
  friend bool operator==(const Slot&, const Slot&) = default;
};
// Every slot with a positive pid, of all kSlots (the number in use is not believed:
// slots move when dead ones are compacted). Unset if the region cannot be read.
// A slot that moves meanwhile may be missed, seen twice, or seen half written; so
// what is to be believed is asked of find_slot.
std::optional<std::vector<Slot>> read_slots(const ReadAt& read_at);

// The slot of one process. Found is what a second look confirms; while slots move,
// the region is read again, a few times at most.
enum class SlotCheck {
  kFound,
  kNone,        // no slot has this pid
  kTwoDiffer,   // two have it, with different host PIDs
  kUnsettled,   // it was another one at every second look
  kUnreadable,  // the region ended before its slots
};
struct FoundSlot {
  SlotCheck check = SlotCheck::kNone;
  int32_t host_pid = 0;  // for kFound
  friend bool operator==(const FoundSlot&, const FoundSlot&) = default;
};
FoundSlot find_slot(const ReadAt& read_at, int64_t pid);

}  // namespace rollcall::hami
