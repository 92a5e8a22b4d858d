// See arrange.h.
#include "importer/arrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "importer/decimal.h"

namespace rollcall::importer {
namespace {

using Key = std::tuple<evidence::Topology, std::string, int>;

// The matcher has checked that they are numbers.
std::optional<int> number_of(const Bindings& bindings, Variable variable) {
  const auto& text = bindings.of(variable);
  if (!text) return std::nullopt;
  return static_cast<int>(parse_count(*text, 999'999'999).value_or(0));
}

Bindings run_part(const Bindings& bindings) {
  Bindings part;
  for (const Variable variable : {Variable::kArm, Variable::kTopology, Variable::kRun}) {
    part.of(variable) = bindings.of(variable);
  }
  return part;
}

struct Numbered {
  std::optional<int> cache;
  std::optional<int> worker;
  const FoundLog* log = nullptr;
};

tl::unexpected<base::Error> beyond(const Numbered& one, const char* what, int found, int count,
                                   const evidence::Topology& topology) {
  return base::usage_error(
      one.log->path.string(),
      fmt::format("{} {}, but {} has the {}s 0 to {}", what, found, topology.text(), what, count - 1),
      fmt::format("{}s are counted from 0", what));
}

// Workers may be counted through the run or within their cache; one way must fit all.
base::Result<bool> counted_within_cache(const std::vector<Numbered>& logs,
                                        const evidence::Topology& topology) {
  bool through = true;
  bool within = true;
  for (const Numbered& one : logs) {
    if (!one.worker) continue;
    through = through && *one.worker < topology.workers() &&
              (!one.cache || topology.cache_of(*one.worker) == *one.cache);
    within = within && one.cache && *one.worker < topology.workers_per_cache();
  }
  if (through) return false;
  if (within) return true;
  for (const Numbered& one : logs) {
    if (one.worker && *one.worker >= topology.workers())
      return beyond(one, "worker", *one.worker, topology.workers(), topology);
  }
  return base::usage_error(logs.front().log->path.string(),
                           "the numbers of the workers fit neither the run nor their caches",
                           "count workers from 0, through the run or within each cache");
}

base::Result<RunFiles> arrange_run(const Key& key, const std::vector<const FoundLog*>& found) {
  RunFiles run;
  std::tie(run.topology, run.arm, run.repetition) = key;
  run.bindings = run_part(found.front()->bindings);
  run.cache_bindings.resize(static_cast<size_t>(run.topology.caches()));
  std::vector<Numbered> numbered;
  for (const FoundLog* log : found) {
    if (run_part(log->bindings) != run.bindings) {
      return base::usage_error(log->path.string(), fmt::format("a second spelling of the run of {}",
                                                               found.front()->path.string()));
    }
    numbered.push_back(
        {number_of(log->bindings, Variable::kCache), number_of(log->bindings, Variable::kWorker), log});
    const Numbered& one = numbered.back();
    if (one.cache && *one.cache >= run.topology.caches())
      return beyond(one, "cache", *one.cache, run.topology.caches(), run.topology);
  }
  const auto within = counted_within_cache(numbered, run.topology);
  if (!within) return tl::unexpected<base::Error>(within.error());
  std::map<std::pair<int, int>, const FoundLog*> seen;
  for (const Numbered& one : numbered) {
    std::optional<int> worker = one.worker;
    if (worker && *within) *worker += *one.cache * run.topology.workers_per_cache();
    const int cache = one.cache ? *one.cache : run.topology.cache_of(*worker);
    const auto [same, fresh] = seen.emplace(std::pair(cache, worker.value_or(-1)), one.log);
    if (!fresh) {
      return base::usage_error(one.log->path.string(),
                               fmt::format("stands for the same as {}", same->second->path.string()),
                               "leave one file for each");
    }
    run.logs.push_back({cache, worker, one.log->path});
    auto& bindings = run.cache_bindings[static_cast<size_t>(cache)];
    if (!bindings) bindings = one.log->bindings;
    if (!bindings->of(Variable::kCache)) bindings->of(Variable::kCache) = fmt::to_string(cache);
  }
  std::sort(run.logs.begin(), run.logs.end(), [](const LogFile& a, const LogFile& b) {
    return std::pair(a.cache, a.worker.value_or(-1)) < std::pair(b.cache, b.worker.value_or(-1));
  });
  return run;
}

}  // namespace

base::Result<std::vector<RunFiles>> arrange(const std::vector<FoundLog>& logs) {
  std::map<Key, std::vector<const FoundLog*>> by_run;
  for (const FoundLog& log : logs) {
    const int repetition = number_of(log.bindings, Variable::kRun).value_or(1);
    if (repetition < 1) return base::usage_error(log.path.string(), "run 0; runs are counted from 1");
    const auto topology = evidence::Topology::parse(log.bindings.of(Variable::kTopology).value_or(""));
    if (!topology) return tl::unexpected<base::Error>(topology.error());
    by_run[{*topology, log.bindings.of(Variable::kArm).value_or(""), repetition}].push_back(&log);
  }
  std::vector<RunFiles> runs;
  for (const auto& [key, found] : by_run) {
    auto run = arrange_run(key, found);
    if (!run) return tl::unexpected<base::Error>(run.error());
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace rollcall::importer
