// See processes_left.h. A child that is not reaped keeps its PID, so what is found among our
// children is what is ended.
#include "study/processes_left.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

std::vector<pid_t> children_but(pid_t spared) {
  std::vector<pid_t> children;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t pid = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failed != std::errc() || end != name.data() + name.size() || pid == spared) continue;
    if (parent_of(entry->path()) == getpid()) children.push_back(pid);
  }
  return children;
}

}  // namespace

void keep_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int end_orphans(pid_t spared) {
  int ended = 0;
  const int64_t deadline_ns = base::monotonic_ns() + kPatienceNs;
  for (;;) {
    const std::vector<pid_t> children = children_but(spared);
    if (children.empty() || base::monotonic_ns() >= deadline_ns) return ended;
    for (const pid_t child : children) {
      siginfo_t info{};
      // Already ended of itself, and only waiting for its new parent: it was left, too.
      kill(child, SIGKILL);
      if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG) == 0 && info.si_pid == child)
        ++ended;
    }
    const timespec pause{0, kPauseNs};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace rollcall::study
