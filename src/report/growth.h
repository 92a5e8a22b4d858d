// How wall time grows with the number of workers: the conditions that differ in nothing
// but their size. An arm on one cache for everybody is one series, an arm on caches of
// the same size another; a topology belongs to one of them.
#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"

namespace rollcall::report {

struct Growth {
  std::string where;  // "one shared cache", "caches of 5"
  bool one_cache = false;
  std::vector<const analysis::Condition*>
      conditions;  // by size, at least two sizes; they point into the summary
};
std::vector<Growth> growth_of(const analysis::ExperimentSummary& summary);

}  // namespace rollcall::report
