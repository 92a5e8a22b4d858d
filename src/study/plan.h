// The plan of an experiment: everything that decides what is run, resolved and
// frozen before the first worker starts. It comes from the defaults, then a plan
// file (TOML), then the command line; the frozen form is plan.json in the
// evidence, whose SHA-256 stands in every run's record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"
#include "evidence/topology.h"

namespace rollcall::study {

enum class Order { kInterleaved, kBlocked };
std::string_view to_text(Order order);

// What the user asked for: unset where nothing was said. The values are text
// where a word must still be checked against what exists.
struct PlanRequest {
  std::optional<std::vector<std::string>> topologies;
  std::optional<std::vector<std::string>> arms;
  std::optional<int64_t> runs;
  std::optional<std::string> node;
  std::optional<std::string> profile;
  std::optional<double> time_scale;
  std::optional<std::string> workload;
  std::optional<std::string> hold;
  std::optional<std::string> view;
  std::optional<std::string> order;
  std::optional<int64_t> seed;
  std::optional<int64_t> gpus;
  std::optional<double> worker_timeout_s;
  std::optional<double> run_timeout_s;

  // Where in a plan file an option's value stands ("plan.toml:3:8"), by the option's
  // name, with "#<i>" for an element of a list. Not there: it came from the command line.
  std::map<std::string, std::string> places;
  // What an error about this option (or its i-th value) should point to.
  [[nodiscard]] std::string place(const std::string& option) const;
  [[nodiscard]] std::string place(const std::string& option, size_t index) const;

  // What `stronger` says replaces what this says.
  void override_with(const PlanRequest& stronger);
};

// Reads the [study] table of a plan file. Errors carry file, line and, for an
// unknown key, the nearest valid one.
base::Result<PlanRequest> parse_plan_file(const std::string& toml, const std::string& where);

struct Plan {
  std::vector<evidence::Topology> topologies;
  std::vector<std::string> arms;
  int runs = 0;
  evidence::NodeKind node = evidence::NodeKind::kSimulated;
  std::string profile_name;
  std::string profile_toml;  // the profile itself, so that a resumed run uses the same
  double time_scale = 1;
  evidence::Workload workload = evidence::Workload::kInit;
  evidence::Hold hold = evidence::Hold::kNone;
  evidence::NvmlView view = evidence::NvmlView::kGlobal;
  Order order = Order::kInterleaved;
  uint64_t seed = 0;
  int gpus = 0;  // 0: as the profile says
  double worker_timeout_s = 0;
  double run_timeout_s = 0;
  double lock_timeout_s = 0;  // after which a legacy shim gives up its lock

  friend bool operator==(const Plan&, const Plan&) = default;
};

// Defaults (docs/study.md) for what was not said, and every value checked.
// Profiles are looked up in profile_dir.
base::Result<Plan> resolve_plan(const PlanRequest& request, const std::filesystem::path& profile_dir);

// plan.json, and back; parse(print(p)) == p.
std::string print_plan(const Plan& plan);
base::Result<Plan> parse_plan(const std::string& json, const std::string& where);

}  // namespace rollcall::study
