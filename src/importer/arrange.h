// From the logs that were found to the runs that they are of. Pure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/topology.h"
#include "importer/find_logs.h"

namespace rollcall::importer {

struct LogFile {
  int cache = 0;
  std::optional<int> worker;  // where each worker has a log of its own
  std::filesystem::path path;
};
struct RunFiles {
  evidence::Topology topology;
  std::string arm;
  int repetition = 1;
  Bindings bindings;                                    // of its arm, topology and run, as they are spelt
  std::vector<LogFile> logs;                            // by cache, then worker
  std::vector<std::optional<Bindings>> cache_bindings;  // by cache: of its first log, the cache bound too
};

// By topology, arm and repetition, whatever the order of the files. Refused, with both
// names: two files for one cache or worker, and a run that is spelt in two ways; and a
// cache or worker that the topology does not have.
base::Result<std::vector<RunFiles>> arrange(const std::vector<FoundLog>& logs);

}  // namespace rollcall::importer
