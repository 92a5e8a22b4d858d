// A time is given only where it is known as a whole: an unknown part is not 0.
#include "analysis/times.h"

#include <algorithm>

#include "analysis/roster.h"

namespace rollcall::analysis {

std::optional<int64_t> span_ns(const evidence::Run& run) {
  const Roster roster(run);
  std::optional<int64_t> last;
  for (int number = 0; number < run.record.topology.workers(); ++number) {
    const evidence::WorkerRecord* worker = roster.record(number);
    if (worker == nullptr || worker->fate != evidence::Fate::kFinished || !worker->finished_ns)
      return std::nullopt;
    last = std::max(last.value_or(*worker->finished_ns), *worker->finished_ns);
  }
  return last;
}

std::optional<int64_t> external_wall_ns(const evidence::RunRecord& record) {
  if (!record.last_gone_ns || !record.collect_ns) return record.stated_wall_ns;
  int64_t wall = 0;
  if (__builtin_sub_overflow(*record.last_gone_ns, *record.collect_ns, &wall)) return std::nullopt;
  return wall;
}

}  // namespace rollcall::analysis
