// rollcall probe: measurements of single steps of the driver, each repetition a
// fresh process of rollcall-probe; and the layouts of the regions.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/command.h"
#include "evidence/json_object.h"
#include "evidence/limits.h"
#include "probe/observe.h"
#include "report/repetitions.h"
#include "report/text_table.h"
#include "study/paths.h"
#include "study/region_layout.h"

namespace rollcall::cli {
namespace {

constexpr int kMaxRepetitions = 1000;
// A context among a hundred others was seen to take half a minute.
constexpr int64_t kDeadlineMs = 120'000;

struct ProbeOptions {
  int repetitions = 1;
  bool json = false;
  std::string label = "unnamed";
  std::string mode;
  std::string file;
};

int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return report_error({base::ErrorKind::kFailure, "standard output", "cannot be written", ""});
  }
  return kDone;
}

base::Result<std::filesystem::path> find_probe() {
  const auto paths = study::find_paths();
  if (!paths) return tl::unexpected(paths.error());
  if (auto there = study::require_file(paths->probe, "the probing program"); !there) {
    return tl::unexpected(there.error());
  }
  return paths->probe;
}

base::Result<std::vector<evidence::Json>> repeat(const std::vector<std::string>& question, int repetitions) {
  if (repetitions < 1 || repetitions > kMaxRepetitions) {
    return base::usage_error("--repetitions", fmt::format("expected a number from 1 to {}", kMaxRepetitions));
  }
  const auto file = find_probe();
  if (!file) return tl::unexpected(file.error());
  probe::ProbeProgram program;
  program.file = *file;
  program.deadline_ms = kDeadlineMs;
  std::vector<evidence::Json> documents;
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    const std::string where = fmt::format("repetition {} of {}", repetition, repetitions);
    const auto text = probe::ask(program, question);
    if (!text) {
      return base::failure(where, fmt::format("{}: {}", text.error().where, text.error().what),
                           text.error().advice);
    }
    auto document = evidence::parse_json(*text, "rollcall-probe");
    if (!document) return base::failure(where, document.error().line());
    documents.push_back(std::move(*document));
  }
  return documents;
}

int measure(const std::vector<std::string>& question, const ProbeOptions& options) {
  const auto documents = repeat(question, options.repetitions);
  if (!documents) return report_error(documents.error());
  return print(options.json ? report::repetitions_json(*documents) : report::repetitions_text(*documents));
}

// This process becomes the holder, so that it is ended as one.
int hold(const ProbeOptions& options) {
  if (options.mode != "primary" && options.mode != "nonprimary") {
    return report_error({base::ErrorKind::kUsage, "hold",
                         fmt::format("unknown value '{}'; expected primary or nonprimary", options.mode),
                         ""});
  }
  const auto file = find_probe();
  if (!file) return report_error(file.error());
  execl(file->c_str(), "rollcall-probe", "hold", options.mode.c_str(), nullptr);
  return report_error({base::ErrorKind::kFailure, file->string(),
                       std::string("cannot execute: ") + std::strerror(errno), ""});
}

evidence::Json json_of(const study::Layout& layout) {
  evidence::Json json;
  json["layout"] = layout.name;
  json["version"] = layout.version;
  for (const auto& [name, number] : layout.numbers) json["numbers"][name] = number;
  return json;
}

int show_layouts(bool json) {
  evidence::Json document;
  std::string text;
  for (const study::Layout& layout : study::known_layouts()) {
    document["layouts"].push_back(json_of(layout));
    for (const auto& [name, number] : layout.numbers) {
      text += fmt::format("{}.{} = {}\n", layout.name, name, number);
    }
  }
  return print(json ? evidence::dump(document, 2) + "\n" : text);
}

int show_file(const ProbeOptions& options) {
  const auto identity = study::identify_region(options.file);
  if (!identity) return report_error(identity.error());
  evidence::Json json;
  json["file"] = evidence::clean_text(options.file);
  json["layout"] = identity->layout.empty() ? evidence::Json(nullptr) : evidence::Json(identity->layout);
  json["version"] = identity->version.empty() ? evidence::Json(nullptr) : evidence::Json(identity->version);
  json["size_bytes"] = identity->size_bytes;
  json["slots_used"] = identity->slots_used ? evidence::Json(*identity->slots_used) : evidence::Json(nullptr);
  json["misfit"] = identity->misfit;
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (value.is_null() || value == "") continue;
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format("{} = {}\n", key, report::printable(shown, evidence::kMaxTextBytes));
  }
  const int status = print(options.json ? evidence::dump(json, 2) + "\n" : text);
  if (status != kDone || identity->misfit.empty()) return status;
  return report_error({base::ErrorKind::kDifference, options.file, identity->misfit, ""});
}

}  // namespace

Action add_probe(CLI::App& app) {
  auto options = std::make_shared<ProbeOptions>();
  CLI::App* probe = app.add_subcommand("probe", "Measure single steps of the driver; show region layouts.");
  probe->require_subcommand(1);
  const auto add_measurement = [&](const char* name, const char* what) {
    CLI::App* command = probe->add_subcommand(name, what);
    command->add_option("--repetitions", options->repetitions, "Each in a process of its own (default 1)")
        ->option_text("N");
    command->add_flag("--json", options->json, "Every answer, means and deviations as JSON");
    return command;
  };
  CLI::App* phases = add_measurement(
      "phases", "The time of each step of a discovery by snapshot difference, without a shim.");
  CLI::App* nested =
      add_measurement("nested-retain", "Whether a second retain of the primary context is free.");
  CLI::App* context =
      add_measurement("context", "Three retain and release cycles, under whatever else runs here now.");
  context->add_option("label", options->label, "What runs here now (default unnamed)")
      ->option_text("[LABEL]");
  CLI::App* holding = probe->add_subcommand("hold", "Hold a context until standard input ends, or a signal.");
  holding->add_option("mode", options->mode, "Which kind of context")
      ->required()
      ->option_text("primary|nonprimary");
  CLI::App* layout =
      probe->add_subcommand("layout", "Print the layouts of the regions, or say which one a file has.");
  layout->add_option("file", options->file, "A region")->option_text("[FILE]");
  layout->add_flag("--json", options->json, "As JSON");
  return [=]() -> int {
    if (phases->parsed()) return measure({"phases"}, *options);
    if (nested->parsed()) return measure({"nested-retain"}, *options);
    if (context->parsed()) return measure({"context", options->label}, *options);
    if (holding->parsed()) return hold(*options);
    return options->file.empty() ? show_layouts(options->json) : show_file(*options);
  };
}

}  // namespace rollcall::cli
