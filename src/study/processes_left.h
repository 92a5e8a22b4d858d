// Processes that outlive the workers that started them. The launcher becomes the parent
// of such orphans (keep_orphans), so that none can escape being seen.
#pragma once

#include <sys/types.h>

namespace rollcall::study {

// From now on what is orphaned below this process becomes its child.
void keep_orphans();

// Ends every child of this process but `spared` (-1: none), and theirs; returns how many.
// To be called when all children that are known are gone. Gives up after two seconds.
int end_orphans(pid_t spared);

}  // namespace rollcall::study
