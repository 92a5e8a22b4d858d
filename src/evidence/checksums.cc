// SHA256SUMS: what lets anybody check an evidence folder with nothing but
// coreutils (`sha256sum -c SHA256SUMS`).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <system_error>

#include "base/files.h"
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

// Path to checksum, from the lines of SHA256SUMS. A line of another form stands for
// itself, so that it can only be a difference.
std::map<std::string, std::string> parse_lines(const std::string& lines) {
  constexpr size_t kSumLength = 64;
  std::map<std::string, std::string> sums;
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

std::string first_difference(const std::string& sealed, const std::string& found) {
  const auto before = parse_lines(sealed);
  const auto now = parse_lines(found);
  std::map<std::string, std::string> differences;
  for (const auto& [name, sum] : before) {
    const auto there = now.find(name);
    if (there == now.end()) differences[name] = "is missing";
    if (there != now.end() && there->second != sum) differences[name] = "was changed";
  }
  for (const auto& [name, sum] : now) {
    if (before.count(name) == 0) differences[name] = "was added";
  }
  if (differences.empty()) return std::string(kChecksumsFile) + " was changed";
  return differences.begin()->first + " " + differences.begin()->second;
}

}  // namespace

base::Result<Seal> check_seal(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kChecksumsFile, error)) return Seal{};
  const auto sealed = base::read_file(folder / kChecksumsFile, kMaxChecksumsBytes);
  if (!sealed) return tl::unexpected<base::Error>(sealed.error());
  const auto found = checksum_lines(folder);
  if (!found) return tl::unexpected<base::Error>(found.error());
  if (*sealed == *found) return Seal{SealState::kIntact, {}};
  return Seal{SealState::kBroken, first_difference(*sealed, *found)};
}

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
