// What HAMi-core's two witnesses, the region and the log, say of one process, and
// what follows where both have spoken. Pure; used while workers live and for logs
// that are read later.
#pragma once

#include <cstdint>

#include "hami/log.h"
#include "hami/region.h"

namespace rollcall::hami {

enum class Says {
  kNothing,        // no evidence; `reason` says why
  kAssigned,       // it was assigned `assigned_pid`
  kFailed,         // its discovery failed; `reason` says how
  kContradicting,  // `reason` says what
};
struct Verdict {
  Says says = Says::kNothing;
  int64_t assigned_pid = 0;  // for kAssigned
  const char* reason = "";   // a literal; the codes are listed in docs/evidence.md
  friend bool operator==(const Verdict& a, const Verdict& b);
};

// Null for a region that can be read; otherwise the reason why it is no evidence.
const char* fault_of(RegionCheck check);

// From the slot of a process, in a region that can be read.
Verdict verdict_of(const FoundSlot& slot);

// What a process said last in its log. "Last" with one exception: the general message
// that follows every failure does not take the place of the cause that was named before.
void hear(Verdict& last, const LogLine& line);

// For a region and a log that have both said kAssigned or kFailed.
Verdict cross_check(const Verdict& region, const Verdict& log);

}  // namespace rollcall::hami
