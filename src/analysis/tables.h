// The derived tables: from runs to rows, from rows to CSV. Pure functions; the
// same records give the same bytes. The columns are listed in docs/evidence.md:
// added at the end, never moved.
#pragma once

#include <string>
#include <vector>

#include "evidence/records.h"

namespace rollcall::analysis {

// One row per run, in the order of run numbers.
std::string summary_csv(const std::vector<evidence::Run>& runs);
// One row per worker of a shim arm.
std::string pid_mapping_csv(const std::vector<evidence::Run>& runs);
// topology,arm,run,external_wall_s
std::string external_wall_times_csv(const std::vector<evidence::Run>& runs);

struct DerivedFile {
  std::string name;  // "summary.csv", …
  std::string content;
};
// All of them, and which version derived them: another one may round or add otherwise. It is
// what `derived/` holds and `summarize` writes.
std::vector<DerivedFile> derive_all(const std::vector<evidence::Run>& runs);

}  // namespace rollcall::analysis
