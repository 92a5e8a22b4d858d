// rollcall compare: the same conditions of two experiments, before and after.
#include "analysis/compare.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/command.h"
#include "evidence/folder.h"
#include "evidence/layout.h"
#include "report/comparison.h"

namespace rollcall::cli {
namespace {

namespace fs = std::filesystem;

// A plan with its profile, or an environment, is about 10 KB.
constexpr size_t kMaxDocumentBytes = 16 << 20;
constexpr int kMaxResumptions = 10'000;

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> allow;
  bool json = false;
};

// The text of a file that may be missing.
base::Result<std::string> read_optional(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::string();
  return base::read_file(path, kMaxDocumentBytes);
}

base::Result<std::vector<std::string>> read_environments(const fs::path& folder) {
  std::vector<std::string> texts;
  for (int n = 0; n <= kMaxResumptions; ++n) {
    const auto text = read_optional(
        folder / (n == 0 ? std::string("environment.json") : fmt::format("environment-resumed-{}.json", n)));
    if (!text) return tl::unexpected(text.error());
    if (!text->empty()) {
      texts.push_back(*text);
    } else if (n > 0) {
      break;
    }
  }
  return texts;
}

base::Result<analysis::ComparedEvidence> read_side(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return base::usage_error(folder, "expected an evidence folder, found none");
  const auto seal = evidence::check_seal(folder);
  if (!seal) return tl::unexpected(seal.error());
  if (seal->state == evidence::SealState::kBroken) {
    return tl::unexpected(base::Error{base::ErrorKind::kDifference, folder + "/SHA256SUMS",
                                      "does not agree with the folder: " + seal->difference,
                                      "nothing is compared with evidence that was changed"});
  }
  analysis::ComparedEvidence side;
  side.name = folder;
  auto runs = evidence::read_runs(folder);
  if (!runs) return tl::unexpected(runs.error());
  if (runs->empty()) return base::usage_error(folder, "no finished run in it: nothing to compare");
  side.runs = std::move(*runs);
  const auto plan = read_optional(fs::path(folder) / evidence::kPlanFile);
  if (!plan) return tl::unexpected(plan.error());
  side.plan_json = *plan;
  const auto environments = read_environments(folder);
  if (!environments) return tl::unexpected(environments.error());
  side.environment_jsons = *environments;
  if (seal->state == evidence::SealState::kUnfinished) {
    tell(fmt::format("rollcall: {}: the experiment is unfinished: compared are its {} finished runs", folder,
                     side.runs.size()));
  }
  return side;
}

base::Result<analysis::Comparison> make_comparison(const CompareOptions& options) {
  const auto allowed = analysis::parse_allowed(options.allow);
  if (!allowed) return tl::unexpected(allowed.error());
  std::error_code error;
  if (fs::equivalent(options.a, options.b, error)) {
    return base::usage_error(options.b, "is the same folder as the first", "an experiment equals itself");
  }
  const auto a = read_side(options.a);
  if (!a) return tl::unexpected(a.error());
  const auto b = read_side(options.b);
  if (!b) return tl::unexpected(b.error());
  const auto comparable = analysis::check_comparable(analysis::compare_environments(*a, *b), *allowed);
  if (!comparable) return tl::unexpected(comparable.error());
  return analysis::compare(*a, *b, *allowed);
}

// Done only if every condition that both have was compared, and there was one: silence
// about the rest would look like "nothing became worse".
int verdict(const analysis::Comparison& comparison) {
  if (comparison.complete()) return kDone;
  if (comparison.conditions.empty()) {
    tell("rollcall: the experiments have no condition in common, so nothing was compared");
    return kInvalid;
  }
  int missing = 0;
  for (const auto& condition : comparison.conditions) missing += condition.comparable() ? 0 : 1;
  tell(fmt::format("rollcall: {} of {} conditions could not be compared: no valid run on a side", missing,
                   comparison.conditions.size()));
  return kInvalid;
}

int execute(const CompareOptions& options) {
  const auto comparison = make_comparison(options);
  if (!comparison) return report_error(comparison.error());
  fmt::print("{}",
             options.json ? report::comparison_json(*comparison) : report::comparison_text(*comparison));
  if (std::fflush(stdout) != 0) {
    return report_error({base::ErrorKind::kFailure, "standard output", "cannot write", ""});
  }
  return verdict(*comparison);
}

}  // namespace

Action add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Compare the same conditions of two experiments.");
  command->add_option("A", options->a, "Evidence folder of the experiment before")
      ->required()
      ->option_text("DIR");
  command->add_option("B", options->b, "Evidence folder of the one after")->required()->option_text("DIR");
  command
      ->add_option("--allow", options->allow,
                   "Compare although the experiments differ in this field; repeatable (docs/compare.md)")
      ->option_text("FIELD")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--json", options->json, "Print the result as JSON");
  return [options] { return execute(*options); };
}

}  // namespace rollcall::cli
