// The plan of an experiment: everything that decides what is run, resolved and
// frozen before the first worker starts. It comes from the defaults, then a plan
// file (TOML), then the command line; the frozen form is plan.json in the
// evidence, whose SHA-256 stands in every run's record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"
#include "evidence/topology.h"
#include "probe/facts.h"
#include "study/arms.h"

namespace rollcall::study {

enum class Order { kInterleaved, kBlocked };
std::string_view to_text(Order order);

// An [arm.NAME] of a plan file, as it was written.
struct ArmRequest {
  std::string name;
  std::optional<std::string> preload;  // relative to the plan file
  std::vector<std::pair<std::string, std::string>> environment;
  std::optional<std::string> cache_env;
  std::optional<std::string> identity;
  std::optional<std::string> identity_kind;
  std::optional<std::string> log_assigned;
  std::optional<std::string> log_failed;
  std::filesystem::path folder;  // of the plan file

  std::map<std::string, std::string> places;  // by key; "" is the table itself
  [[nodiscard]] std::string place(const std::string& key) const;
};

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
  std::optional<std::string> isolate;
  std::optional<bool> broker;
  std::optional<std::string> view;
  std::optional<std::string> order;
  std::optional<int64_t> seed;
  std::optional<int64_t> gpus;
  std::optional<int64_t> neighbours;
  std::optional<std::string> devices;
  std::optional<std::vector<std::string>> shims;  // NAME=PATH
  std::vector<ArmRequest> defined_arms;
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

// Reads the [study] table and the [arm.NAME] tables of a plan file. Errors carry file, line and, for an
// unknown key, the nearest valid one.
base::Result<PlanRequest> parse_plan_file(const std::string& toml, const std::string& where);

struct Plan {
  std::vector<evidence::Topology> topologies;
  std::vector<std::string> arms;
  std::vector<Arm> shims;  // the arms among them that are not built in
  int runs = 0;
  evidence::NodeKind node = evidence::NodeKind::kSimulated;
  std::string profile_name;
  std::string profile_toml;  // the profile itself, so that a resumed run uses the same
  double time_scale = 1;
  evidence::Workload workload = evidence::Workload::kInit;
  evidence::Hold hold = evidence::Hold::kNone;
  // kPid: each cache's workers in a PID, mount and IPC namespace of their own.
  evidence::Isolation isolation = evidence::Isolation::kNone;
  bool broker = false;  // a broker of the experiment's own, for our own shim
  evidence::NvmlView view = evidence::NvmlView::kGlobal;
  Order order = Order::kInterleaved;
  uint64_t seed = 0;
  int gpus = 0;  // 0: as the profile says
  int neighbours = 0;
  // CUDA_VISIBLE_DEVICES of the workers, dealt to the caches in turn; empty: not set.
  std::vector<std::string> devices;
  double worker_timeout_s = 0;
  double run_timeout_s = 0;
  double lock_timeout_s = 0;  // after which a legacy shim gives up its lock

  friend bool operator==(const Plan&, const Plan&) = default;
};

// How to learn what this machine's driver is; asked at most once, and only where the
// plan depends on it. `all_devices`: whatever CUDA_VISIBLE_DEVICES says.
using ObserveNode = std::function<base::Result<probe::NodeFacts>(bool all_devices)>;

// Whether the driver is the simulated node's stand-in, as under `rollcall sim exec`.
bool is_stand_in(const probe::NodeFacts& facts);

// Defaults (docs/study.md) for what was not said, and every value checked.
// Profiles are looked up in profile_dir. Without `observe` the node is simulated. An
// arm's identity may still be kAuto: the trial before the first run resolves it.
base::Result<Plan> resolve_plan(const PlanRequest& request, const std::filesystem::path& profile_dir,
                                const ObserveNode& observe = {});

// The arms that `request` defines, with --shim: names, files and patterns checked.
base::Result<std::vector<Arm>> resolve_shims(const PlanRequest& request);

// The node, its profile or the machine's own driver, and the devices.
base::Result<void> resolve_node(const PlanRequest& request, const std::filesystem::path& profile_dir,
                                const ObserveNode& observe, Plan& plan);

// plan.json, and back; parse(print(p)) == p.
std::string print_plan(const Plan& plan);
base::Result<Plan> parse_plan(const std::string& json, const std::string& where);

}  // namespace rollcall::study
