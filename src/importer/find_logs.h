// Walks a folder for the files that a template names: in byte order, no deeper than the
// template, following no symbolic link, and giving up at a bound instead of never ending.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "importer/path_template.h"

namespace rollcall::importer {

// Names that are looked at in all. The largest study has some thousands.
inline constexpr size_t kMaxNamesSeen = 1'000'000;

struct FoundLog {
  std::filesystem::path path;  // below the folder
  Bindings bindings;
};
// Something that has a log's name and is not read.
struct Skipped {
  std::string path;
  std::string why;
};
struct FoundLogs {
  std::vector<FoundLog> logs;  // by path
  std::vector<Skipped> skipped;
};
// A usage error, with an example of what was expected, if there is none.
base::Result<FoundLogs> find_logs(const std::filesystem::path& folder, const PathTemplate& layout);

}  // namespace rollcall::importer
