// See verdict.h.
#include "hami/verdict.h"

#include <string_view>

namespace rollcall::hami {
namespace {

Verdict without_pid(Says says, const char* reason) {
  return {says, 0, reason};
}

}  // namespace

bool operator==(const Verdict& a, const Verdict& b) {
  return a.says == b.says && a.assigned_pid == b.assigned_pid &&
         std::string_view(a.reason) == std::string_view(b.reason);
}

const char* fault_of(RegionCheck check) {
  switch (check) {
    case RegionCheck::kValid:
      return nullptr;
    case RegionCheck::kForeign:
      return "region_foreign";
    case RegionCheck::kOtherVersion:
      return "region_other_version";
    case RegionCheck::kBlank:
      return "region_damaged";
    case RegionCheck::kTruncated:
      return "region_truncated";
  }
  return "region_damaged";
}

Verdict verdict_of(const FoundSlot& slot) {
  switch (slot.check) {
    case SlotCheck::kFound:
      if (slot.host_pid < 0) return without_pid(Says::kNothing, "slot_damaged");
      if (slot.host_pid == 0) return without_pid(Says::kFailed, "no_host_pid");
      return {Says::kAssigned, slot.host_pid, ""};
    case SlotCheck::kTwoDiffer:
      return without_pid(Says::kContradicting, "two_slots");
    case SlotCheck::kNone:
      return without_pid(Says::kNothing, "no_slot");
    case SlotCheck::kUnsettled:
      return without_pid(Says::kNothing, "slot_unsettled");
    case SlotCheck::kUnreadable:
      break;
  }
  return without_pid(Says::kNothing, "region_truncated");
}

void hear(Verdict& last, const LogLine& line) {
  switch (line.says) {
    case LogSays::kNothing:
      return;
    case LogSays::kUnclear:
      last = without_pid(Says::kNothing, "unclear_in_log");
      return;
    case LogSays::kAssigned:
      last = {Says::kAssigned, line.assigned_pid.value_or(0), ""};
      return;
    case LogSays::kFailed:
    case LogSays::kGaveUpLock:
      break;
  }
  const bool general = std::string_view(line.reason) == "set_task_pid_failed";
  if (!(general && last.says == Says::kFailed)) last = without_pid(Says::kFailed, line.reason);
}

Verdict cross_check(const Verdict& region, const Verdict& log) {
  const bool agree =
      region.says == log.says && (region.says == Says::kFailed || region.assigned_pid == log.assigned_pid);
  // Of a failure the log knows more.
  return agree ? log : without_pid(Says::kContradicting, "region_and_log_differ");
}

}  // namespace rollcall::hami
