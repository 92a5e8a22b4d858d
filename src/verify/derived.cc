// Tables that another version derived may rightly differ from what this one derives. Then
// they are compared all the same, but only to be able to say that nothing changed;
// what differs is no difference of the evidence.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "analysis/tables.h"
#include "base/files.h"
#include "evidence/json_object.h"
#include "evidence/layout.h"
#include "report/document.h"
#include "verify/checks.h"

namespace rollcall::verify {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxDerivedBytes = size_t{1} << 30;
constexpr size_t kMaxTextBytes = size_t{64} << 20;
constexpr const char* kDerivedByFile = "derived-by.txt";
const std::string kThisVersion = std::string("rollcall ") + ROLLCALL_VERSION;

base::Result<std::string> text_if_there(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::string();
  return base::read_file(file, kMaxTextBytes);
}

// Folders of the first version have no derived-by.txt; they were derived by the program
// that made the runs.
std::string deriver(const fs::path& folder) {
  if (const auto text = text_if_there(folder / evidence::kDerivedFolder / kDerivedByFile);
      text && !text->empty()) {
    return text->substr(0, text->find('\n'));
  }
  const auto environment = text_if_there(folder / "environment.json");
  if (!environment || environment->empty()) return {};
  const auto json = evidence::parse_json(*environment, "environment.json");
  if (!json || !json->is_object() || !json->contains("rollcall_version")) return {};
  const auto& version = (*json)["rollcall_version"];
  return version.is_string() ? "rollcall " + version.get<std::string>() : std::string();
}

std::string generator_of(const std::string& html) {
  constexpr std::string_view kMark = "<meta name=\"generator\" content=\"";
  const size_t at = html.find(kMark);
  if (at == std::string::npos) return {};
  const size_t begin = at + kMark.size();
  return html.substr(begin, html.find('"', begin) - begin);
}

base::Result<std::string> report_again(const fs::path& folder, const std::vector<evidence::Run>& runs) {
  report::ReportSource source;
  source.runs = runs;
  for (const auto& [name, text] :
       {std::pair{"plan.json", &source.plan_json}, std::pair{"environment.json", &source.environment_json},
        std::pair{"import.json", &source.import_json}}) {
    auto content = text_if_there(folder / name);
    if (!content) return content;
    *text = std::move(*content);
  }
  return report::html_report(source);
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
  const auto again = report_again(folder, runs);
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
  verification.derived_by = deriver(folder);
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
    } else {
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
