// SHA256SUMS: what lets anybody check an evidence folder with nothing but
// coreutils (`sha256sum -c SHA256SUMS`).
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "evidence/folder.h"
#include "evidence/layout.h"
#include "evidence/limits.h"
#include "evidence/sha256.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;

// sha256sum escapes such names, and older versions disagree on how. Nothing
// of ours is named so.
bool has_awkward_bytes(const std::string& name) {
  return name.find_first_of("\n\r\\") != std::string::npos;
}

base::Result<std::vector<std::string>> regular_files(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  auto walk = fs::recursive_directory_iterator(folder, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const fs::file_status status = walk->symlink_status(error);
    if (error) break;
    if (!fs::is_regular_file(status)) continue;
    std::string name = walk->path().lexically_relative(folder).generic_string();
    if (name == kChecksumsFile) continue;
    if (has_awkward_bytes(name)) {
      return base::usage_error(walk->path().string(), "a file name with a line break or a backslash in it",
                               "take the file out of the evidence folder");
    }
    names.push_back(std::move(name));
    if (names.size() > kMaxFiles) {
      return base::usage_error(folder.string(), fmt::format("more than {} files", kMaxFiles));
    }
  }
  if (error) return base::system_failure(folder.string(), "list the folder", error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

base::Result<std::string> checksum_lines(const fs::path& folder) {
  const auto names = regular_files(folder);
  if (!names) return tl::unexpected<base::Error>(names.error());
  std::string lines;
  for (const std::string& name : *names) {
    const auto sum = sha256_file(folder / name);
    if (!sum) return sum;
    lines += *sum + "  " + name + "\n";
  }
  return lines;
}

}  // namespace rollcall::evidence
