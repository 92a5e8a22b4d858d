// From what was read of a run to its records. Pure, and strict: nobody watched the run,
// so what its files do not say stays unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evidence/records.h"
#include "importer/log_scanner.h"
#include "importer/region_file.h"
#include "importer/truth_file.h"

namespace rollcall::importer {

inline constexpr const char* kImportedFrom = "hami-logs";

struct CacheLog {
  std::optional<int> worker;  // whose log it is; unset: that of all workers of the cache
  LogReading reading;
};
struct CacheFiles {
  std::vector<CacheLog> logs;           // empty: none could be read
  std::optional<RegionReading> region;  // unset: not given
};
struct RunInput {
  int number = 0;
  evidence::Topology topology;
  std::string arm;
  int repetition = 1;
  evidence::Isolation isolation = evidence::Isolation::kNone;
  evidence::NvmlView view = evidence::NvmlView::kUnknown;
  std::optional<Truth> truth;      // checked against the topology
  std::vector<CacheFiles> caches;  // one for each of the topology
};

// "native" and its variations load nothing into their workers.
bool has_shim(const std::string& arm);

// Whether the launcher's list can be of this topology: no more workers to a cache. And with
// isolated PID namespaces it must tell the PIDs that the logs speak of.
base::Result<void> check_truth(const Truth& truth, const evidence::Topology& topology,
                               evidence::Isolation isolation, const std::string& where);

struct Assembled {
  evidence::Run run;
  int strangers = 0;  // PIDs that spoke and are not in the launcher's list
  int silent = 0;     // workers, as far as they are known, that never spoke; arms with a shim only
};
Assembled assemble(const RunInput& input);

}  // namespace rollcall::importer
