// The names inside an evidence folder, in one place for its writer and reader.
#pragma once

#include <string_view>

namespace rollcall::evidence {

inline constexpr const char* kPlanFile = "plan.json";
inline constexpr const char* kEnvironmentFile = "environment.json";
inline constexpr const char* kChecksumsFile = "SHA256SUMS";
inline constexpr const char* kRunsFolder = "runs";
inline constexpr const char* kDerivedFolder = "derived";
inline constexpr const char* kUnfinishedFolder = "unfinished";
inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kWorkersFile = "workers.jsonl";
inline constexpr const char* kLogsFolder = "logs";
inline constexpr const char* kRegionsFolder = "regions";
// Of imported runs: what they were read from, and the launcher's own file where it was given.
inline constexpr const char* kImportFile = "import.json";
inline constexpr const char* kTruthFile = "truth.csv";

// A file name that leads nowhere else and that any tool can handle: one path
// component of printable characters, not hidden. The arm's name is part of a
// run's id and comes from the user.
inline bool is_plain_name(std::string_view name) {
  constexpr size_t kMaxNameBytes = 200;  // NAME_MAX is 255; room for ".tmp-<pid>"
  if (name.empty() || name.size() > kMaxNameBytes || name.front() == '.') return false;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '/' || c == '\\') return false;
  }
  return true;
}

}  // namespace rollcall::evidence
