// rollcall compare: the same conditions of two experiments, before and after.
#include "analysis/compare.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/evidence_input.h"
#include "evidence/layout.h"
#include "report/comparison.h"
#include "verify/report_source.h"

namespace rollcall::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxResumptions = 10'000;

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> allow;
  bool json = false;
};

base::Result<std::vector<std::string>> read_environments(const fs::path& folder) {
  std::vector<std::string> texts;
  for (int n = 0; n <= kMaxResumptions; ++n) {
    const auto text = verify::text_if_there(
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

base::Result<analysis::ComparedEvidence> read_side(const std::string& name) {
  auto input = open_evidence(name);
  if (!input) return tl::unexpected(input.error());
  tell_unfinished(*input, "compared are");
  analysis::ComparedEvidence side;
  side.name = name;
  const auto plan = verify::text_if_there(input->folder() / evidence::kPlanFile);
  if (!plan) return tl::unexpected(plan.error());
  side.plan_json = *plan;
  const auto environments = read_environments(input->folder());
  if (!environments) return tl::unexpected(environments.error());
  side.environment_jsons = *environments;
  side.runs = std::move(input->runs);
  return side;
}

base::Result<analysis::Comparison> make_comparison(const CompareOptions& options) {
  const auto allowed = analysis::parse_allowed(options.allow);
  if (!allowed) return tl::unexpected(allowed.error());
  std::error_code error;
  if (fs::equivalent(options.a, options.b, error)) {
    return base::usage_error(options.b, "is the same evidence as the first", "an experiment equals itself");
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
  for (const auto& condition : comparison.conditions) {
    missing += condition.compared() ? 0 : 1;
  }
  tell(fmt::format(
      "rollcall: {} of {} conditions could not be compared: no valid run, or nothing measured, on a side",
      missing, comparison.conditions.size()));
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
  command->add_option("A", options->a, "Evidence of the experiment before, a folder or an archive")
      ->required()
      ->option_text("EVIDENCE|ARCHIVE");
  command->add_option("B", options->b, "Evidence of the one after")
      ->required()
      ->option_text("EVIDENCE|ARCHIVE");
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
