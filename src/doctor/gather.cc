// See facts.h. What cannot be read stays "not known".
#include <fmt/format.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/files.h"
#include "base/process.h"
#include "doctor/facts.h"
#include "probe/observe.h"
#include "study/shim_file.h"

namespace rollcall::doctor {
namespace {

constexpr size_t kMaxProcFileBytes = size_t{8} << 20;
// A GPU that has to wake up takes seconds, and contexts among many others do too.
constexpr int64_t kViewDeadlineMs = 120'000;

std::optional<uint64_t> meminfo_bytes(const std::string& content, const char* key) {
  const size_t at = content.find(key);
  unsigned long long kib = 0;
  if (at == std::string::npos || std::sscanf(content.c_str() + at, "%*s %llu kB", &kib) != 1) return {};
  return kib * 1024;
}

std::optional<bool> proc_is_own() {
  char text[32] = {};
  if (readlink("/proc/self", text, sizeof text - 1) <= 0) return std::nullopt;
  return std::strtol(text, nullptr, 10) == getpid();
}

bool in_virtual_machine() {
  const auto cpus = base::read_file("/proc/cpuinfo", kMaxProcFileBytes);
  return cpus && cpus->find(" hypervisor") != std::string::npos;
}

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

// The library in a process that does nothing: whatever goes wrong is the loading's.
base::Result<void> load_shim(const std::filesystem::path& worker, const std::string& shim) {
  const auto inspected = study::inspect_shim(shim, "");
  if (!inspected) return tl::unexpected(inspected.error());
  const std::string file = inspected->path.string();
  probe::ProbeProgram program;
  program.file = worker;
  program.environment = {{"LD_PRELOAD", file}};
  const auto end = probe::run_to_end(program, {"say-loaded"});
  if (!end) return base::failure(file, "a process with it preloaded: " + end.error().what);
  const std::string& said = end->last_error_line;
  if (WIFSIGNALED(end->status)) {
    return base::failure(file, fmt::format("a process with it preloaded is ended by signal {}{}",
                                           WTERMSIG(end->status), said.empty() ? "" : ": " + said));
  }
  if (WEXITSTATUS(end->status) != 0) {
    return base::failure(file, fmt::format("a process with it preloaded ends with status {}{}",
                                           WEXITSTATUS(end->status), said.empty() ? "" : ": " + said));
  }
  if (end->output.find("loaded") == std::string::npos) {
    return base::failure(file, "ends a process in which it is preloaded before main, with status 0",
                         "its constructor must return");
  }
  // The loader leaves out what it cannot load and goes on; only this line tells.
  if (said.find("ld.so") != std::string::npos) return base::failure(file, said);
  return {};
}

}  // namespace

Facts gather(const Question& question) {
  Facts facts;
  utsname name{};
  if (uname(&name) == 0) facts.kernel_release = name.release;
  if (const uint64_t inode = base::own_pid_namespace_inode(); inode != 0) facts.pid_namespace = inode;
  facts.proc_is_own = proc_is_own();
  facts.virtual_machine = in_virtual_machine();
  facts.simulated_node = !variable("ROLLCALL_SIM_SOCKET").empty();
  facts.mps_pipe_directory = variable("CUDA_MPS_PIPE_DIRECTORY");
  facts.workers = question.workers;
  facts.limits = study::read_process_limits();
  if (const auto meminfo = base::read_file("/proc/meminfo", kMaxProcFileBytes)) {
    facts.memory_total_bytes = meminfo_bytes(*meminfo, "MemTotal:");
    facts.memory_available_bytes = meminfo_bytes(*meminfo, "MemAvailable:");
  }
  probe::ProbeProgram program;
  program.file = question.probe;
  facts.node = probe::observe_node(program);
  program.deadline_ms = kViewDeadlineMs;
  facts.view = probe::observe_view(program);
  facts.shim = question.shim;
  if (!question.shim.empty()) facts.shim_loads = load_shim(question.worker, question.shim);
  return facts;
}

}  // namespace rollcall::doctor
