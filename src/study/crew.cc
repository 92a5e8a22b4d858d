// See crew.h.
#include "study/crew.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/process.h"

namespace rollcall::study {
namespace {

constexpr uint64_t kWatchedBit = 1ULL << 32;  // keys of watched descriptors, apart from worker numbers
constexpr int kBatch = 64;
// A process that survives SIGKILL for so long is held by a tracer or by the kernel.
constexpr int64_t kKillDeadlineNs = 10 * base::kNsPerSecond;

}  // namespace

base::Result<Crew> Crew::create() {
  base::Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return base::system_failure("epoll", "make", errno);
  return Crew(std::move(epoll));
}

Crew::~Crew() {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].gone && members_[i].child.pid > 0) kill(static_cast<int>(i));
  }
  const int64_t deadline_ns = base::monotonic_ns() + kKillDeadlineNs;
  while (epoll_.valid() && !all_gone() && base::monotonic_ns() < deadline_ns) wait(deadline_ns);
  reap();
}

base::Result<void> Crew::start(const SpawnRequest& request) {
  auto child = spawn(request);
  if (!child) return tl::unexpected(child.error());
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = members_.size();
  members_.push_back({std::move(*child), false, 0, std::nullopt, std::nullopt});
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, members_.back().child.pidfd.get(), &event) != 0) {
    return base::system_failure("epoll", "watch a worker", errno);
  }
  return {};
}

base::Result<void> Crew::watch(int fd, int key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWatchedBit | static_cast<uint64_t>(key);
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return base::system_failure("epoll", "watch", errno);
  return {};
}

void Crew::note_exit(Member& member) {
  if (member.gone) return;
  siginfo_t info{};
  // WNOWAIT: it stays a zombie, and its PID taken, until reap().
  const int result =
      waitid(P_PIDFD, static_cast<id_t>(member.child.pidfd.get()), &info, WEXITED | WNOHANG | WNOWAIT);
  if (result == 0 && info.si_pid == 0) return;
  if (result != 0 && errno != ECHILD) return;
  member.gone = true;
  member.gone_at_ns = base::monotonic_ns();
  // Reaped by somebody else: gone, and nobody knows how.
  if (result == 0) (info.si_code == CLD_EXITED ? member.exit_code : member.exit_signal) = info.si_status;
  ++gone_;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, member.child.pidfd.get(), nullptr);
}

std::vector<int> Crew::wait(int64_t deadline_ns) {
  std::array<epoll_event, kBatch> events{};
  const int64_t left_ns = deadline_ns - base::monotonic_ns();
  // Rounded up, so that a wait does not end a fraction of a millisecond early and spin.
  const int64_t left_ms = left_ns <= 0 ? 0 : (left_ns + base::kNsPerMs - 1) / base::kNsPerMs;
  const int timeout_ms = static_cast<int>(left_ms > 1'000'000 ? 1'000'000 : left_ms);
  const int count = epoll_wait(epoll_.get(), events.data(), kBatch, timeout_ms);
  std::vector<int> keys;
  for (int i = 0; i < count; ++i) {
    const uint64_t data = events[static_cast<size_t>(i)].data.u64;
    if ((data & kWatchedBit) != 0) {
      keys.push_back(static_cast<int>(data & ~kWatchedBit));
    } else {
      note_exit(members_[data]);
    }
  }
  return keys;
}

bool Crew::ended(int worker) const {
  const Member& member = members_[static_cast<size_t>(worker)];
  if (member.gone) return true;
  pollfd pidfd{member.child.pidfd.get(), POLLIN, 0};
  return poll(&pidfd, 1, 0) > 0;
}

void Crew::kill(int worker) {
  base::signal_pidfd(members_[static_cast<size_t>(worker)].child.pidfd.get(), SIGKILL);
}

void Crew::reap() {
  for (Member& member : members_) {
    if (member.child.pid <= 0 || !member.gone) continue;
    siginfo_t info{};
    while (waitid(P_PIDFD, static_cast<id_t>(member.child.pidfd.get()), &info, WEXITED) != 0 &&
           errno == EINTR) {
    }
    member.child.pid = -1;
  }
}

}  // namespace rollcall::study
