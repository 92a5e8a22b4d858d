// See verify.h. The seal comes first and alone says which bytes were changed; what the
// files say is compared only after that, and a file that was named is not named again.
#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "evidence/folder.h"
#include "evidence/layout.h"
#include "evidence/sha256.h"
#include "verify/checks.h"

namespace rollcall::verify {
namespace {

namespace fs = std::filesystem;

// "runs/001-1x1-native-r1/run.json:3" → the file, as the folder names it.
std::string file_of(const base::Error& error, const fs::path& folder) {
  std::string name = error.where;
  const std::string prefix = folder.string() + "/";
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos && name.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
    name.resize(colon);
  }
  return name;
}

}  // namespace

void Findings::differs(const std::string& file, const std::string& what) {
  auto& all = verification_.differences;
  const auto place = std::lower_bound(
      all.begin(), all.end(), file, [](const auto& one, const std::string& name) { return one.file < name; });
  if (place != all.end() && place->file == file) return;
  all.insert(place, {file, what});
}

base::Result<Verification> verify_folder(const fs::path& folder) {
  Verification verification;
  const auto seal = evidence::examine_seal(folder);
  if (!seal) return tl::unexpected<base::Error>(seal.error());
  verification.finished = seal->state != evidence::SealState::kUnfinished;
  if (!verification.finished) {
    std::error_code error;
    if (fs::is_directory(folder / evidence::kRunsFolder, error)) return verification;
    if (error && error != std::errc::no_such_file_or_directory) {
      return base::system_failure(folder.string(), "look into the folder", error.value());
    }
    return base::usage_error(folder.string(),
                             fmt::format("this is no evidence folder: it has neither {} nor {}/",
                                         evidence::kChecksumsFile, evidence::kRunsFolder));
  }
  verification.differences = seal->differences;
  verification.files = seal->files;
  verification.size_bytes = seal->size_bytes;
  const auto sum = evidence::sha256_file(folder / evidence::kChecksumsFile);
  if (!sum) return tl::unexpected<base::Error>(sum.error());
  verification.seal_sha256 = *sum;

  Findings findings(verification);
  const auto runs = evidence::read_runs(folder);
  if (!runs) {
    // Wrong content is a difference; a disk that cannot be read is not.
    if (runs.error().kind != base::ErrorKind::kUsage && verification.differences.empty()) {
      return tl::unexpected<base::Error>(runs.error());
    }
    findings.differs(file_of(runs.error(), folder), "cannot be read: " + runs.error().what);
    // Whatever else does not belong together is named as well.
    if (auto checked = check_plan(folder, {}, verification); !checked) {
      return tl::unexpected<base::Error>(checked.error());
    }
    findings.note("the records cannot be read, so nothing was derived again");
    return verification;
  }
  verification.runs = runs->size();
  for (const evidence::Run& run : *runs) verification.workers += run.workers.size();
  if (runs->empty()) findings.differs(evidence::kRunsFolder, "holds no run: nothing is shown");
  if (auto checked = check_plan(folder, *runs, verification); !checked) {
    return tl::unexpected<base::Error>(checked.error());
  }
  if (auto checked = check_derived(folder, *runs, verification); !checked) {
    return tl::unexpected<base::Error>(checked.error());
  }
  return verification;
}

}  // namespace rollcall::verify
