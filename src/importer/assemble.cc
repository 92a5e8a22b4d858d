// See assemble.h.
#include "importer/assemble.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace rollcall::importer {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;
using evidence::WorkerRecord;
using hami::Says;
using hami::Verdict;

// Who spoke: the region and the log agreeing, or one of them alone.
constexpr const char* kBoth = "hami-core";
constexpr const char* kRegionAlone = "hami-core-region";
constexpr const char* kLogAlone = "hami-core-log";

bool speaks(const Verdict& verdict) {
  return verdict.says == Says::kAssigned || verdict.says == Says::kFailed;
}

Discovery discovery_of(const Verdict& verdict, const char* source) {
  Discovery discovery;
  discovery.source = source;
  discovery.reason = verdict.reason;
  switch (verdict.says) {
    case Says::kNothing:
      discovery.state = DiscoveryState::kNoEvidence;
      break;
    case Says::kAssigned:
      discovery.state = DiscoveryState::kAssigned;
      discovery.assigned_pid = verdict.assigned_pid;
      break;
    case Says::kFailed:
      discovery.state = DiscoveryState::kFailed;
      break;
    case Says::kContradicting:
      discovery.state = DiscoveryState::kContradicting;
      break;
  }
  return discovery;
}

Discovery decide(const std::optional<Verdict>& region, const Verdict& log) {
  if (region && region->says == Says::kContradicting) return discovery_of(*region, kBoth);
  if (log.says == Says::kContradicting) return discovery_of(log, kLogAlone);
  if (region && speaks(*region) && speaks(log)) return discovery_of(hami::cross_check(*region, log), kBoth);
  if (region && region->says == Says::kAssigned) return discovery_of(*region, kRegionAlone);
  // A slot without a PID is a failure only if the worker had come to its end when the region
  // was copied, which nobody saw. HAMi-core logs every failure; this one it did not.
  if (region && region->says == Says::kFailed)
    return discovery_of({Says::kNothing, 0, "discovery_unfinished"}, kRegionAlone);
  if (speaks(log)) return discovery_of(log, kLogAlone);
  const bool region_says_more = region && std::string_view(log.reason) == "not_in_log";
  return discovery_of(region_says_more ? *region : log, kBoth);
}

// What the logs of a cache say of one process.
Verdict log_verdict(const CacheFiles& cache, int64_t pid) {
  if (cache.logs.empty()) return {Says::kNothing, 0, "log_missing"};
  const Verdict* found = nullptr;
  bool forgotten = false;
  for (const CacheLog& log : cache.logs) {
    forgotten = forgotten || log.reading.forgotten_lines > 0;
    for (const Speaker& speaker : log.reading.speakers) {
      if (speaker.pid != pid) continue;
      // One process writes to one file.
      if (found != nullptr) return {Says::kContradicting, 0, "two_logs"};
      found = &speaker.last;
    }
  }
  if (found != nullptr) return *found;
  return {Says::kNothing, 0, forgotten ? "log_too_many_pids" : "not_in_log"};
}

bool spoke(const CacheFiles& cache, int64_t pid) {
  for (const CacheLog& log : cache.logs) {
    for (const Speaker& speaker : log.reading.speakers) {
      if (speaker.pid == pid) return true;
    }
  }
  return false;
}

class Assembly {
 public:
  explicit Assembly(const RunInput& input) : input_(input) {}

  Assembled result() {
    describe();
    add_benchmarks();
    if (input_.truth) {
      add_listed_workers();
    } else {
      add_speaking_workers();
    }
    check_shim();
    return std::move(result_);
  }

 private:
  evidence::RunRecord& record() { return result_.run.record; }
  [[nodiscard]] bool isolated() const { return input_.isolation == evidence::Isolation::kPid; }

  void describe() {
    record().number = input_.number;
    record().topology = input_.topology;
    record().arm = input_.arm;
    record().repetition = input_.repetition;
    record().has_shim = has_shim(input_.arm);
    // HAMi-core matches its number against NVML's list, from inside.
    record().identity_kind =
        record().has_shim ? evidence::IdentityKind::kNvml : evidence::IdentityKind::kNone;
    record().node = evidence::NodeKind::kUnknown;
    record().view = input_.view;
    record().isolation = input_.isolation;
    record().truth = input_.truth ? "launcher" : "log";
    record().imported_from = kImportedFrom;
  }

  void event(const char* code, std::string detail) {
    if (record().events.size() < evidence_events_) record().events.push_back({code, std::move(detail)});
  }

  void add_benchmarks() {
    const int expected = input_.topology.workers_per_cache();
    for (size_t k = 0; k < input_.caches.size(); ++k) {
      for (const CacheLog& log : input_.caches[k].logs) {
        for (evidence::Benchmark benchmark : log.reading.benchmarks) {
          benchmark.cache = static_cast<int>(k);
          if (benchmark.n != expected) {
            event("topology_differs", fmt::format("cache {}: a benchmark of {} workers, {} has {}", k,
                                                  benchmark.n, input_.topology.text(), expected));
          }
          record().benchmarks.push_back(std::move(benchmark));
        }
      }
    }
  }

  // The one worker record, told who it is inside and, where that is known, outside.
  void add_worker(int number, int cache, std::optional<int64_t> pid, std::optional<int64_t> own,
                  const TruthRow* row) {
    WorkerRecord worker;
    worker.worker = number;
    worker.cache = cache;
    worker.pid = pid;
    worker.fate = evidence::Fate::kNotObserved;
    if (!isolated()) {
      worker.nspid = {*pid};
    } else if (own) {
      worker.nspid = {pid.value_or(0), *own};  // 0: its number outside is not known
    }
    if (row != nullptr) {
      worker.cuinit_result = row->cuinit_rc;
      worker.released_ns = row->enter_ns;
      worker.finished_ns = row->return_ns;
      if (row->enter_ns && row->return_ns) worker.cuinit_ns = *row->return_ns - *row->enter_ns;
    }
    const CacheFiles& files = input_.caches[static_cast<size_t>(cache)];
    if (record().has_shim) {
      std::optional<Verdict> region;
      if (files.region)
        region = own ? files.region->verdict_of(*own) : Verdict{Says::kNothing, 0, "worker_not_observed"};
      const Verdict log = own ? log_verdict(files, *own) : Verdict{Says::kNothing, 0, "worker_not_observed"};
      worker.discovery = decide(region, log);
      if (!own || !spoke(files, *own)) ++result_.silent;
    }
    result_.run.workers.push_back(std::move(worker));
  }

  void add_listed_workers() {
    std::map<int, std::set<int64_t>> own_by_cache;
    std::map<int, int> next;  // by cache: slots are given in order, whatever their numbers
    bool some = false;
    bool all = true;
    for (const TruthRow& row : input_.truth->rows) {
      const std::optional<int64_t> own = isolated() ? row.namespace_pid : std::optional(row.pid);
      if (own) own_by_cache[row.cache].insert(*own);
      some = some || row.cuinit_rc;
      all = all && row.cuinit_rc;
      add_worker(row.cache * input_.topology.workers_per_cache() + next[row.cache]++, row.cache, row.pid, own,
                 &row);
    }
    if (input_.truth->has_results && !all)
      event("result_missing", "the launcher's list has no result of cuInit for some worker");
    for (size_t k = 0; k < input_.caches.size(); ++k) {
      const auto& own = own_by_cache[static_cast<int>(k)];
      std::set<int64_t> strangers;
      for (const CacheLog& log : input_.caches[k].logs) {
        for (const Speaker& speaker : log.reading.speakers) {
          if (!own.contains(speaker.pid)) strangers.insert(speaker.pid);
        }
      }
      result_.strangers += static_cast<int>(strangers.size());
    }
  }

  // The workers are those that spoke. Where more did than there are workers, it cannot be
  // told which of them those are.
  void add_speaking_workers() {
    if (!record().has_shim) return;
    const int per_cache = input_.topology.workers_per_cache();
    for (size_t k = 0; k < input_.caches.size(); ++k) {
      const int cache = static_cast<int>(k);
      for (const CacheLog& log : input_.caches[k].logs) {
        const auto& speakers = log.reading.speakers;
        const size_t expected = log.worker ? 1 : static_cast<size_t>(per_cache);
        if (speakers.size() > expected || log.reading.forgotten_lines > 0) {
          event("too_many_speakers",
                fmt::format("cache {}: {} PIDs spoke in a log of {} workers", k, speakers.size(), expected));
          continue;
        }
        for (size_t i = 0; i < speakers.size(); ++i) {
          const int number = log.worker.value_or(cache * per_cache + static_cast<int>(i));
          const std::optional<int64_t> pid = isolated() ? std::nullopt : std::optional(speakers[i].pid);
          add_worker(number, cache, pid, speakers[i].pid, nullptr);
        }
      }
    }
    const int known = static_cast<int>(result_.run.workers.size());
    result_.silent += input_.topology.workers() - known;
  }

  void check_shim() {
    if (record().has_shim) return;
    for (size_t k = 0; k < input_.caches.size(); ++k) {
      for (const CacheLog& log : input_.caches[k].logs) {
        if (log.reading.speakers.empty()) continue;
        event("shim_in_native_arm", fmt::format("cache {}: HAMi-core spoke in an arm without a shim", k));
      }
    }
  }

  static constexpr size_t evidence_events_ = 1000;  // as many as a record keeps

  const RunInput& input_;
  Assembled result_;
};

}  // namespace

bool has_shim(const std::string& arm) {
  return arm != "native" && !arm.starts_with("native-") && arm != "nvml-only";
}

base::Result<void> check_truth(const Truth& truth, const evidence::Topology& topology,
                               evidence::Isolation isolation, const std::string& where) {
  std::map<int, int> workers;
  for (const TruthRow& row : truth.rows) {
    if (row.cache >= topology.caches()) {
      return base::usage_error(where, fmt::format("a worker of cache {}, but {} has the caches 0 to {}",
                                                  row.cache, topology.text(), topology.caches() - 1));
    }
    if (++workers[row.cache] > topology.workers_per_cache()) {
      return base::usage_error(where, fmt::format("more workers of cache {} than the {} of {}", row.cache,
                                                  topology.workers_per_cache(), topology.text()));
    }
  }
  if (isolation == evidence::Isolation::kPid && !truth.has_namespace_pids) {
    return base::usage_error(
        where,
        "no column namespace_pid: with --isolation pid the logs speak of the workers' PIDs "
        "in their own namespaces",
        "add the column, or leave --truth out");
  }
  return {};
}

Assembled assemble(const RunInput& input) {
  return Assembly(input).result();
}

}  // namespace rollcall::importer
