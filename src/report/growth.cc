#include "report/growth.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace rollcall::report {

std::vector<Growth> growth_of(const analysis::ExperimentSummary& summary) {
  // Arm, workload, hold, workers of a cache; 0: one cache, which holds as many as there are.
  using Key = std::tuple<std::string, evidence::Workload, evidence::Hold, int>;
  std::map<Key, std::map<int, const analysis::Condition*>> all;
  for (const analysis::Condition& c : summary.conditions) {
    if (c.external_wall_s.mean.value_or(0) <= 0) continue;
    const int per_cache = c.topology.caches() == 1 ? 0 : c.topology.workers_per_cache();
    all[{c.arm, c.workload, c.hold, per_cache}].emplace(c.topology.workers(), &c);
  }
  std::vector<Growth> result;
  for (const auto& [key, by_size] : all) {
    if (by_size.size() < 2) continue;
    Growth growth;
    const int per_cache = std::get<3>(key);
    growth.one_cache = per_cache == 0;
    growth.where =
        growth.one_cache ? std::string("one shared cache") : fmt::format("caches of {}", per_cache);
    for (const auto& [workers, condition] : by_size) growth.conditions.push_back(condition);
    result.push_back(std::move(growth));
  }
  return result;
}

}  // namespace rollcall::report
