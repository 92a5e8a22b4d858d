// The one change to a sealed folder. First the document, then the seal over it: in
// between, the document is a file too many, and the next call finishes the work.
#include <errno.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/files.h"
#include "evidence/folder.h"
#include "evidence/folder_lock.h"
#include "evidence/layout.h"
#include "evidence/limits.h"
#include "evidence/seal.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;

// Where the new seal waits for its name; one that was left there was ours.
constexpr const char* kNextSeal = "SHA256SUMS.next";

base::Result<void> check_the_rest(const fs::path& folder, const std::string& added) {
  const auto check = examine_seal(folder);
  if (!check) return tl::unexpected<base::Error>(check.error());
  if (check->state == SealState::kUnfinished) {
    return base::usage_error(
        folder.string(), fmt::format("the experiment is unfinished: no {}", kChecksumsFile),
        "go on with it (rollcall run --resume --out), or write the report elsewhere with --out");
  }
  for (const Difference& one : check->differences) {
    if (one.file == kNextSeal || (one.file == added && one.what == kWasAdded)) continue;
    // Before the first derived file a folder of that name is none that was sealed.
    if (one.file == kDerivedFolder && one.what == "is a folder that was added") continue;
    return tl::unexpected(base::Error{base::ErrorKind::kDifference, (folder / kChecksumsFile).string(),
                                      "does not agree with the folder: " + one.file + " " + one.what,
                                      "nothing is derived from evidence that was changed"});
  }
  return {};
}

base::Result<void> seal_again(const fs::path& folder) {
  const fs::path next = folder / kNextSeal;
  if (unlink(next.c_str()) != 0 && errno != ENOENT)
    return base::system_failure(next.string(), "remove", errno);
  const auto lines = checksum_lines(folder);
  if (!lines) return tl::unexpected<base::Error>(lines.error());
  if (auto wrote = base::write_new_file(next, *lines); !wrote) return wrote;
  const fs::path seal = folder / kChecksumsFile;
  if (rename(next.c_str(), seal.c_str()) != 0) {
    const int error = errno;
    unlink(next.c_str());
    return base::system_failure(seal.string(), "replace", error);
  }
  return base::sync_directory(folder);
}

}  // namespace

base::Result<void> add_derived(const fs::path& folder, const std::string& name, std::string_view content) {
  if (name != kReportFile) {
    return base::failure(
        name, fmt::format("a finished folder takes nothing but {}/{}", kDerivedFolder, kReportFile));
  }
  const auto lock = lock_folder(folder);
  if (!lock) return tl::unexpected<base::Error>(lock.error());
  const std::string relative = fmt::format("{}/{}", kDerivedFolder, name);
  if (auto good = check_the_rest(folder, relative); !good) return good;
  const fs::path file = folder / relative;
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error))) {
    const auto present = base::read_file(file, content.size());
    if (!present || *present != content) {
      return base::usage_error(file.string(), "the file exists and says something else",
                               "nothing is overwritten: write the report elsewhere with --out");
    }
  } else {
    if (!fs::exists(folder / kDerivedFolder, error)) {
      if (auto made = base::make_new_directory(folder / kDerivedFolder); !made) return made;
    }
    if (auto wrote = base::write_new_file(file, content); !wrote) return wrote;
  }
  const auto check = examine_seal(folder);
  if (!check) return tl::unexpected<base::Error>(check.error());
  if (check->state == SealState::kIntact) return {};
  return seal_again(folder);
}

}  // namespace rollcall::evidence
