// HAMi-core: the worker's slot in the region of its cache, which is what it acts
// on, cross-checked with what it said in the log. Neither tells when a process
// started; but a run's cache and log are fresh and none of its workers is reaped
// before its end, so that no PID comes twice.
#include "hami/log.h"
#include "hami/region.h"
#include "hami/verdict.h"
#include "study/identity_parts.h"
#include "study/log_follower.h"

namespace rollcall::study {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;

constexpr const char* kSource = "hami-core";
// The same, where its log could not be followed and so could not contradict it.
constexpr const char* kUncheckedSource = "hami-core-region";

DiscoveryState state_of(hami::Says says) {
  switch (says) {
    case hami::Says::kNothing:
      return DiscoveryState::kNoEvidence;
    case hami::Says::kAssigned:
      return DiscoveryState::kAssigned;
    case hami::Says::kFailed:
      return DiscoveryState::kFailed;
    case hami::Says::kContradicting:
      return DiscoveryState::kContradicting;
  }
  return DiscoveryState::kNoEvidence;
}

Discovery discovery_of(const hami::Verdict& verdict, const char* source = kSource) {
  Discovery discovery = make_discovery(source, state_of(verdict.says), verdict.reason);
  if (verdict.says == hami::Says::kAssigned) discovery.assigned_pid = verdict.assigned_pid;
  return discovery;
}

// What the region alone says.
hami::Verdict read_region(const std::filesystem::path& cache, int64_t pid) {
  const auto file = RegionFile::open(cache);
  if (!file) return {hami::Says::kNothing, 0, file.error()};
  const hami::ReadAt read_at = [&file](void* buffer, size_t size, uint64_t offset) {
    return file->read_at(buffer, size, offset);
  };
  const char* fault = hami::fault_of(hami::check_region(file->size_bytes(), read_at).check);
  if (fault != nullptr) return {hami::Says::kNothing, 0, fault};
  return hami::verdict_of(hami::find_slot(read_at, pid));
}

std::optional<Heard> interpret(std::string_view text) {
  const auto line = hami::parse_log_line(text);
  if (!line) return std::nullopt;
  switch (line->says) {
    case hami::LogSays::kNothing:
    case hami::LogSays::kUnclear:  // the region, which is what it acts on, is not
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

hami::Verdict verdict_of(const Statement& log) {
  if (log.says == Statement::Says::kAssigned) return {hami::Says::kAssigned, log.assigned_pid, ""};
  return {hami::Says::kFailed, 0, log.reason};
}

class HamiSource : public IdentitySource {
 public:
  explicit HamiSource(const IdentityFiles& files) : caches_(files.caches) {
    for (const auto& log : files.logs) logs_.emplace_back(log, interpret);
  }

  Discovery read(const evidence::WorkerRecord& worker) override {
    const auto pid = own_pid(worker);
    if (!pid) return discovery_of({hami::Says::kNothing, 0, "worker_not_observed"});
    const hami::Verdict region = read_region(file_of(caches_, worker), *pid);
    if (region.says != hami::Says::kAssigned && region.says != hami::Says::kFailed)
      return discovery_of(region);
    // Where the log cannot be followed to its end the region stands alone: what
    // was heard so far may not be the last word.
    const auto cache = static_cast<size_t>(worker.cache);
    if (cache >= logs_.size() || logs_[cache].follow() != LogFollower::State::kWhole)
      return discovery_of(region, kUncheckedSource);
    const Statement* log = logs_[cache].last_of(*pid);
    return discovery_of(log == nullptr ? region : hami::cross_check(region, verdict_of(*log)));
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
