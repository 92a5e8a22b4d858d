// Processes that outlive the workers that started them. The launcher becomes the parent
// of such orphans (keep_orphans), so that none can escape being seen.
#pragma once

#include <sys/types.h>

#include <string>

namespace rollcall::study {

// From now on what is orphaned below this process becomes its child.
void keep_orphans();

// The variable by which what a run started is known: its value is the run's own.
inline constexpr const char* kRunVariable = "ROLLCALL_RUN";

// Ends every child of this process that has the run's mark in its environment, and theirs;
// returns how many. Others (of a shell that became this program, say) are not ours to
// end. `spared` (-1: none) is never touched. To be called when all workers are reaped.
// Gives up after two seconds.
int end_orphans(const std::string& run_mark, pid_t spared);

}  // namespace rollcall::study
