// A folder can be sealed again after a run was taken out of it. What was planned tells:
// the frozen plan gives the schedule, and the schedule every run's name.
#include <fmt/format.h>

#include <set>
#include <system_error>

#include "base/files.h"
#include "evidence/json_object.h"
#include "evidence/layout.h"
#include "evidence/sha256.h"
#include "study/plan.h"
#include "study/schedule.h"
#include "verify/checks.h"

namespace rollcall::verify {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxJsonBytes = size_t{16} << 20;

// Which plan the environment was recorded for; empty: not said.
base::Result<std::string> plan_of_environment(const fs::path& file) {
  const auto text = base::read_file(file, kMaxJsonBytes);
  if (!text) return tl::unexpected<base::Error>(text.error());
  const auto json = evidence::parse_json(*text, file.string());
  if (!json) return tl::unexpected<base::Error>(json.error());
  if (!json->is_object() || !json->contains("plan_sha256") || !(*json)["plan_sha256"].is_string())
    return std::string();
  return (*json)["plan_sha256"].get<std::string>();
}

std::string run_file(const std::string& id) {
  return fmt::format("{}/{}/{}", evidence::kRunsFolder, id, evidence::kRunFile);
}

void check_schedule(const study::Plan& plan, const std::vector<evidence::Run>& runs, Findings& findings) {
  std::set<std::string> there;
  for (const evidence::Run& run : runs) there.insert(run.record.id());
  std::set<std::string> planned;
  for (const study::PlannedRun& run : study::make_schedule(plan)) {
    planned.insert(run.id());
    if (!there.contains(run.id())) findings.differs(run_file(run.id()), "is missing: the plan has this run");
  }
  for (const std::string& id : there) {
    if (!planned.contains(id)) findings.differs(run_file(id), "is of a run that the plan does not have");
  }
}

}  // namespace

base::Result<void> check_plan(const fs::path& folder, const std::vector<evidence::Run>& runs,
                              Verification& verification) {
  Findings findings(verification);
  const fs::path plan_file = folder / evidence::kPlanFile;
  const fs::path environment_file = folder / evidence::kEnvironmentFile;
  std::error_code error;
  if (!fs::exists(plan_file, error)) {
    const bool imported = !runs.empty() && !runs.front().record.imported_from.empty();
    if (!imported && !runs.empty()) findings.differs(evidence::kPlanFile, "is missing");
    return {};
  }
  const auto text = base::read_file(plan_file, kMaxJsonBytes);
  if (!text) return tl::unexpected<base::Error>(text.error());
  const auto sum = evidence::sha256_hex(*text);
  if (!sum) return tl::unexpected<base::Error>(sum.error());
  verification.plan_sha256 = *sum;
  for (const evidence::Run& run : runs) {
    if (run.record.plan_sha256 == *sum) continue;
    findings.differs(run_file(run.record.id()),
                     fmt::format("names a plan with SHA-256 {}, {} has {}", run.record.plan_sha256,
                                 evidence::kPlanFile, *sum));
  }
  if (!fs::exists(environment_file, error)) {
    findings.differs(evidence::kEnvironmentFile, "is missing");
  } else {
    const auto named = plan_of_environment(environment_file);
    if (!named) {
      findings.differs(evidence::kEnvironmentFile, "cannot be read: " + named.error().what);
    } else if (*named != *sum) {
      findings.differs(evidence::kEnvironmentFile,
                       fmt::format("names a plan with SHA-256 {}, {} has {}",
                                   named->empty() ? "(none)" : *named, evidence::kPlanFile, *sum));
    }
  }
  const auto plan = study::parse_plan(*text, plan_file.string());
  if (!plan) {
    // Of another version, perhaps: its hash was compared, what it plans was not.
    findings.note("plan.json is not one that this version reads, so the runs were not compared with it (" +
                  plan.error().what + ")");
    return {};
  }
  if (!runs.empty()) check_schedule(*plan, runs, findings);
  return {};
}

}  // namespace rollcall::verify
