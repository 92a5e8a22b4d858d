// Which node: this machine's own, or a simulated one. `auto` takes the machine's own
// where a driver and a device answer. What belongs to a simulated node only is
// refused on a real one: an option that does nothing would look as if it had.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "analysis/validity.h"
#include "base/files.h"
#include "simgpu/profile.h"
#include "simgpu/protocol.h"
#include "simgpu/uuid.h"
#include "study/plan.h"
#include "study/plan_values.h"

namespace rollcall::study {
namespace {

constexpr const char* kDefaultProfile = "study";
// The default study takes about eleven minutes at scale 1, and about one at this.
constexpr double kDefaultTimeScale = 0.08;
constexpr double kMaxTimeScale = 100;
constexpr size_t kMaxProfileBytes = 1 << 20;
// As many as one driver lists to a process.
constexpr int64_t kMaxNeighbours = 64;
// As many as a run has caches.
constexpr size_t kMaxDeviceLists = 4096;

// The first option that only a simulated node has; empty if none was given.
std::string simulated_option(const PlanRequest& request) {
  if (request.profile) return "--profile";
  if (request.time_scale) return "--time-scale";
  if (request.view) return "--view";
  if (request.gpus) return "--gpus";
  return {};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// One entry of a CUDA_VISIBLE_DEVICES: an index, or a UUID or its beginning. The driver
// ignores what it does not know, and everything behind it; so it is checked here. Returns
// the UUID, under which a device is the same however it was named.
base::Result<std::string> find_device(const std::string& entry, const std::vector<std::string>& uuids,
                                      const std::string& where) {
  const bool is_index =
      !entry.empty() && entry.size() <= 4 && (entry.size() == 1 || entry.front() != '0') &&
      std::all_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (is_index) {
    const auto index = static_cast<size_t>(std::stoi(entry));
    if (index < uuids.size()) return uuids[index];
    return base::usage_error(
        where, fmt::format("there is no device {}: this node has {}", entry, uuids.size()),
        uuids.empty() ? "" : fmt::format("devices are counted from 0 to {}", uuids.size() - 1));
  }
  if (entry.starts_with("MIG-")) return lower(entry);  // its parts are listed by NVML alone
  std::vector<std::string> matches;
  for (const std::string& uuid : uuids) {
    if (entry.size() > 4 && lower(uuid).starts_with(lower(entry))) matches.push_back(uuid);
  }
  if (matches.size() == 1) return matches.front();
  return base::usage_error(
      where,
      fmt::format("'{}' is {}", entry,
                  matches.empty() ? "no device of this node" : "the beginning of several UUIDs"),
      fmt::format("expected an index from 0 or a UUID, as {}", uuids.empty() ? "GPU-…" : uuids.front()));
}

base::Result<std::vector<std::string>> resolve_devices(const std::string& text,
                                                       const std::vector<std::string>& uuids,
                                                       const std::string& where) {
  std::vector<std::string> groups = split(text, '/');
  if (groups.size() > kMaxDeviceLists) {
    return base::usage_error(where, fmt::format("more than {} lists", kMaxDeviceLists));
  }
  for (const std::string& group : groups) {
    std::vector<std::string> seen;
    for (const std::string& entry : split(group, ',')) {
      const auto device = find_device(entry, uuids, where);
      if (!device) return tl::unexpected(device.error());
      if (std::find(seen.begin(), seen.end(), *device) != seen.end()) {
        return base::usage_error(where, fmt::format("the device '{}' is named twice for one cache", entry));
      }
      seen.push_back(*device);
    }
  }
  return groups;
}

base::Result<void> resolve_real(const PlanRequest& request, const probe::NodeFacts& facts, Plan& plan) {
  plan.node = evidence::NodeKind::kReal;
  plan.view = evidence::NvmlView::kUnknown;  // measured when the experiment starts
  plan.time_scale = 1;
  if (request.devices) {
    const auto devices = resolve_devices(*request.devices, facts.cuda_uuids, request.place("--devices"));
    if (!devices) return tl::unexpected(devices.error());
    plan.devices = *devices;
  } else if (const char* inherited = std::getenv("CUDA_VISIBLE_DEVICES"); inherited != nullptr) {
    plan.devices = {inherited};  // the facts were observed with it: there is a device
  }
  return {};
}

base::Result<void> resolve_simulated(const PlanRequest& request, const std::filesystem::path& profile_dir,
                                     Plan& plan) {
  plan.node = evidence::NodeKind::kSimulated;
  auto file = simgpu::find_profile(request.profile.value_or(kDefaultProfile), profile_dir);
  if (!file) return at(request.place("--profile"), std::move(file.error()));
  const auto text = base::read_file(*file, kMaxProfileBytes);
  if (!text) return tl::unexpected(text.error());
  const auto profile = simgpu::parse_profile(*text, file->string());
  if (!profile) return tl::unexpected(profile.error());
  plan.profile_name = profile->name;
  plan.profile_toml = *text;
  const auto scale =
      positive(request.time_scale, request.place("--time-scale"), kDefaultTimeScale, kMaxTimeScale);
  if (!scale) return tl::unexpected(scale.error());
  plan.time_scale = *scale;
  const auto gpus =
      whole_number(request.gpus, request.place("--gpus"), 0, request.gpus ? 1 : 0, simgpu::kMaxGpus);
  if (!gpus) return tl::unexpected(gpus.error());
  plan.gpus = static_cast<int>(*gpus);
  const auto view = pick(request.view, request.place("--view"), evidence::NvmlView::kGlobal,
                         {evidence::NvmlView::kGlobal, evidence::NvmlView::kTranslated});
  if (!view) return tl::unexpected(view.error());
  plan.view = *view;
  if (!request.devices) return {};
  std::vector<std::string> uuids;
  for (int gpu = 0; gpu < (plan.gpus > 0 ? plan.gpus : profile->gpus); ++gpu) {
    char uuid[simgpu::kUuidTextSize];
    simgpu::format_uuid(simgpu::gpu_uuid(static_cast<unsigned>(gpu)), uuid);
    uuids.emplace_back(uuid);
  }
  const auto devices = resolve_devices(*request.devices, uuids, request.place("--devices"));
  if (!devices) return tl::unexpected(devices.error());
  plan.devices = *devices;
  return {};
}

}  // namespace

bool is_stand_in(const probe::NodeFacts& facts) {
  return analysis::is_stand_in(facts.driver_library);
}

base::Result<void> resolve_node(const PlanRequest& request, const std::filesystem::path& profile_dir,
                                const ObserveNode& observe, Plan& plan) {
  const std::string node = request.node.value_or("auto");
  const std::vector<std::string> names = {"auto", "sim", "real"};
  if (std::find(names.begin(), names.end(), node) == names.end()) {
    return base::usage_error(request.place("--node"),
                             fmt::format("unknown value '{}'; expected auto, sim or real", node),
                             base::did_you_mean(node, names));
  }
  const auto neighbours =
      whole_number(request.neighbours, request.place("--neighbours"), 0, 0, kMaxNeighbours);
  if (!neighbours) return tl::unexpected(neighbours.error());
  plan.neighbours = static_cast<int>(*neighbours);

  const std::string simulated = simulated_option(request);
  if (node == "real" && !simulated.empty()) {
    return base::usage_error(request.place(simulated), "only a simulated node has this",
                             "leave it out, or use --node sim");
  }
  const bool ask = node == "real" || (node == "auto" && simulated.empty() && observe);
  if (!ask) return resolve_simulated(request, profile_dir, plan);
  if (!observe)
    return base::failure(request.place("--node"), "this machine's driver cannot be looked at here");
  const auto facts = observe(request.devices.has_value());
  // A stand-in is no machine's own driver, whatever it answers.
  if (node == "auto" && (!facts || !facts->usable() || is_stand_in(*facts)))
    return resolve_simulated(request, profile_dir, plan);
  if (!facts) return tl::unexpected(facts.error());
  if (!facts->usable()) {
    return base::failure("--node real", facts->cuda_error,
                         "rollcall doctor tells more; --node sim needs no GPU");
  }
  return resolve_real(request, *facts, plan);
}

}  // namespace rollcall::study
