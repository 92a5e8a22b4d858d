// How to read what a shim discovered. One implementation for each way in which
// a shim writes it down; the launcher knows only this interface.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
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

// The files of a run that a source may read, by cache.
struct IdentityFiles {
  std::vector<std::filesystem::path> caches;
  std::vector<std::filesystem::path> logs;
};

// An error only for patterns that cannot be compiled (see check_log_patterns).
base::Result<std::unique_ptr<IdentitySource>> make_identity_source(const Arm& arm,
                                                                   const IdentityFiles& files);

// Whether the patterns are regular expressions with the groups that they need; the
// error names the pattern and what is wrong with it.
base::Result<void> check_log_patterns(const LogPatterns& patterns, const std::string& where);

// What a cache file is, by its magic: kRollcall, kHamiCore, or kNone for anything
// else (missing, blank, foreign, of an unknown version; `why` says which).
struct DetectedSource {
  IdentitySourceKind kind = IdentitySourceKind::kNone;
  std::string why;
};
DetectedSource detect_identity_source(const std::filesystem::path& cache);

}  // namespace rollcall::study
