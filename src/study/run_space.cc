// See run_space.h.
#include "study/run_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/process.h"
#include "evidence/compress.h"
#include "study/limits.h"
#include "study/processes_left.h"

extern char** environ;

namespace rollcall::study {
namespace {

// Beside the run's folder, not in it: what cannot be removed from there must not become
// evidence. Holds the caches, the node lock and the profile while the run lasts.
constexpr const char* kScratchSuffix = ".scratch";
constexpr size_t kMaxRegionBytes = 64 << 20;
// HAMi-core at log level 3 writes gigabytes for 250 workers on one cache.
constexpr off_t kMaxLogBytes = off_t{4} << 30;
constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";

using Variables = std::map<std::string, std::string>;

// Variables of the launcher's own environment that must not reach a worker: they
// are what an arm sets, or would change which device or library it gets.
bool is_withheld(std::string_view name) {
  return name == "LD_PRELOAD" || name.starts_with("ROLLCALL_") || name.starts_with("CUDA_") ||
         name.starts_with("LIBCUDA_") || name == "GPU_CORE_UTILIZATION_POLICY";
}

Variables inherited_environment() {
  Variables variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view text(*at);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || is_withheld(text.substr(0, equals))) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  if (const char* fault = getenv("ROLLCALL_WORKER_FAULT")) variables["ROLLCALL_WORKER_FAULT"] = fault;
  return variables;
}

EnvironmentBlock to_block(const Variables& variables) {
  return EnvironmentBlock({variables.begin(), variables.end()});
}

base::Result<simgpu::Session> start_node(const RunSetup& setup, const std::filesystem::path& scratch) {
  const Plan& plan = *setup.plan;
  simgpu::SessionOptions options;
  options.simgpud = setup.paths->simgpud;
  options.library_dir = setup.paths->sim_dir;
  options.profile_file = scratch / "profile.toml";
  if (const auto written = base::write_new_file(options.profile_file, plan.profile_toml); !written) {
    return tl::unexpected(written.error());
  }
  options.view = plan.view;
  options.time_scale = plan.time_scale;
  options.gpus = plan.gpus;
  // Each run its own jitter, repeatable from the plan's seed.
  options.seed = plan.seed * 1'000'003 + static_cast<uint64_t>(setup.run.number);
  options.max_clients = node_clients(setup.run.topology.workers());
  return simgpu::Session::start(options);
}

// What leads a process to the node, with or without a shim.
Variables node_variables(const RunSetup& setup, const std::optional<simgpu::Session>& session) {
  Variables variables = inherited_environment();
  if (session) {
    const std::string library_path =
        variables.count("LD_LIBRARY_PATH") != 0 ? variables["LD_LIBRARY_PATH"] : "";
    for (const auto& [name, value] : session->environment(library_path)) variables[name] = value;
  } else if (const char* socket = getenv("ROLLCALL_SIM_SOCKET")) {
    // Somebody stood in for this machine's driver. The workers meet the same one, and the
    // driver library in their records says so.
    variables["ROLLCALL_SIM_SOCKET"] = socket;
  }
  if (!setup.plan->devices.empty()) variables[kVisibleDevices] = setup.plan->devices.front();
  return variables;
}

void add_arm(const RunSetup& setup, const std::filesystem::path& scratch, Variables& variables) {
  for (const auto& [name, value] : setup.arm.environment) variables[name] = value;
  if (setup.arm.has_shim()) variables["LD_PRELOAD"] = shim_of(setup.arm, *setup.paths);
  if (!setup.arm.own_shim) return;
  variables["ROLLCALL_SHIM_DISCOVERY"] = setup.arm.discovery;
  variables["ROLLCALL_SHIM_NODE_LOCK"] = scratch / "node.lock";
  variables["ROLLCALL_SHIM_LOCK_TIMEOUT_MS"] =
      fmt::format("{}", static_cast<int64_t>(setup.plan->lock_timeout_s * 1000));
  variables["ROLLCALL_SHIM_LOG"] = "1";
}

base::Result<Broker> start_broker(const RunSetup& setup, const std::filesystem::path& scratch,
                                  const EnvironmentBlock& environment) {
  BrokerOptions options;
  options.program = setup.paths->hostpidd;
  options.scratch = scratch;
  options.view = setup.real != nullptr ? setup.real->view : setup.plan->view;
  options.namespace_is_host = setup.plan->node == evidence::NodeKind::kSimulated &&
                              base::own_pid_namespace_inode() != base::kInitialPidNamespaceInode;
  options.log = setup.working / "logs" / "broker.log";
  return Broker::start(options, environment);
}

// Only our own shim's right discovery asks a broker; an arm that did not ask one must not
// differ by its environment either.
void add_broker(const RunSetup& setup, const Broker& broker, Variables& variables) {
  if (!setup.arm.own_shim || setup.arm.discovery != "tiered") return;
  variables["ROLLCALL_SHIM_BROKER"] = broker.socket();
  variables["ROLLCALL_SHIM_BROKER_UID"] = fmt::format("{}", geteuid());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> without_withheld() {
  std::vector<std::pair<std::string, std::string>> changes;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view name = std::string_view(*at).substr(0, std::string_view(*at).find('='));
    // The stand-in's socket reaches the workers, too.
    if (is_withheld(name) && name != "ROLLCALL_SIM_SOCKET") changes.emplace_back(name, "");
  }
  return changes;
}

std::filesystem::path shim_of(const Arm& arm, const Paths& paths) {
  return arm.own_shim ? paths.shim : std::filesystem::path(arm.preload);
}

base::Result<RunSpace> RunSpace::create(const RunSetup& setup, evidence::RunRecord& record) {
  RunSpace space;
  space.working_ = setup.working;
  const std::filesystem::path scratch = setup.working.string() + kScratchSuffix;
  space.scratch_ = scratch;
  if (const auto made = base::make_new_directory(scratch); !made) return tl::unexpected(made.error());

  for (int cache = 0; cache < setup.run.topology.caches(); ++cache) {
    const std::filesystem::path log = setup.working / "logs" / fmt::format("cache_{}.log", cache);
    base::Fd fd(open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd.valid()) return base::system_failure(log.string(), "create", errno);
    space.logs_.push_back(std::move(fd));
    space.log_files_.push_back(log);
    space.caches_.push_back(scratch / fmt::format("cache_{}.region", cache));
    std::error_code ignored;
    if (std::filesystem::exists(space.caches_.back(), ignored)) {
      record.events.push_back({"stale_cache", fmt::format("cache {} existed before the run", cache)});
    }
  }

  if (setup.plan->node == evidence::NodeKind::kSimulated) {
    auto session = start_node(setup, scratch);
    if (!session) return tl::unexpected(session.error());
    space.session_.emplace(std::move(*session));
  }
  const Variables node = node_variables(setup, space.session_);
  space.plain_environment_.emplace(to_block(node));
  Variables arm = node;
  space.mark_ = fmt::format("{}-{}", getpid(), base::monotonic_ns());
  arm[kRunVariable] = space.mark_;
  add_arm(setup, scratch, arm);
  if (!setup.trial && needs_broker(*setup.plan, setup.arm)) {
    auto broker = start_broker(setup, scratch, *space.plain_environment_);
    if (!broker) return tl::unexpected(broker.error());
    space.broker_.emplace(std::move(*broker));
    add_broker(setup, *space.broker_, arm);
    record.broker = true;
  }
  const std::vector<std::string>& devices = setup.plan->devices;
  const bool same_for_all = setup.arm.cache_variable.empty() && devices.size() <= 1;
  for (size_t cache = 0; cache < (same_for_all ? 1 : space.caches_.size()); ++cache) {
    if (!setup.arm.cache_variable.empty()) arm[setup.arm.cache_variable] = space.caches_[cache];
    if (!devices.empty()) arm[kVisibleDevices] = devices[cache % devices.size()];
    space.environments_.push_back(to_block(arm));
  }
  return space;
}

const EnvironmentBlock& RunSpace::environment(int cache) const {
  return environments_.size() == 1 ? environments_.front() : environments_[static_cast<size_t>(cache)];
}

base::Result<void> RunSpace::close(evidence::RunRecord& record) {
  if (broker_) {
    if (const auto stopped = broker_->stop(); !stopped) {
      record.events.push_back({"broker_died", stopped.error().what});
    }
  }
  if (session_) session_->stop();
  for (size_t cache = 0; cache < caches_.size(); ++cache) {
    check_log(cache, record);
    std::error_code error;
    const auto status = std::filesystem::symlink_status(caches_[cache], error);
    if (status.type() == std::filesystem::file_type::not_found) continue;
    // What a shim made of it is its affair; that it is not in the evidence is ours. A link
    // is not followed: it could lead to anybody's file.
    const auto content = status.type() == std::filesystem::file_type::regular
                             ? base::read_file(caches_[cache], kMaxRegionBytes)
                             : base::failure("", "is no regular file");
    if (!content) {
      record.events.push_back({"region_not_kept", fmt::format("cache {}: {}", cache, content.error().what)});
      continue;
    }
    const auto compressed = evidence::compress(*content);
    if (!compressed) return tl::unexpected(compressed.error());
    const auto written =
        base::write_new_file(working_ / "regions" / fmt::format("cache_{}.region.zst", cache), *compressed);
    if (!written) return written;
  }
  std::error_code error;
  std::filesystem::remove_all(scratch_, error);
  if (error) record.events.push_back({"scratch_not_removed", error.message()});
  return {};
}

// The log must still be the file that the workers were given, and of a size that can be
// kept.
void RunSpace::check_log(size_t cache, evidence::RunRecord& record) {
  struct stat given {};
  struct stat there {};
  const std::filesystem::path& path = log_files_[cache];
  const bool same = fstat(logs_[cache].get(), &given) == 0 && lstat(path.c_str(), &there) == 0 &&
                    given.st_dev == there.st_dev && given.st_ino == there.st_ino;
  if (!same) {
    record.events.push_back(
        {"log_not_kept", fmt::format("the log of cache {} was removed or replaced", cache)});
    std::error_code ignored;  // what stands in its place is not what the workers printed
    std::filesystem::remove_all(path, ignored);
    return;
  }
  if (given.st_size <= kMaxLogBytes) return;
  record.events.push_back(
      {"log_not_kept",
       fmt::format("the log of cache {} is larger than {} bytes, and cut there", cache, kMaxLogBytes)});
  if (ftruncate(logs_[cache].get(), kMaxLogBytes) != 0) std::filesystem::resize_file(path, kMaxLogBytes);
}

}  // namespace rollcall::study
