// Quadratic, without allocation: at most 950 PIDs on either side.
#include "shim/snapshot_diff.h"

namespace rollcall::shim {

SnapshotDiff snapshot_diff(const unsigned* before, size_t before_count, const unsigned* after,
                           size_t after_count) {
  SnapshotDiff result;
  if (before_count == after_count) {
    result.reason = Reason::kEqualCounts;
    return result;
  }
  for (size_t i = 0; i < after_count; ++i) {
    bool known = false;
    for (size_t j = 0; j < before_count && !known; ++j) known = before[j] == after[i];
    if (!known) {
      result.pid = after[i];
      return result;
    }
  }
  result.reason = Reason::kNoNewPid;
  return result;
}

}  // namespace rollcall::shim
