// What the library itself costs each worker, where it tells: time inside it less the real
// calls that it wraps.
#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"

namespace rollcall::report {

struct AddedTimes {
  std::vector<std::string> columns;            // the first two are names, the others numbers
  std::vector<std::vector<std::string>> rows;  // none: no arm tells
};
AddedTimes added_times(const analysis::ExperimentSummary& summary);

inline constexpr const char* kAddedTimesTitle =
    "Time that the library adds to each worker, over all workers of the valid runs";

// The table of the terminal with its title; empty where no arm tells.
std::string added_times_section(const analysis::ExperimentSummary& summary);

}  // namespace rollcall::report
