// Tables that another version derived may rightly differ from what this one derives. Then
// they are compared all the same, but only to be able to say that nothing changed;
// what differs is no difference of the evidence.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "analysis/tables.h"
#include "base/files.h"
#include "evidence/json_object.h"
#include "evidence/layout.h"
#include "report/document.h"
#include "verify/checks.h"
#include "verify/report_source.h"

namespace rollcall::verify {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxDerivedBytes = size_t{1} << 30;
constexpr const char* kVersionKey = "rollcall_version";
constexpr const char* kDerivedByFile = "derived-by.txt";
const std::string kThisVersion = std::string("rollcall ") + ROLLCALL_VERSION;

// Which versions took part in the experiment, as its own documents say: the one that made the
// runs or the import, and those that resumed it.
base::Result<std::set<std::string>> versions_of(const fs::path& folder) {
  std::set<std::string> versions;
  std::error_code error;
  auto walk = fs::directory_iterator(folder, error);
  for (; !error && walk != fs::directory_iterator(); walk.increment(error)) {
    const std::string name = walk->path().filename().string();
    const bool tells = name == evidence::kEnvironmentFile || name == evidence::kImportFile ||
                       (name.starts_with("environment-resumed-") && name.ends_with(".json"));
    if (!tells) continue;
    const auto text = text_if_there(walk->path());
    if (!text) return tl::unexpected<base::Error>(text.error());
    const auto json = evidence::parse_json(*text, name);
    if (!json || !json->is_object() || !json->contains(kVersionKey)) continue;
    const auto& version = (*json)[kVersionKey];
    if (version.is_string()) versions.insert("rollcall " + version.get<std::string>());
  }
  if (error) return base::system_failure(folder.string(), "list the folder", error.value());
  return versions;
}

// Who derived the tables. Folders of the first version do not say; those were derived by the
// program that made the runs. A version that took no part cannot have derived them: to
// name one would be a way around the comparison.
base::Result<std::string> deriver(const fs::path& folder, Findings& findings) {
  const auto versions = versions_of(folder);
  if (!versions) return tl::unexpected<base::Error>(versions.error());
  const auto text = text_if_there(folder / evidence::kDerivedFolder / kDerivedByFile);
  if (!text) return text;
  if (text->empty()) return versions->size() == 1 ? *versions->begin() : std::string();
  const std::string name = text->substr(0, text->find('\n'));
  if (*text != name + "\n" || !versions->contains(name)) {
    findings.differs(fmt::format("{}/{}", evidence::kDerivedFolder, kDerivedByFile),
                     fmt::format("names '{}', but the experiment was made by {}", name,
                                 versions->empty() ? "a version that is not recorded"
                                                   : fmt::format("{}", fmt::join(*versions, ", "))));
    return kThisVersion;  // so that the tables are compared
  }
  return name;
}

std::string generator_of(const std::string& html) {
  constexpr std::string_view kMark = "<meta name=\"generator\" content=\"";
  const size_t at = html.find(kMark);
  if (at == std::string::npos) return {};
  const size_t begin = at + kMark.size();
  return html.substr(begin, html.find('"', begin) - begin);
}

base::Result<void> check_report(const fs::path& folder, const std::vector<evidence::Run>& runs,
                                const std::string& content, const std::string& file,
                                Verification& verification) {
  Findings findings(verification);
  const std::string generator = generator_of(content);
  if (generator.empty()) {
    findings.differs(file, "does not say what made it");
    return {};
  }
  if (generator != report::report_generator()) {
    findings.note(fmt::format("{} was made by {}; this is {}, so it was not compared", file, generator,
                              report::report_generator()));
    return {};
  }
  const auto source = read_report_source(folder, runs, true);
  if (!source) return tl::unexpected<base::Error>(source.error());
  const auto again = report::html_report(*source);
  if (!again) return tl::unexpected<base::Error>(again.error());
  if (*again != content) {
    findings.differs(file, "is not the report that follows from the evidence");
  } else {
    verification.derived_again.push_back(evidence::kReportFile);
  }
  return {};
}

base::Result<std::map<std::string, std::string>> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  if (!fs::exists(folder, error)) return files;
  auto walk = fs::directory_iterator(folder, error);
  for (; !error && walk != fs::directory_iterator(); walk.increment(error)) {
    if (!fs::is_regular_file(walk->symlink_status(error))) continue;
    auto content = base::read_file(walk->path(), kMaxDerivedBytes);
    if (!content) return tl::unexpected<base::Error>(content.error());
    files[walk->path().filename().string()] = std::move(*content);
  }
  if (error) return base::system_failure(folder.string(), "list the folder", error.value());
  return files;
}

}  // namespace

base::Result<void> check_derived(const fs::path& folder, const std::vector<evidence::Run>& runs,
                                 Verification& verification) {
  Findings findings(verification);
  auto present = files_in(folder / evidence::kDerivedFolder);
  if (!present) return tl::unexpected<base::Error>(present.error());
  const auto by_whom = deriver(folder, findings);
  if (!by_whom) return tl::unexpected<base::Error>(by_whom.error());
  verification.derived_by = *by_whom;
  const bool ours = verification.derived_by == kThisVersion;
  std::vector<std::string> not_compared;
  for (const analysis::DerivedFile& again : analysis::derive_all(runs)) {
    const std::string file = fmt::format("{}/{}", evidence::kDerivedFolder, again.name);
    const auto found = present->find(again.name);
    if (found == present->end()) {
      if (ours) findings.differs(file, "is missing");
      continue;
    }
    if (found->second == again.content) {
      verification.derived_again.push_back(again.name);
    } else if (ours) {
      findings.differs(file, "is not what follows from the records");
    } else if (again.name != kDerivedByFile) {
      not_compared.push_back(again.name);
    }
    present->erase(found);
  }
  if (const auto found = present->find(evidence::kReportFile); found != present->end()) {
    const std::string file = fmt::format("{}/{}", evidence::kDerivedFolder, found->first);
    if (auto checked = check_report(folder, runs, found->second, file, verification); !checked)
      return checked;
    present->erase(found);
  }
  for (const auto& [name, content] : *present) {
    if (ours) findings.differs(fmt::format("{}/{}", evidence::kDerivedFolder, name), "follows from nothing");
    if (!ours) not_compared.push_back(name);
  }
  if (!ours) {
    const std::string by =
        verification.derived_by.empty() ? "a version that is not recorded" : verification.derived_by;
    findings.note(not_compared.empty()
                      ? fmt::format("derived by {}; {} derives the same", by, kThisVersion)
                      : fmt::format("derived by {}, not compared: {}", by, fmt::join(not_compared, ", ")));
  }
  return {};
}

}  // namespace rollcall::verify
