// See read_logs.h. One run at a time is in memory, and of its logs only what they say.
#include "importer/read_logs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "evidence/compress.h"
#include "evidence/json_object.h"
#include "evidence/layout.h"
#include "importer/assemble.h"
#include "importer/region_file.h"

namespace rollcall::importer {
namespace {

namespace fs = std::filesystem;

// Variables that a template may use beside the layout's own.
base::Result<PathTemplate> parse_companion(const std::string& text, const std::string& option,
                                           const PathTemplate& layout, bool by_cache) {
  auto companion = PathTemplate::parse(text, option);
  if (!companion) return companion;
  for (const Variable variable : {Variable::kArm, Variable::kTopology, Variable::kRun, Variable::kWorker}) {
    if (!companion->uses(variable)) continue;
    if (variable == Variable::kWorker || !layout.uses(variable)) {
      return base::usage_error(option + " '" + text + "'",
                               fmt::format("{{{}}} cannot be filled in: {}", to_text(variable),
                                           variable == Variable::kWorker ? "the file is of many workers"
                                                                         : "the layout does not have it"));
    }
  }
  if (companion->uses(Variable::kCache) != by_cache) {
    return base::usage_error(option + " '" + text + "'",
                             by_cache ? "expected {cache} in it: each cache has a region"
                                      : "{cache} cannot be filled in: the file is of a whole run");
  }
  return companion;
}

base::Result<PathTemplate> parse_layout(const std::string& text) {
  auto layout = PathTemplate::parse(text, "--layout");
  if (!layout) return layout;
  const auto lacks = [&](const char* what) {
    return base::usage_error("--layout '" + text + "'", fmt::format("expected {} in it", what),
                             "a layout is like '{arm}-{topology}-run{run}/cache_{cache}.log'");
  };
  if (!layout->uses(Variable::kArm)) return lacks("{arm}");
  if (!layout->uses(Variable::kTopology)) return lacks("{topology}");
  if (!layout->uses(Variable::kCache) && !layout->uses(Variable::kWorker))
    return lacks("{cache} or {worker}");
  return layout;
}

std::string copy_name(const LogFile& log) {
  std::string name = fmt::format("{}/cache_{}", evidence::kLogsFolder, log.cache);
  if (log.worker) name += fmt::format("-worker_{}", *log.worker);
  return name + ".log";
}

base::Result<void> read_truth(ReadPlan& plan, const PathTemplate& truth) {
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const RunFiles& run = plan.runs[i];
    const fs::path path = plan.options.input_dir / truth.fill(run.bindings);
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      return base::usage_error(path.string(),
                               fmt::format("there is no such file for the run {} {} {}", run.topology.text(),
                                           run.arm, run.repetition),
                               "leave --truth out, or give it for every run");
    }
    auto text = base::read_file(path, kMaxTruthBytes);
    if (!text) return tl::unexpected<base::Error>(text.error());
    auto parsed = parse_truth(*text, path.string());
    if (!parsed) return tl::unexpected<base::Error>(parsed.error());
    const auto isolation = plan.options.isolation.value_or(evidence::Isolation::kNone);
    if (auto good = check_truth(*parsed, run.topology, isolation, path.string()); !good) return good;
    plan.truth_texts[i] = std::move(*text);
    plan.truths[i] = std::move(*parsed);
  }
  return {};
}

class RunReader {
 public:
  RunReader(const ReadPlan& plan, size_t index, evidence::FolderWriter* folder)
      : plan_(plan), files_(plan.runs[index]), folder_(folder), input_dir_(plan.options.input_dir) {
    input_.number = static_cast<int>(index) + 1;
    input_.topology = files_.topology;
    input_.arm = files_.arm;
    input_.repetition = files_.repetition;
    input_.isolation = plan.options.isolation.value_or(evidence::Isolation::kNone);
    input_.view = plan.options.view.value_or(evidence::NvmlView::kUnknown);
    input_.truth = plan.truths[index];
    input_.caches.resize(static_cast<size_t>(files_.topology.caches()));
    report_.id = evidence::run_id(input_.number, input_.topology, input_.arm, input_.repetition);
  }

  base::Result<evidence::Run> read(WallTimes& wall_times, const std::optional<std::string>& truth_text) {
    if (folder_ != nullptr) {
      auto working = folder_->begin_run(report_.id);
      if (!working) return tl::unexpected<base::Error>(working.error());
      working_ = std::move(*working);
    }
    for (const LogFile& log : files_.logs) {
      if (auto done = read_log(log); !done) return tl::unexpected<base::Error>(done.error());
    }
    if (plan_.regions && has_shim(files_.arm)) {  // nobody writes one without a shim
      for (size_t cache = 0; cache < input_.caches.size(); ++cache) {
        if (auto done = read_region_of(cache); !done) return tl::unexpected<base::Error>(done.error());
      }
    }
    Assembled assembled = assemble(input_);
    report_.strangers = assembled.strangers;
    report_.silent = assembled.silent;
    for (const LogReport& log : report_.logs) {
      if (!log.fault.empty()) assembled.run.record.events.push_back({"log_not_read", log.path});
    }
    wall_times.join(assembled.run.record);
    if (folder_ == nullptr) return std::move(assembled.run);
    if (truth_text) {
      if (auto put = folder_->put_into_run(*truth_text, working_, evidence::kTruthFile); !put)
        return tl::unexpected<base::Error>(put.error());
    }
    if (auto committed = folder_->commit_run(working_, assembled.run); !committed)
      return tl::unexpected<base::Error>(committed.error());
    return std::move(assembled.run);
  }

  RunReport take_report() { return std::move(report_); }

 private:
  base::Result<void> read_log(const LogFile& log) {
    LogReport report;
    report.path = evidence::clean_text(log.path.string());
    report.cache = log.cache;
    const fs::path source = input_dir_ / log.path;
    if (access(source.c_str(), R_OK) != 0) {
      report.fault = "log_unreadable";
      report_.logs.push_back(std::move(report));
      return {};
    }
    LogScanner scanner;
    const auto listen = [&scanner](std::string_view bytes) { scanner.add(bytes); };
    base::Result<evidence::Copied> copied;
    if (folder_ != nullptr) {
      report.copy = copy_name(log);
      copied = folder_->copy_into_run(source, working_, report.copy, kMaxLogBytes, listen);
    } else {
      copied = evidence::read_through(source, kMaxLogBytes, listen);
    }
    if (!copied) return tl::unexpected<base::Error>(copied.error());
    report.changed = copied->changed;
    CacheLog cache_log{log.worker, scanner.finish()};
    report.speakers = cache_log.reading.speakers.size();
    report.counts = cache_log.reading;
    report.counts.speakers.clear();
    report.counts.benchmarks.clear();
    report_.logs.push_back(std::move(report));
    input_.caches[static_cast<size_t>(log.cache)].logs.push_back(std::move(cache_log));
    return {};
  }

  // A region that cannot be read is told and leaves the log alone to speak; only what stops
  // the import itself is an error.
  base::Result<void> read_region_of(size_t cache) {
    const auto& bindings = files_.cache_bindings[cache];
    if (!bindings) return {};  // it has no log either, so nobody knows its path
    const std::string below = plan_.regions->fill(*bindings);
    RegionReport report{evidence::clean_text(below), {}};
    const fs::path source = input_dir_ / below;
    std::error_code error;
    const auto packed = base::read_file(source, kMaxRegionBytes);
    const auto region = packed ? unpack_region(*packed, source.string()) : packed;
    if (!region) {
      report.fault = fs::exists(source, error) ? "region_unreadable" : "region_missing";
    } else {
      RegionReading reading = read_region(*region);
      if (reading.fault != nullptr) report.fault = reading.fault;
      input_.caches[cache].region = std::move(reading);
      if (auto kept = keep_region(*region, cache); !kept) return kept;
    }
    report_.regions.push_back(std::move(report));
    return {};
  }

  base::Result<void> keep_region(std::string_view region, size_t cache) {
    if (folder_ == nullptr) return {};
    const auto frame = evidence::compress(region);
    if (!frame) return tl::unexpected<base::Error>(frame.error());
    return folder_->put_into_run(*frame, working_,
                                 fmt::format("{}/cache_{}.region.zst", evidence::kRegionsFolder, cache));
  }

  const ReadPlan& plan_;
  const RunFiles& files_;
  evidence::FolderWriter* folder_;
  const fs::path& input_dir_;
  fs::path working_;
  RunInput input_;
  RunReport report_;
};

}  // namespace

base::Result<ReadPlan> plan_reading(const ReadOptions& options) {
  ReadPlan plan;
  plan.options = options;
  const auto layout = parse_layout(options.layout);
  if (!layout) return tl::unexpected<base::Error>(layout.error());
  if (!options.regions.empty()) {
    auto regions = parse_companion(options.regions, "--regions", *layout, true);
    if (!regions) return tl::unexpected<base::Error>(regions.error());
    plan.regions = std::move(*regions);
  }
  std::optional<PathTemplate> truth;
  if (!options.truth.empty()) {
    auto parsed = parse_companion(options.truth, "--truth", *layout, false);
    if (!parsed) return tl::unexpected<base::Error>(parsed.error());
    truth = std::move(*parsed);
  }
  auto found = find_logs(options.input_dir, *layout);
  if (!found) return tl::unexpected<base::Error>(found.error());
  if (found->logs.size() > kMaxLogs) {
    return base::usage_error(options.input_dir.string(), fmt::format("more than {} logs", kMaxLogs));
  }
  plan.skipped = std::move(found->skipped);
  auto runs = arrange(found->logs);
  if (!runs) return tl::unexpected<base::Error>(runs.error());
  plan.runs = std::move(*runs);
  // Before anything is written: a folder that cannot get its name would end the import half way.
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const RunFiles& run = plan.runs[i];
    const std::string id = evidence::run_id(static_cast<int>(i) + 1, run.topology, run.arm, run.repetition);
    if (evidence::is_plain_name(id)) continue;
    return base::usage_error(run.logs.front().path.string(),
                             fmt::format("the run's name '{}' cannot be the name of a folder", id),
                             "the arm in the path must be short and printable");
  }
  plan.truths.resize(plan.runs.size());
  plan.truth_texts.resize(plan.runs.size());
  if (truth) {
    if (auto read = read_truth(plan, *truth); !read) return tl::unexpected<base::Error>(read.error());
  }
  return plan;
}

base::Result<ReadResult> read_logs(const ReadPlan& plan, WallTimes& wall_times,
                                   evidence::FolderWriter* folder) {
  ReadResult result;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    RunReader reader(plan, i, folder);
    auto run = reader.read(wall_times, plan.truth_texts[i]);
    if (!run) return tl::unexpected<base::Error>(run.error());
    result.runs.push_back(std::move(*run));
    result.reports.push_back(reader.take_report());
  }
  return result;
}

}  // namespace rollcall::importer
