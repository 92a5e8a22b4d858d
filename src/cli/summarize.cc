// rollcall summarize: derives the tables again from the raw records of an
// evidence folder, and from nothing else.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analysis/tables.h"
#include "base/files.h"
#include "cli/command.h"
#include "evidence/folder.h"

namespace rollcall::cli {
namespace {

struct SummarizeOptions {
  std::string input_dir;
  std::string output_dir;
};

base::Result<void> summarize(const SummarizeOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.input_dir, error)) {
    return base::usage_error("--input-dir " + options.input_dir, "expected an evidence folder, found none");
  }
  const auto seal = evidence::check_seal(options.input_dir);
  if (!seal) return tl::unexpected(seal.error());
  if (seal->state == evidence::SealState::kBroken) {
    return tl::unexpected(base::Error{base::ErrorKind::kDifference, options.input_dir + "/SHA256SUMS",
                                      "does not agree with the folder: " + seal->difference,
                                      "nothing is derived from evidence that was changed"});
  }
  const auto runs = evidence::read_runs(options.input_dir);
  if (!runs) return tl::unexpected(runs.error());
  if (runs->empty()) {
    return base::usage_error("--input-dir " + options.input_dir, "no finished run in it: nothing to derive");
  }
  const std::filesystem::path output = options.output_dir;
  const auto files = analysis::derive_all(*runs);
  for (const analysis::DerivedFile& file : files) {
    if (std::filesystem::exists(output / file.name, error)) {
      return base::usage_error((output / file.name).string(), "exists; nothing is overwritten",
                               "choose another --output-dir");
    }
  }
  std::filesystem::create_directories(output, error);
  if (error) return base::system_failure(output.string(), "make the folder", error.value());
  for (const analysis::DerivedFile& file : files) {
    if (auto written = base::write_new_file(output / file.name, file.content); !written) return written;
  }
  if (seal->state == evidence::SealState::kUnfinished) {
    fmt::print(
        stderr,
        "rollcall: {}: the experiment is unfinished: the tables are of its {} finished runs; go on with: "
        "rollcall run --resume --out {}\n",
        options.input_dir, runs->size(), options.input_dir);
  }
  return {};
}

}  // namespace

Action add_summarize(CLI::App& app) {
  auto options = std::make_shared<SummarizeOptions>();
  CLI::App* command = app.add_subcommand("summarize", "Derive the tables of an evidence folder again.");
  command->add_option("--input-dir", options->input_dir, "Evidence folder")->required()->option_text("DIR");
  command->add_option("--output-dir", options->output_dir, "Where the tables go; made if missing")
      ->required()
      ->option_text("DIR");
  return [options]() -> int {
    if (const auto done = summarize(*options); !done) return report_error(done.error());
    return kDone;
  };
}

}  // namespace rollcall::cli
