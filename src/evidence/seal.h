// Whether an evidence folder still is what its SHA256SUMS says. The file seals the
// folder: it names every other file with its SHA-256, and since it is derived
// again and compared as a whole, it is itself held to be what it was.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rollcall::evidence {

// One thing in the folder that is not as it was sealed.
struct Difference {
  std::string file;  // relative to the folder
  std::string what;  // "is missing", …: the rest of the sentence
  friend bool operator==(const Difference&, const Difference&) = default;
};

enum class SealState {
  kUnfinished,  // there is no SHA256SUMS
  kIntact,
  kBroken,  // some file is missing, one too many, or changed
};

// What is said of a file that the seal does not name.
inline constexpr const char* kWasAdded = "was added, or its line in SHA256SUMS was taken out or changed";

// Everything that differs, by path; empty exactly where the folder is intact. Besides
// files that are missing, changed or added these are folders that hold nothing that was
// sealed, and whatever is neither a file nor a folder. A file whose sum differs
// cannot be told from a changed line of SHA256SUMS, so both are named then.
struct SealCheck {
  SealState state = SealState::kUnfinished;
  std::vector<Difference> differences;
  size_t files = 0;         // of the folder, SHA256SUMS not counted
  uint64_t size_bytes = 0;  // of all of them together
};
base::Result<SealCheck> examine_seal(const std::filesystem::path& folder);

// The first difference alone, as one phrase: for commands that only refuse.
struct Seal {
  SealState state = SealState::kUnfinished;
  std::string difference;  // kBroken: the first file that differs, by path, and how
};
base::Result<Seal> check_seal(const std::filesystem::path& folder);

// What is written into a finished folder breaks its seal: whether a file that is to be made there, or
// a folder, would lie in `folder`. A usage error then, that names `path`.
base::Result<void> check_outside(const std::filesystem::path& path, const std::filesystem::path& folder);

// Adds a derived document to a finished folder: derived/<name>, and its line in
// SHA256SUMS, each by rename. The one thing that a sealed folder takes, and only
// "report.html". The same content there already is no error, also where an earlier
// call was ended in between; another content is. Not while anything else in the folder
// differs from its seal (kDifference), nor in an unfinished one.
base::Result<void> add_derived(const std::filesystem::path& folder, const std::string& name,
                               std::string_view content);

// The one name that add_derived() takes.
inline constexpr const char* kReportFile = "report.html";

}  // namespace rollcall::evidence
