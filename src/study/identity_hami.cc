// HAMi-core: the worker's slot in the region of its cache, which is what it acts
// on, cross-checked with what it said in the log. Neither tells when a process
// started; but a run's cache and log are fresh and none of its workers is reaped
// before its end, so that no PID comes twice.
#include "hami/log.h"
#include "hami/region.h"
#include "study/identity_parts.h"
#include "study/log_follower.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;

constexpr const char* kSource = "hami-core";
// The same, where its log could not be followed and so could not contradict it.
constexpr const char* kUncheckedSource = "hami-core-region";

Discovery no_evidence(const char* reason) {
  return make_discovery(kSource, DiscoveryState::kNoEvidence, reason);
}

Discovery contradicting(const char* reason) {
  return make_discovery(kSource, DiscoveryState::kContradicting, reason);
}

Discovery assigned(int64_t pid) {
  Discovery discovery = make_discovery(kSource, DiscoveryState::kAssigned, "");
  discovery.assigned_pid = pid;
  return discovery;
}

const char* fault_of(hami::RegionCheck check) {
  switch (check) {
    case hami::RegionCheck::kValid:
      return nullptr;
    case hami::RegionCheck::kForeign:
      return "region_foreign";
    case hami::RegionCheck::kOtherVersion:
      return "region_other_version";
    case hami::RegionCheck::kBlank:
      return "region_damaged";
    case hami::RegionCheck::kTruncated:
      return "region_truncated";
  }
  return "region_damaged";
}

// What the region alone says.
Discovery read_region(const std::filesystem::path& cache, int64_t pid) {
  const auto file = RegionFile::open(cache);
  if (!file) return no_evidence(file.error());
  const hami::ReadAt read_at = [&file](void* buffer, size_t size, uint64_t offset) {
    return file->read_at(buffer, size, offset);
  };
  const char* fault = fault_of(hami::check_region(file->size_bytes(), read_at).check);
  if (fault != nullptr) return no_evidence(fault);

  const hami::FoundSlot slot = hami::find_slot(read_at, pid);
  switch (slot.check) {
    case hami::SlotCheck::kFound:
      if (slot.host_pid < 0) return no_evidence("slot_damaged");
      if (slot.host_pid == 0) return make_discovery(kSource, DiscoveryState::kFailed, "no_host_pid");
      return assigned(slot.host_pid);
    case hami::SlotCheck::kTwoDiffer:
      return contradicting("two_slots");
    case hami::SlotCheck::kNone:
      return no_evidence("no_slot");
    case hami::SlotCheck::kUnsettled:
      return no_evidence("slot_unsettled");
    case hami::SlotCheck::kUnreadable:
      break;
  }
  return no_evidence("region_truncated");
}

std::optional<Heard> interpret(std::string_view text) {
  const auto line = hami::parse_log_line(text);
  if (!line) return std::nullopt;
  switch (line->says) {
    case hami::LogSays::kNothing:
      return std::nullopt;
    case hami::LogSays::kAssigned:
      return Heard{line->pid, {Statement::Says::kAssigned, line->assigned_pid.value_or(0), "", false}};
    case hami::LogSays::kFailed:
    case hami::LogSays::kGaveUpLock:
      break;
  }
  // This one follows every other failure.
  const bool general = std::string_view(line->reason) == "set_task_pid_failed";
  return Heard{line->pid, {Statement::Says::kFailed, 0, line->reason, general}};
}

// The region's word against the log's.
Discovery cross_check(Discovery region, const Statement& log) {
  const bool log_assigned = log.says == Statement::Says::kAssigned;
  if (region.state == DiscoveryState::kAssigned) {
    const bool agree = log_assigned && log.assigned_pid == region.assigned_pid;
    return agree ? region : contradicting("region_and_log_differ");
  }
  if (log_assigned) return contradicting("region_and_log_differ");
  region.reason = log.reason;
  return region;
}

class HamiSource : public IdentitySource {
 public:
  explicit HamiSource(const IdentityFiles& files) : caches_(files.caches) {
    for (const auto& log : files.logs) logs_.emplace_back(log, interpret);
  }

  Discovery read(const evidence::WorkerRecord& worker) override {
    const auto pid = own_pid(worker);
    if (!pid) return no_evidence("worker_not_observed");
    Discovery region = read_region(file_of(caches_, worker), *pid);
    if (region.state != DiscoveryState::kAssigned && region.state != DiscoveryState::kFailed) return region;
    // Where the log cannot be followed to its end the region stands alone: what
    // was heard so far may not be the last word.
    const auto cache = static_cast<size_t>(worker.cache);
    if (cache >= logs_.size() || logs_[cache].follow() != LogFollower::State::kWhole) {
      region.source = kUncheckedSource;
      return region;
    }
    const Statement* log = logs_[cache].last_of(*pid);
    return log == nullptr ? region : cross_check(std::move(region), *log);
  }

 private:
  std::vector<std::filesystem::path> caches_;
  std::vector<LogFollower> logs_;
};

}  // namespace

std::unique_ptr<IdentitySource> make_hami_source(const IdentityFiles& files) {
  return std::make_unique<HamiSource>(files);
}

}  // namespace rollcall::study
