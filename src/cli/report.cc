// rollcall report: the experiment as one page for a browser, or as Markdown.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/command.h"
#include "cli/evidence_input.h"
#include "evidence/layout.h"
#include "evidence/seal.h"
#include "report/document.h"
#include "verify/report_source.h"

namespace rollcall::cli {
namespace {

struct ReportOptions {
  std::string evidence;
  std::string format = "html";
  std::string out;
};

// What a report leaves that was ended while it was being added; adding it again finishes that.
bool is_half_added(const evidence::Difference& difference) {
  const std::string report = std::string(evidence::kDerivedFolder) + "/" + evidence::kReportFile;
  return (difference.file == report && difference.what == evidence::kWasAdded) ||
         difference.file.starts_with(std::string(evidence::kChecksumsFile) + ".");
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
  std::error_code error;
  const bool to_file = !options.out.empty() && options.out != "-";
  if (to_file && std::filesystem::exists(std::filesystem::symlink_status(options.out, error))) {
    return base::usage_error(options.out, "exists; nothing is overwritten", "choose another --out");
  }
  auto input = open_evidence(options.evidence, is_half_added);
  if (!input) return tl::unexpected(input.error());
  const bool into_folder = options.out.empty() && options.format == "html";
  if (to_file && input->finished) {
    if (auto outside = evidence::check_outside(options.out, input->folder()); !outside) return outside;
  }
  if (into_folder && input->opened.is_archive()) {
    return base::usage_error(options.evidence, "nothing is added to an archive",
                             "write the report elsewhere with --out FILE");
  }
  if (into_folder && !input->finished) {
    return base::usage_error(options.evidence, "the experiment is unfinished, so no report is added to it",
                             "go on with rollcall run --resume, or write it elsewhere with --out FILE");
  }
  const std::filesystem::path& folder = input->folder();
  const auto source = verify::read_report_source(folder, std::move(input->runs), input->finished);
  if (!source) return tl::unexpected(source.error());
  const auto document = document_of(options, *source);
  if (!document) return tl::unexpected(document.error());
  if (into_folder) {
    if (auto added = evidence::add_derived(folder, evidence::kReportFile, *document); !added) return added;
    return print((folder / evidence::kDerivedFolder / evidence::kReportFile).string() + "\n");
  }
  if (!to_file) return print(*document);
  if (auto written = base::write_new_file(options.out, *document); !written) return written;
  return print(options.out + "\n");
}

}  // namespace

Action add_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "Tell an experiment on one page that opens offline, or as Markdown.");
  command->add_option("evidence", options->evidence, "Evidence folder, or an archive of one")
      ->required()
      ->option_text("EVIDENCE|ARCHIVE");
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
