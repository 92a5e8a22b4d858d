// See seal.h. Everything is compared by path, so that the answer does not depend on
// the order in which a file system lists its entries.
#include "evidence/seal.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "base/files.h"
#include "evidence/folder.h"
#include "evidence/layout.h"
#include "evidence/limits.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;
using Sums = std::map<std::string, std::string>;
using Differences = std::map<std::string, std::string>;

// Path to checksum, from the lines of SHA256SUMS. A line of another form stands for
// itself, so that it can only be a difference.
Sums parse_lines(const std::string& lines) {
  constexpr size_t kSumLength = 64;
  Sums sums;
  std::istringstream input(lines);
  for (std::string line; std::getline(input, line);) {
    const bool formed = line.size() > kSumLength + 2 && line.compare(kSumLength, 2, "  ") == 0;
    if (formed) {
      sums[line.substr(kSumLength + 2)] = line.substr(0, kSumLength);
    } else {
      sums[line] = "";
    }
  }
  return sums;
}

// A run without logs or regions keeps these folders; they hold nothing that could be sealed.
bool may_be_empty(const fs::path& relative) {
  const std::string top = relative.begin()->string();
  if (top == kUnfinishedFolder) return true;
  const auto depth = std::distance(relative.begin(), relative.end());
  const std::string name = relative.filename().string();
  return top == kRunsFolder && depth == 3 && (name == kLogsFolder || name == kRegionsFolder);
}

// What checksum_lines() passes over: folders that no sealed file is in, links, sockets …
base::Result<Differences> what_is_no_file(const fs::path& folder, const Sums& sealed, SealCheck& check) {
  std::set<std::string> parents;
  for (const auto& [name, sum] : sealed) {
    for (fs::path at = fs::path(name).parent_path(); !at.empty(); at = at.parent_path()) {
      if (!parents.insert(at.generic_string()).second || at == at.parent_path()) break;
    }
  }
  Differences differences;
  std::error_code error;
  size_t entries = 0;
  auto walk = fs::recursive_directory_iterator(folder, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const fs::file_status status = walk->symlink_status(error);
    if (error) break;
    if (++entries > kMaxFiles) {
      return base::usage_error(folder.string(), fmt::format("more than {} entries", kMaxFiles));
    }
    const fs::path relative = walk->path().lexically_relative(folder);
    const std::string name = relative.generic_string();
    if (fs::is_regular_file(status)) {
      if (name != kChecksumsFile) ++check.files;
      std::error_code ignored;
      const auto size = fs::file_size(walk->path(), ignored);
      if (!ignored) check.size_bytes += size;
    } else if (!fs::is_directory(status)) {
      differences[name] = "is neither a file nor a folder";
    } else if (!parents.contains(name) && !may_be_empty(relative)) {
      differences[name] = "is a folder that was added";
    }
  }
  if (error) return base::system_failure(folder.string(), "list the folder", error.value());
  return differences;
}

void compare(const Sums& before, const Sums& now, Differences& differences) {
  for (const auto& [name, sum] : before) {
    const auto there = now.find(name);
    if (there == now.end()) {
      differences.emplace(
          name, sum.empty() ? fmt::format("is no line of {}'s form", kChecksumsFile)
                            : fmt::format("is missing, or its line in {} was changed", kChecksumsFile));
    } else if (there->second != sum) {
      differences[name] = fmt::format("was changed, or its line in {} was", kChecksumsFile);
    }
  }
  for (const auto& [name, sum] : now) {
    if (!before.contains(name)) differences[name] = kWasAdded;
  }
}

}  // namespace

base::Result<SealCheck> examine_seal(const fs::path& folder) {
  SealCheck check;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder / kChecksumsFile, error))) return check;
  const auto sealed = base::read_file(folder / kChecksumsFile, kMaxChecksumsBytes);
  if (!sealed) return tl::unexpected<base::Error>(sealed.error());
  const auto found = checksum_lines(folder);
  if (!found) return tl::unexpected<base::Error>(found.error());
  const Sums before = parse_lines(*sealed);
  auto differences = what_is_no_file(folder, before, check);
  if (!differences) return tl::unexpected<base::Error>(differences.error());
  compare(before, parse_lines(*found), *differences);
  if (differences->empty() && *sealed != *found) {
    (*differences)[kChecksumsFile] = "was changed: other lines than it was written with";
  }
  for (auto& [name, what] : *differences) check.differences.push_back({name, what});
  check.state = check.differences.empty() ? SealState::kIntact : SealState::kBroken;
  return check;
}

base::Result<void> check_outside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path inside = fs::weakly_canonical(fs::absolute(path, error), error);
  const fs::path sealed = fs::weakly_canonical(fs::absolute(folder, error), error);
  for (fs::path at = inside; !error; at = at.parent_path()) {
    if (at == sealed) {
      return base::usage_error(path.string(), "lies in the evidence folder, whose seal it would break",
                               "choose a place outside it");
    }
    if (at == at.parent_path()) break;
  }
  return {};
}

base::Result<Seal> check_seal(const fs::path& folder) {
  const auto check = examine_seal(folder);
  if (!check) return tl::unexpected<base::Error>(check.error());
  Seal seal{check->state, {}};
  if (!check->differences.empty()) {
    seal.difference = check->differences.front().file + " " + check->differences.front().what;
  }
  return seal;
}

}  // namespace rollcall::evidence
