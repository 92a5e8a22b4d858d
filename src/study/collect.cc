// See collect.h. Reads a handful of small files of /proc; nothing here waits.
#include "study/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "base/files.h"
#include "base/process.h"

namespace rollcall::study {
namespace {

constexpr size_t kMaxMapsBytes = 16 << 20;
constexpr size_t kMaxStatusBytes = 1 << 16;

// The sixth field of a line of maps; empty where nothing is mapped from a file.
std::string_view mapped_path(std::string_view line) {
  for (int field = 1; field < 6; ++field) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return line;
}

bool is_library(std::string_view path, std::string_view library) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with(library) && (name.size() == library.size() || name[library.size()] == '.');
}

void collect_threads(int64_t pid, evidence::WorkerRecord& record) {
  std::error_code error;
  std::vector<int64_t> threads;
  for (auto entry = std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    int64_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc())
      threads.push_back(thread);
  }
  if (error) return;  // half a list would be worse than none
  std::sort(threads.begin(), threads.end());
  record.thread_ids = std::move(threads);
}

void collect_namespaces(pid_t pid, evidence::WorkerRecord& record) {
  if (const uint64_t inode = base::pid_namespace_inode(pid)) record.pid_namespace = inode;
  const auto status = base::read_file(fmt::format("/proc/{}/status", pid), kMaxStatusBytes);
  if (!status) return;
  pid_t pids[base::kMaxPidNamespaces];
  const size_t count = base::parse_nspid(status->data(), status->size(), pids, base::kMaxPidNamespaces);
  record.nspid.assign(pids, pids + count);
}

}  // namespace

MappedLibraries find_libraries(const std::string& maps, const ExpectedLibraries& expected) {
  MappedLibraries found;
  std::string nvml;
  std::string_view rest = maps;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view path = mapped_path(line);
    if (path.empty()) continue;
    if (!expected.shim.empty() && path == expected.shim) found.shim = true;
    if (found.driver.empty() && is_library(path, "libcuda.so")) found.driver = path;
    if (nvml.empty() && is_library(path, "libnvidia-ml.so")) nvml = path;
  }
  // A worker that does nvmlInit alone has no other.
  if (found.driver.empty()) found.driver = nvml;
  return found;
}

void collect_worker(const ExpectedLibraries& expected, evidence::WorkerRecord& record) {
  if (!record.pid) return;
  const auto pid = static_cast<pid_t>(*record.pid);
  if (const uint64_t start = base::process_start_time(pid)) record.start_time = start;
  collect_namespaces(pid, record);
  collect_threads(pid, record);
  const auto maps = base::read_file(fmt::format("/proc/{}/maps", pid), kMaxMapsBytes);
  if (!maps || maps->empty()) return;  // empty: a zombie's; nothing was observed
  const MappedLibraries found = find_libraries(*maps, expected);
  if (!expected.shim.empty()) record.shim_loaded = found.shim;
  record.driver_library = found.driver;
}

}  // namespace rollcall::study
