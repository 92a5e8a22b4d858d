// SHA256SUMS: what lets anybody check an evidence folder with nothing but
// coreutils (`sha256sum -c SHA256SUMS`).
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "evidence/file_stamp.h"
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

std::optional<std::string> known_sum(const fs::path& path, const KnownSums& known) {
  if (known.empty()) return std::nullopt;
  const auto stamped = stamp_of(path);
  if (!stamped) return std::nullopt;
  const auto found = known.find(stamped->first);
  if (found == known.end()) return std::nullopt;
  KnownSum now = stamped->second;
  now.sha256 = found->second.sha256;
  if (now != found->second) return std::nullopt;
  return now.sha256;
}

}  // namespace

base::Result<std::string> checksum_lines(const fs::path& folder, const KnownSums& known) {
  const auto names = regular_files(folder);
  if (!names) return tl::unexpected<base::Error>(names.error());
  std::string lines;
  for (const std::string& name : *names) {
    auto sum = known_sum(folder / name, known);
    if (!sum) {
      const auto read = sha256_file(folder / name);
      if (!read) return read;
      sum = *read;
    }
    lines += *sum + "  " + name + "\n";
  }
  return lines;
}

}  // namespace rollcall::evidence
