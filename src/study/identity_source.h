// How to read what a shim discovered. One implementation for each way in which
// a shim writes it down; the launcher knows only this interface.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "evidence/records.h"
#include "study/arms.h"

namespace rollcall::study {

class IdentitySource {
 public:
  virtual ~IdentitySource() = default;

  // What the shim of `worker` wrote down about itself. Called while the worker is
  // alive, after its workload. Never guesses: what does not match the worker's
  // PID and start time is no evidence.
  [[nodiscard]] virtual evidence::Discovery read(const evidence::WorkerRecord& worker) = 0;
};

// `caches` holds the path of each cache file of the run.
std::unique_ptr<IdentitySource> make_identity_source(IdentitySourceKind kind,
                                                     const std::vector<std::filesystem::path>& caches);

}  // namespace rollcall::study
