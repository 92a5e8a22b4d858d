// See processes_left.h. A child that is not reaped keeps its PID, so what is found among our
// children is what is ended.
#include "study/processes_left.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"

namespace rollcall::study {
namespace {

constexpr int64_t kPatienceNs = 2 * base::kNsPerSecond;
constexpr long kPauseNs = 5'000'000;
constexpr size_t kMaxStatBytes = 4096;
constexpr size_t kMaxEnvironmentBytes = size_t{4} << 20;

// The parent of a process, from the fourth field of its stat; 0 if it is gone.
pid_t parent_of(const std::filesystem::path& process) {
  const auto stat = base::read_file(process / "stat", kMaxStatBytes);
  if (!stat) return 0;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat->size()) return 0;
  pid_t parent = 0;
  std::from_chars(stat->data() + name_end + 4, stat->data() + stat->size(), parent);
  return parent;
}

// Whether it was started with this variable. What cannot be read is not known to be ours.
bool is_marked(const std::filesystem::path& process, const std::string& mark) {
  const auto environment = base::read_file(process / "environ", kMaxEnvironmentBytes);
  if (!environment) return false;
  const std::string wanted = std::string(kRunVariable) + "=" + mark + '\0';
  return environment->starts_with(wanted) || environment->find('\0' + wanted) != std::string::npos;
}

std::vector<pid_t> marked_children(const std::string& mark, pid_t spared) {
  std::vector<pid_t> children;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t pid = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failed != std::errc() || end != name.data() + name.size() || pid == spared) continue;
    if (parent_of(entry->path()) == getpid() && is_marked(entry->path(), mark)) children.push_back(pid);
  }
  return children;
}

}  // namespace

void keep_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int end_orphans(const std::string& run_mark, pid_t spared) {
  std::vector<pid_t> killed;  // and not reaped yet, so that their PIDs stay theirs
  int ended = 0;
  const int64_t deadline_ns = base::monotonic_ns() + kPatienceNs;
  for (;;) {
    for (const pid_t child : marked_children(run_mark, spared)) {
      if (std::find(killed.begin(), killed.end(), child) != killed.end()) continue;
      kill(child, SIGKILL);
      killed.push_back(child);
      ++ended;
    }
    std::erase_if(killed, [](pid_t child) {
      siginfo_t info{};
      return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG) == 0 && info.si_pid == child;
    });
    // What they had started is ours only once they are gone.
    if (killed.empty() && marked_children(run_mark, spared).empty()) return ended;
    if (base::monotonic_ns() >= deadline_ns) return ended;
    const timespec pause{0, kPauseNs};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace rollcall::study
