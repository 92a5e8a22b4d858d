// rollcall report: the experiment as one page for a browser, or as Markdown.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/command.h"
#include "evidence/folder.h"
#include "evidence/layout.h"
#include "evidence/seal.h"
#include "report/document.h"

namespace rollcall::cli {
namespace {

// Documents beside the runs are a few kilobytes; an import names each of its files.
constexpr size_t kMaxDocumentBytes = size_t{16} << 20;

struct ReportOptions {
  std::string evidence;
  std::string format = "html";
  std::string out;
};

// Empty if it is not there: which documents there are depends on how the evidence came to be.
base::Result<std::string> optional_document(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::string();
  return base::read_file(path, kMaxDocumentBytes);
}

// What a report leaves that was ended while it was being added; adding it again finishes that.
bool is_half_added(const evidence::Difference& difference) {
  const std::string report = std::string(evidence::kDerivedFolder) + "/" + evidence::kReportFile;
  return (difference.file == report && difference.what == evidence::kWasAdded) ||
         difference.file.starts_with(std::string(evidence::kChecksumsFile) + ".");
}

base::Result<report::ReportSource> read_source(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return base::usage_error(folder.string(), "expected an evidence folder, found none");
  }
  const auto seal = evidence::examine_seal(folder);
  if (!seal) return tl::unexpected(seal.error());
  for (const evidence::Difference& one : seal->differences) {
    if (is_half_added(one)) continue;
    return tl::unexpected(base::Error{base::ErrorKind::kDifference,
                                      (folder / evidence::kChecksumsFile).string(),
                                      "does not agree with the folder: " + one.file + " " + one.what,
                                      "nothing is derived from evidence that was changed"});
  }
  report::ReportSource source;
  source.finished = seal->state != evidence::SealState::kUnfinished;
  auto runs = evidence::read_runs(folder);
  if (!runs) return tl::unexpected(runs.error());
  if (runs->empty()) {
    return base::usage_error(folder.string(), "no finished run in it: nothing to report");
  }
  source.runs = std::move(*runs);
  for (const auto& [name, text] : {std::pair{evidence::kPlanFile, &source.plan_json},
                                   std::pair{"environment.json", &source.environment_json},
                                   std::pair{"import.json", &source.import_json}}) {
    auto document = optional_document(folder / name);
    if (!document) return tl::unexpected(document.error());
    *text = std::move(*document);
  }
  return source;
}

base::Result<std::string> document_of(const ReportOptions& options, const report::ReportSource& source) {
  if (options.format == "md") return report::markdown_report(source);
  return report::html_report(source);
}

base::Result<void> print(const std::string& document) {
  if (std::fwrite(document.data(), 1, document.size(), stdout) != document.size() ||
      std::fflush(stdout) != 0) {
    return base::system_failure("standard output", "write", errno);
  }
  return {};
}

base::Result<void> make_report(const ReportOptions& options) {
  const std::filesystem::path folder = options.evidence;
  std::error_code error;
  const bool to_file = !options.out.empty() && options.out != "-";
  if (to_file && std::filesystem::exists(std::filesystem::symlink_status(options.out, error))) {
    return base::usage_error(options.out, "exists; nothing is overwritten", "choose another --out");
  }
  const auto source = read_source(folder);
  if (!source) return tl::unexpected(source.error());
  const bool into_folder = options.out.empty() && options.format == "html";
  if (into_folder && !source->finished) {
    return base::usage_error(options.evidence, "the experiment is unfinished, so no report is added to it",
                             "go on with rollcall run --resume, or write it elsewhere with --out FILE");
  }
  const auto document = document_of(options, *source);
  if (!document) return tl::unexpected(document.error());
  if (into_folder) {
    if (auto added = evidence::add_derived(folder, evidence::kReportFile, *document); !added) return added;
    fmt::print("{}\n", (folder / evidence::kDerivedFolder / evidence::kReportFile).string());
    return {};
  }
  if (!to_file) return print(*document);
  if (auto written = base::write_new_file(options.out, *document); !written) return written;
  fmt::print("{}\n", options.out);
  return {};
}

}  // namespace

Action add_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "Tell an experiment on one page that opens offline, or as Markdown.");
  command->add_option("evidence", options->evidence, "Evidence folder")->required()->option_text("EVIDENCE");
  command
      ->add_option("--format", options->format,
                   "html: into derived/report.html, with its line in SHA256SUMS; md: to standard output")
      ->check(CLI::IsMember({"html", "md"}))
      ->option_text("html|md");
  command->add_option("--out", options->out, "Write it there instead; must not exist; - is standard output")
      ->option_text("FILE");
  return [options]() -> int {
    if (const auto done = make_report(*options); !done) return report_error(done.error());
    return kDone;
  };
}

}  // namespace rollcall::cli
