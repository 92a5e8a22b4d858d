// A region that somebody else writes while it is read: any header, any size, also
// one that is not there or shrinks, slots that change between two reads. An input is
// a short text instead of two megabytes:
//
//   size BYTES            the file has this size
//   header MAGIC MAJOR MINOR
//   slot INDEX PID HOST_PID
//   byte OFFSET VALUE
//   after READS           what follows happens when so many more reads were made
//   find PID              whom find_slot is asked for (the last one counts); without it, read_slots
//
// A line that is none of these does nothing.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz.h"
#include "hami/region.h"

namespace {

using namespace rollcall::hami;

constexpr size_t kMaxSteps = 64;
constexpr size_t kImageBytes = kRegionBytes + 1;
constexpr uint64_t kSlotsEnd = kSlotsOffset + kSlots * kSlotBytes;
// What one question may cost: four readings of sixteen pieces, and a second look at
// every slot in each.
constexpr int kMaxReads = 4 * (16 + static_cast<int>(kSlots));

struct Step {
  std::string_view what;
  std::vector<int64_t> numbers;
  int at_read = 0;
};

std::optional<Step> parse_step(std::string_view line) {
  Step step;
  step.what = rollcall::fuzz::take_until(line, ' ');
  while (!line.empty() && step.numbers.size() < 3) {
    const std::string_view word = rollcall::fuzz::take_until(line, ' ');
    int64_t number = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc())
      return std::nullopt;
    step.numbers.push_back(number);
  }
  const std::pair<std::string_view, size_t> known[] = {{"size", 1}, {"header", 3}, {"slot", 3},
                                                       {"byte", 2}, {"after", 1},  {"find", 1}};
  for (const auto& [what, count] : known) {
    if (step.what == what && step.numbers.size() == count) return step;
  }
  return std::nullopt;
}

// The file, and what is still to happen to it.
class File {
 public:
  explicit File(const std::vector<Step>& steps) : steps_(steps), image_(blank_image()) { happen(); }
  // Two megabytes are not made anew for each input: what was written is blanked again.
  ~File() {
    for (const auto& [offset, bytes] : touched_) memset(image_.data() + offset, 0, bytes);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(void* buffer, size_t size, uint64_t offset) {
    HOLDS(++reads_ <= kMaxReads);
    HOLDS(offset + size <= kRegionBytes);
    happen();
    if (offset + size > size_) {
      memset(buffer, 0xa5, size);  // what a failed read leaves there is nobody's
      return false;
    }
    memcpy(buffer, image_.data() + offset, size);
    return true;
  }

  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] bool settled() const { return next_ == steps_.size(); }
  // Whether some slot said this at any time.
  [[nodiscard]] bool ever_said(int32_t pid, int32_t host_pid) const {
    return said_.contains({pid, host_pid});
  }
  [[nodiscard]] int32_t number_at(size_t offset) const {
    int32_t value = 0;
    memcpy(&value, image_.data() + offset, sizeof value);
    return value;
  }
  // The slots as they are now, by another way than the reader's: only what was written.
  [[nodiscard]] std::vector<Slot> slots() const {
    std::vector<Slot> all;
    for (const size_t index : written_) {
      const size_t at = kSlotsOffset + index * kSlotBytes;
      const Slot slot{index, number_at(at + kSlotPidOffset), number_at(at + kSlotHostPidOffset)};
      if (slot.pid > 0) all.push_back(slot);
    }
    return all;
  }

 private:
  static std::vector<unsigned char>& blank_image() {
    static std::vector<unsigned char> image(kImageBytes);
    return image;
  }

  void happen() {
    for (; next_ < steps_.size() && steps_[next_].at_read <= reads_; ++next_) apply(steps_[next_]);
  }

  void apply(const Step& step) {
    const std::vector<int64_t>& n = step.numbers;
    if (step.what == "size") {
      size_ = static_cast<uint64_t>(n[0]);
    } else if (step.what == "header") {
      for (size_t i = 0; i < 3; ++i) write_number(i * 4, n[i]);
    } else if (step.what == "slot") {
      const size_t at = kSlotsOffset + static_cast<uint64_t>(n[0]) % kSlots * kSlotBytes;
      write_number(at + kSlotPidOffset, n[1]);
      write_number(at + kSlotHostPidOffset, n[2]);
    } else {
      const auto byte = static_cast<unsigned char>(n[1]);
      write(static_cast<uint64_t>(n[0]) % kImageBytes, &byte, 1);
    }
  }

  void write_number(size_t offset, int64_t number) {
    const auto value = static_cast<int32_t>(number);
    write(offset, &value, sizeof value);
  }

  void write(size_t offset, const void* bytes, size_t size) {
    memcpy(image_.data() + offset, bytes, size);
    touched_.emplace_back(offset, size);
    if (offset < kSlotsOffset || offset >= kSlotsEnd) return;
    const size_t index = (offset - kSlotsOffset) / kSlotBytes;
    written_.insert(index);
    const size_t at = kSlotsOffset + index * kSlotBytes;
    said_.insert({number_at(at + kSlotPidOffset), number_at(at + kSlotHostPidOffset)});
  }

  const std::vector<Step>& steps_;
  std::vector<unsigned char>& image_;
  uint64_t size_ = 0;
  int reads_ = 0;
  size_t next_ = 0;
  std::vector<std::pair<size_t, size_t>> touched_;  // offset, bytes
  std::set<size_t> written_;
  std::set<std::pair<int32_t, int32_t>> said_;
};

void check_header(const std::vector<Step>& steps) {
  File file(steps);
  const uint64_t said_size = file.size();  // it may be another one when it is read
  const bool settled = file.settled();
  const RegionSummary summary =
      check_region(said_size, [&](void* b, size_t s, uint64_t o) { return file.read(b, s, o); });
  HOLDS(summary.size_bytes == said_size);
  HOLDS(summary.used_slots.has_value() == (summary.check == RegionCheck::kValid));
  const bool ours =
      summary.magic == kRegionMagic && summary.major == kRegionMajor && summary.minor == kRegionMinor;
  switch (summary.check) {
    case RegionCheck::kValid:
      HOLDS(ours && said_size >= kRegionBytes);
      break;
    case RegionCheck::kBlank:
      HOLDS(summary.magic == 0);
      break;
    case RegionCheck::kForeign:
      HOLDS(summary.magic != kRegionMagic);
      break;
    case RegionCheck::kOtherVersion:
      HOLDS(summary.magic == kRegionMagic && !ours);
      break;
    case RegionCheck::kTruncated:
      HOLDS(said_size < kRegionBytes || !settled);
      break;
  }
  if (!settled || said_size < 12) return;
  HOLDS(summary.magic == file.number_at(0));
  HOLDS((summary.check == RegionCheck::kValid) == (ours && said_size >= kRegionBytes));
  if (summary.used_slots) HOLDS(*summary.used_slots == file.number_at(kUsedSlotsOffset));
}

void check_slots(const std::vector<Step>& steps) {
  File file(steps);
  const bool settled = file.settled();
  const auto slots = read_slots([&](void* b, size_t s, uint64_t o) { return file.read(b, s, o); });
  if (slots) {
    HOLDS(slots->size() <= kSlots);
    for (size_t i = 0; i < slots->size(); ++i) {
      const Slot& slot = (*slots)[i];
      HOLDS(slot.index < kSlots && (i == 0 || (*slots)[i - 1].index < slot.index));
      HOLDS(slot.pid > 0 && file.ever_said(slot.pid, slot.host_pid));
    }
  }
  if (!settled) return;
  HOLDS(slots.has_value() == (file.size() >= kSlotsEnd));
  if (slots) HOLDS(*slots == file.slots());
}

void check_find(const std::vector<Step>& steps, int64_t pid) {
  File file(steps);
  const bool settled = file.settled();
  const FoundSlot found = find_slot([&](void* b, size_t s, uint64_t o) { return file.read(b, s, o); }, pid);
  // Whatever moves meanwhile, what is found stood there when it was looked at last.
  if (found.check == SlotCheck::kFound) {
    HOLDS(pid > 0);
    const auto slots = file.slots();
    HOLDS(std::any_of(slots.begin(), slots.end(),
                      [&](const Slot& slot) { return slot.pid == pid && slot.host_pid == found.host_pid; }));
  } else {
    HOLDS(found.host_pid == 0);
  }
  if (!settled) return;
  if (file.size() < kSlotsEnd) {
    HOLDS(found.check == SlotCheck::kUnreadable);
    return;
  }
  std::set<int32_t> host_pids;
  for (const Slot& slot : file.slots()) {
    if (slot.pid == pid) host_pids.insert(slot.host_pid);
  }
  HOLDS(host_pids.empty()       ? found.check == SlotCheck::kNone
        : host_pids.size() == 1 ? found == (FoundSlot{SlotCheck::kFound, *host_pids.begin()})
                                : found.check == SlotCheck::kTwoDiffer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Step> steps;
  std::optional<int64_t> asked;
  int at_read = 0;
  while (!text.empty() && steps.size() < kMaxSteps) {
    auto step = parse_step(rollcall::fuzz::take_until(text, '\n'));
    if (!step) continue;
    if (step->what == "after") {
      at_read += static_cast<int>(static_cast<uint64_t>(step->numbers[0]) % 64);
    } else if (step->what == "find") {
      asked = step->numbers[0];
    } else {
      step->at_read = at_read;
      steps.push_back(std::move(*step));
    }
  }
  check_header(steps);
  if (asked) {
    check_find(steps, *asked);
  } else {
    check_slots(steps);
  }
  return 0;
}
