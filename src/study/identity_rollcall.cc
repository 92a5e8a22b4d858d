// The region of our own shim. A slot carries its owner's PID and start time, so
// that one left behind by an earlier process speaks for nobody.
#include <algorithm>
#include <cstring>

#include "shim/region.h"
#include "study/identity_parts.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;

constexpr const char* kSource = "rollcall";
constexpr const char* kUnknown = "unknown";

// A slot as plain bytes: what was read is a copy, and nobody changes it.
struct SlotCopy {
  alignas(shim::RegionSlot) unsigned char bytes[sizeof(shim::RegionSlot)];
  [[nodiscard]] const shim::RegionSlot& slot() const {
    return *reinterpret_cast<const shim::RegionSlot*>(bytes);
  }
};

Discovery no_evidence(const char* reason) {
  return make_discovery(kSource, DiscoveryState::kNoEvidence, reason);
}

std::optional<int64_t> duration(int64_t ns) {
  return ns == shim::kRegionUnset || ns < 0 ? std::nullopt : std::optional<int64_t>(ns);
}

std::string text_of_reason(uint32_t reason) {
  return shim::to_text(static_cast<shim::Reason>(reason));
}

// The first version that has fields of two numbers.
constexpr uint32_t kTwoNumbersMinor = 1;

// One number, or of the arm `tiered` two, of which one may be missing: then the slot has a
// reason in its place. Where it has none, the reason is not known; without one, the number
// that is there would be taken for both.
void take_numbers(const shim::RegionSlot& slot, uint32_t minor, Discovery& discovery) {
  discovery.reason = text_of_reason(slot.reason);
  discovery.nvml_reason = text_of_reason(slot.nvml_reason);
  const bool two = minor >= kTwoNumbersMinor && slot.tier != static_cast<uint32_t>(shim::Tier::kSnapshotDiff);
  if (two && slot.nvml_pid == 0 && discovery.nvml_reason.empty()) discovery.nvml_reason = kUnknown;
  if (slot.nvml_pid != 0) {
    discovery.assigned_nvml_pid = slot.nvml_pid;
    discovery.nvml_tier = shim::to_text(static_cast<shim::Tier>(slot.nvml_tier));
  }
  if (slot.nvml_pid != 0 && slot.assigned_pid == 0) return;
  discovery.assigned_pid = slot.assigned_pid;
  discovery.tier = shim::to_text(static_cast<shim::Tier>(slot.tier));
}

Discovery from_slot(const shim::RegionSlot& slot, uint32_t minor) {
  Discovery discovery = no_evidence("");
  discovery.added_ns = duration(slot.added_ns);
  discovery.context_added_ns = duration(slot.context_added_ns);
  switch (static_cast<shim::SlotStatus>(slot.status.load(std::memory_order_relaxed))) {
    case shim::SlotStatus::kAssigned:
      discovery.state = DiscoveryState::kAssigned;
      take_numbers(slot, minor, discovery);
      return discovery;
    case shim::SlotStatus::kFailed:
      discovery.state = DiscoveryState::kFailed;
      discovery.reason = text_of_reason(slot.reason);
      discovery.nvml_reason = text_of_reason(slot.nvml_reason);
      return discovery;
    case shim::SlotStatus::kEmpty:
    case shim::SlotStatus::kJoined:
    case shim::SlotStatus::kDiscovering:
      break;
  }
  discovery.reason = "discovery_unfinished";
  return discovery;
}

Discovery find_slot(const RegionFile& file, int32_t pid, uint64_t start_time) {
  // A file shorter than a header is judged by what it has.
  alignas(shim::RegionHeader) unsigned char bytes[sizeof(shim::RegionHeader)];
  memset(bytes, 0, sizeof bytes);
  const auto available = std::min<uint64_t>(file.size_bytes(), sizeof bytes);
  if (!file.read_at(bytes, available, 0)) return no_evidence("region_truncated");
  const auto& header = *reinterpret_cast<const shim::RegionHeader*>(bytes);
  switch (shim::check_region(header, file.size_bytes())) {
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
  if (claimed > 0 && !file.read_at(slots.data(), claimed * sizeof(SlotCopy), sizeof(shim::RegionHeader))) {
    return no_evidence("region_truncated");
  }
  for (const SlotCopy& copy : slots) {
    const shim::RegionSlot& slot = copy.slot();
    if (slot.pid.load(std::memory_order_relaxed) == pid && slot.start_time == start_time)
      return from_slot(slot, header.minor);
  }
  return no_evidence("no_slot");
}

class RollcallSource : public IdentitySource {
 public:
  explicit RollcallSource(const std::vector<std::filesystem::path>& caches) : caches_(caches) {}

  Discovery read(const evidence::WorkerRecord& worker) override {
    if (!worker.pid || !worker.start_time) return no_evidence("worker_not_observed");
    // The worker's own getpid() is what it wrote: the last of its NSpid list. Where
    // that is not known the start time keeps another's slot from being taken.
    const int64_t pid = own_pid(worker).value_or(*worker.pid);
    const auto file = RegionFile::open(file_of(caches_, worker));
    if (!file) return no_evidence(file.error());
    return find_slot(*file, static_cast<int32_t>(pid), *worker.start_time);
  }

 private:
  std::vector<std::filesystem::path> caches_;
};

}  // namespace

std::unique_ptr<IdentitySource> make_rollcall_source(const IdentityFiles& files) {
  return std::make_unique<RollcallSource>(files.caches);
}

}  // namespace rollcall::study
