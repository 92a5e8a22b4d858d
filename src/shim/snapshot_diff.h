// Discovery by snapshot difference, the algorithm under study: who is in the
// list after my probe context that was not in it before, must be me. A pure
// function; that it is wrong whenever another process's context appears in
// between is what the study shows.
#pragma once

#include <cstddef>

#include "shim/region.h"

namespace rollcall::shim {

struct SnapshotDiff {
  Reason reason = Reason::kNone;
  unsigned pid = 0;  // meaningful only where reason is kNone
};

// The first PID of `after` that is not in `before` wins. Equal counts fail
// without a look at the PIDs, as the original does: a neighbour that left in
// between cancels the newcomer.
SnapshotDiff snapshot_diff(const unsigned* before, size_t before_count, const unsigned* after,
                           size_t after_count);

}  // namespace rollcall::shim
