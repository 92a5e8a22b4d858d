// Nothing in the file is believed but what was just read: its size, its magic and
// its version are checked, every slot is looked at, and a number is taken as the
// bytes in which it stands.
#include "hami/region.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rollcall::hami {
namespace {

static_assert(std::endian::native == std::endian::little, "the region is little endian");
static_assert(kSlotsOffset + kSlots * kSlotBytes <= kUsedSlotsOffset);
static_assert(kUsedSlotsOffset + sizeof(int32_t) <= kRegionBytes);

constexpr size_t kMagicOffset = 0;
constexpr size_t kMajorOffset = 4;
constexpr size_t kMinorOffset = 8;
constexpr size_t kHeaderBytes = 12;

// Read at a time: few system calls, and small enough for a processor's cache.
constexpr size_t kSlotsAtOnce = 64;
static_assert(kSlots % kSlotsAtOnce == 0);

constexpr int kMaxReadings = 4;

int32_t int32_at(const unsigned char* bytes, size_t offset) {
  int32_t value = 0;
  memcpy(&value, bytes + offset, sizeof value);
  return value;
}

RegionCheck judge(const RegionSummary& summary, size_t header_bytes) {
  const bool version_known = summary.major == kRegionMajor && summary.minor == kRegionMinor;
  const bool version_blank = summary.major == 0 && summary.minor == 0;
  // The version may be there before the magic is.
  if (summary.magic == 0) {
    return version_blank || version_known ? RegionCheck::kBlank : RegionCheck::kForeign;
  }
  if (summary.magic != kRegionMagic) return RegionCheck::kForeign;
  if (header_bytes < kHeaderBytes) return RegionCheck::kTruncated;
  if (!version_known) return RegionCheck::kOtherVersion;
  return summary.size_bytes < kRegionBytes ? RegionCheck::kTruncated : RegionCheck::kValid;
}

std::optional<Slot> read_slot(const ReadAt& read_at, size_t index) {
  unsigned char bytes[kSlotHostPidOffset + sizeof(int32_t)];
  if (!read_at(bytes, sizeof bytes, kSlotsOffset + index * kSlotBytes)) return std::nullopt;
  return Slot{index, int32_at(bytes, kSlotPidOffset), int32_at(bytes, kSlotHostPidOffset)};
}

}  // namespace

const std::vector<Field>& region_fields() {
  static const std::vector<Field> fields = {
      {"magic", kMagicOffset, 4},
      {"major", kMajorOffset, 4},
      {"minor", kMinorOffset, 4},
      {"device_count", 56, 8},
      {"uuids[16]", 64, size_t{16} * 96},
      {"memory_limit[16]", 1600, size_t{16} * 8},
      {"sm_limit[16]", 1728, size_t{16} * 8},
      {"slots[1024]", kSlotsOffset, kSlots * kSlotBytes},
      {"slot.pid", kSlotsOffset + kSlotPidOffset, 4},
      {"slot.host_pid", kSlotsOffset + kSlotHostPidOffset, 4},
      {"slot.used[16]", kSlotsOffset + 8, size_t{16} * 64},
      {"slots_in_use", kUsedSlotsOffset, 4},
      {"post_init_lock", 2008920, kRegionBytes - 2008920},
  };
  return fields;
}

RegionSummary check_region(uint64_t file_size_bytes, const ReadAt& read_at) {
  RegionSummary summary;
  summary.size_bytes = file_size_bytes;
  // A file shorter than the header is judged by what it has.
  unsigned char header[kHeaderBytes] = {};
  const size_t available = std::min<uint64_t>(file_size_bytes, sizeof header);
  if (available > 0 && !read_at(header, available, 0)) {
    summary.check = RegionCheck::kTruncated;
    return summary;
  }
  summary.magic = int32_at(header, kMagicOffset);
  summary.major = int32_at(header, kMajorOffset);
  summary.minor = int32_at(header, kMinorOffset);
  summary.check = judge(summary, available);
  if (summary.check == RegionCheck::kValid) {
    unsigned char used[sizeof(int32_t)];
    if (read_at(used, sizeof used, kUsedSlotsOffset)) {
      summary.used_slots = int32_at(used, 0);
    } else {
      summary.check = RegionCheck::kTruncated;
    }
  }
  return summary;
}

std::optional<std::vector<Slot>> read_slots(const ReadAt& read_at) {
  std::vector<Slot> found;
  std::vector<unsigned char> bytes(kSlotsAtOnce * kSlotBytes);
  for (size_t first = 0; first < kSlots; first += kSlotsAtOnce) {
    if (!read_at(bytes.data(), bytes.size(), kSlotsOffset + first * kSlotBytes)) return std::nullopt;
    for (size_t i = 0; i < kSlotsAtOnce; ++i) {
      const unsigned char* slot = bytes.data() + i * kSlotBytes;
      const int32_t pid = int32_at(slot, kSlotPidOffset);
      if (pid > 0) found.push_back({first + i, pid, int32_at(slot, kSlotHostPidOffset)});
    }
  }
  return found;
}

FoundSlot find_slot(const ReadAt& read_at, int64_t pid) {
  bool seen = false;
  for (int reading = 0; reading < kMaxReadings; ++reading) {
    auto slots = read_slots(read_at);
    if (!slots) return {SlotCheck::kUnreadable};
    std::erase_if(*slots, [pid](const Slot& slot) { return slot.pid != pid; });
    if (slots->empty()) continue;
    seen = true;
    const bool settled = std::all_of(slots->begin(), slots->end(), [&read_at](const Slot& slot) {
      return read_slot(read_at, slot.index) == slot;
    });
    if (!settled) continue;
    const int32_t host_pid = slots->front().host_pid;
    const bool agree = std::all_of(slots->begin(), slots->end(),
                                   [host_pid](const Slot& slot) { return slot.host_pid == host_pid; });
    if (!agree) return {SlotCheck::kTwoDiffer};
    return {SlotCheck::kFound, host_pid};
  }
  return {seen ? SlotCheck::kUnsettled : SlotCheck::kNone};
}

}  // namespace rollcall::hami
