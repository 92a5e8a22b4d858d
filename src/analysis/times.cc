// A time is given only where it is known as a whole: an unknown part is not 0.
#include "analysis/times.h"

#include <algorithm>

#include "analysis/roster.h"

namespace rollcall::analysis {

namespace {

// Nobody saw an imported worker leave; that its call returned is what its list says.
bool has_finished(const evidence::WorkerRecord& worker) {
  const bool ended = worker.fate == evidence::Fate::kFinished || worker.fate == evidence::Fate::kNotObserved;
  return ended && worker.finished_ns.has_value();
}

}  // namespace

std::optional<BenchmarkTotals> benchmark_totals(const evidence::RunRecord& record) {
  const auto caches = static_cast<size_t>(record.topology.caches());
  if (record.benchmarks.size() != caches) return std::nullopt;
  std::vector<bool> seen(caches);
  BenchmarkTotals totals;
  bool all_spans = true;
  bool all_maxima = true;
  for (const evidence::Benchmark& benchmark : record.benchmarks) {
    if (benchmark.cache < 0 || benchmark.cache >= record.topology.caches()) return std::nullopt;
    const auto cache = static_cast<size_t>(benchmark.cache);
    if (seen[cache] || !benchmark.ok || !benchmark.failed) return std::nullopt;
    seen[cache] = true;
    totals.ok += *benchmark.ok;
    totals.failed += *benchmark.failed;
    all_spans = all_spans && benchmark.span_ns;
    all_maxima = all_maxima && benchmark.max_ns && *benchmark.failed == 0;
    totals.span_ns = std::max(totals.span_ns, benchmark.span_ns);
    totals.cuinit_max_ns = std::max(totals.cuinit_max_ns, benchmark.max_ns);
  }
  if (!all_spans) totals.span_ns.reset();
  if (!all_maxima) totals.cuinit_max_ns.reset();
  return totals;
}

namespace {

// Only where no worker has a time: a part of them must not be mixed with a whole.
std::optional<int64_t> span_of_benchmarks(const evidence::Run& run) {
  const bool timed =
      std::any_of(run.workers.begin(), run.workers.end(),
                  [](const evidence::WorkerRecord& worker) { return worker.finished_ns.has_value(); });
  const auto totals = benchmark_totals(run.record);
  return totals && !timed ? totals->span_ns : std::nullopt;
}

}  // namespace

std::optional<int64_t> span_ns(const evidence::Run& run) {
  const Roster roster(run);
  std::optional<int64_t> last;
  for (int number = 0; number < run.record.topology.workers(); ++number) {
    const evidence::WorkerRecord* worker = roster.record(number);
    if (worker == nullptr || !has_finished(*worker)) return span_of_benchmarks(run);
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
