// See log_options.h.
#include "cli/log_options.h"

#include "base/files.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "evidence/records.h"

namespace rollcall::cli {
namespace {

template <typename Enum>
base::Result<std::optional<Enum>> word_of(const std::string& text, const char* option,
                                          const std::vector<std::string>& words) {
  if (text.empty()) return std::optional<Enum>();
  const auto value = evidence::from_text<Enum>(text);
  if (value) return value;
  std::string expected;
  for (const std::string& word : words) expected += (expected.empty() ? "" : ", ") + word;
  return base::usage_error(std::string(option) + " " + text, "expected one of " + expected,
                           base::did_you_mean(text, words));
}

}  // namespace

void add_log_options(CLI::App& command, LogOptions& options, bool layout_required) {
  command
      .add_option("--layout", options.layout,
                  "How the logs' paths are made, e.g. '{arm}-{topology}-run{run}/cache_{cache}.log'")
      ->required(layout_required)
      ->option_text("TEMPLATE");
  command
      .add_option("--regions", options.regions, "Paths of the regions of the caches (plain, gzip or zstd)")
      ->option_text("TEMPLATE");
  command
      .add_option(
          "--truth", options.truth,
          "Paths of the launcher's lists of workers (CSV: slot,cache,pid,cuinit_rc,enter_ms,return_ms)")
      ->option_text("TEMPLATE");
  command
      .add_option("--isolation", options.isolation,
                  "Whether each cache had a PID namespace: none (default), pid")
      ->option_text("KIND");
  command
      .add_option("--view", options.view,
                  "How NVML numbers processes inside: unknown (default), global, translated")
      ->option_text("VIEW");
  command
      .add_option("--external-wall-times", options.external_wall_times,
                  "Wall times by hand (CSV: topology,arm,run,external_wall_s)")
      ->option_text("CSV");
}

std::string needs_layout(const LogOptions& options) {
  if (!options.layout.empty()) return {};
  if (!options.regions.empty()) return "--regions";
  if (!options.truth.empty()) return "--truth";
  if (!options.isolation.empty()) return "--isolation";
  if (!options.view.empty()) return "--view";
  return {};
}

base::Result<importer::ReadOptions> to_read_options(const LogOptions& options, const std::string& input_dir) {
  importer::ReadOptions result;
  result.input_dir = input_dir;
  result.layout = options.layout;
  result.regions = options.regions;
  result.truth = options.truth;
  const auto isolation = word_of<evidence::Isolation>(options.isolation, "--isolation", {"none", "pid"});
  if (!isolation) return tl::unexpected<base::Error>(isolation.error());
  const auto view = word_of<evidence::NvmlView>(options.view, "--view", {"unknown", "global", "translated"});
  if (!view) return tl::unexpected<base::Error>(view.error());
  result.isolation = *isolation;
  result.view = *view;
  return result;
}

base::Result<importer::WallTimes> read_wall_times(const std::string& file) {
  if (file.empty()) return importer::WallTimes();
  auto text = base::read_file(file, importer::kMaxWallTimesBytes);
  if (!text) {
    return base::usage_error("--external-wall-times " + text.error().where, text.error().what);
  }
  return importer::WallTimes::parse(*text, file);
}

bool tell_wall_times(const importer::WallTimes& times) {
  for (const std::string& line : times.unused()) tell("rollcall: " + line);
  for (const std::string& line : times.differences()) {
    tell("rollcall: " + line + "; the run's own time stands in the tables");
  }
  return !times.differences().empty();
}

}  // namespace rollcall::cli
