// See report_source.h.
#include "verify/report_source.h"

#include <array>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "evidence/layout.h"

namespace rollcall::verify {
namespace {

// Documents beside the runs are a few kilobytes; an import names each of its files.
constexpr size_t kMaxDocumentBytes = size_t{64} << 20;

}  // namespace

base::Result<std::string> text_if_there(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::string();
  return base::read_file(file, kMaxDocumentBytes);
}

base::Result<report::ReportSource> read_report_source(const std::filesystem::path& folder,
                                                      std::vector<evidence::Run> runs, bool finished) {
  report::ReportSource source;
  source.runs = std::move(runs);
  source.finished = finished;
  for (const auto& [name, text] : {std::pair{evidence::kPlanFile, &source.plan_json},
                                   std::pair{evidence::kEnvironmentFile, &source.environment_json},
                                   std::pair{evidence::kImportFile, &source.import_json}}) {
    auto content = text_if_there(folder / name);
    if (!content) return tl::unexpected(content.error());
    *text = std::move(*content);
  }
  return source;
}

}  // namespace rollcall::verify
