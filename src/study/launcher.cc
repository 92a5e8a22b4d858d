// The conduct of one run, step by step. The order matters and is the design's:
// start, gate, work, evidence while alive, leave, reap.
#include "study/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/process.h"
#include "study/board.h"
#include "study/collect.h"
#include "study/crew.h"
#include "study/gpu_idle.h"
#include "study/identity_source.h"
#include "study/namespaces.h"
#include "study/neighbours.h"
#include "study/processes_left.h"
#include "study/run_space.h"

namespace rollcall::study {
namespace {

using evidence::Fate;
using evidence::Hold;
using evidence::WorkerRecord;

enum WatchKey { kProgressKey, kNodeKey, kInterruptKey };
enum class Stop { kNone, kInterrupted, kNodeDied, kRunDeadline };

// How often a silent run looks around without being woken.
constexpr int64_t kLookAroundNs = 200 * base::kNsPerMs;
// A process that survives SIGKILL for so long is held by a tracer or by the kernel.
constexpr int64_t kKillDeadlineNs = 10 * base::kNsPerSecond;

std::string utc_now() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

int64_t seconds_to_ns(double seconds) {
  return static_cast<int64_t>(seconds * static_cast<double>(base::kNsPerSecond));
}

evidence::RunRecord describe(const RunSetup& setup) {
  const Plan& plan = *setup.plan;
  evidence::RunRecord record{.number = setup.run.number, .topology = setup.run.topology};
  record.arm = setup.arm.name;
  record.repetition = setup.run.repetition;
  record.has_shim = setup.arm.has_shim();
  record.identity_kind = setup.arm.identity_kind;
  record.exercise = setup.arm.exercise;
  record.node = plan.node;
  record.profile = plan.profile_name;
  if (plan.node == evidence::NodeKind::kSimulated) record.time_scale = plan.time_scale;
  record.view = plan.view;
  record.devices = plan.devices;
  record.neighbours = plan.neighbours;
  if (setup.real != nullptr) {
    record.view = setup.real->view;
    record.device_name = setup.real->device_name;
    record.driver_version = setup.real->driver_version;
    // With numbers of another namespace in NVML's list, nobody could be told from anybody.
    const bool judged_by_nvml = setup.arm.identity_kind == evidence::IdentityKind::kNvml ||
                                setup.arm.identity_kind == evidence::IdentityKind::kBoth;
    if (judged_by_nvml && !setup.real->lists_launcher_numbers && !setup.trial) {
      record.events.push_back(
          {"numbering_not_known", "how NVML numbers processes here could not be measured"});
    }
    if (setup.real->lists_launcher_numbers == false) {
      record.events.push_back({"launcher_not_in_host_namespace",
                               "NVML does not number processes as the launcher's PID namespace does"});
    }
  }
  if (!setup.trial) record.isolation = plan.isolation;
  record.workload = plan.workload;
  record.hold = plan.hold;
  record.plan_sha256 = setup.plan_sha256;
  record.started_at = utc_now();
  return record;
}

class RunExecution {
 public:
  RunExecution(const RunSetup& setup, evidence::RunRecord record, RunSpace space, Board board, Crew crew,
               std::unique_ptr<IdentitySource> source)
      : setup_(setup),
        record_(std::move(record)),
        space_(std::move(space)),
        board_(std::move(board)),
        crew_(std::move(crew)),
        source_(std::move(source)),
        workers_(static_cast<size_t>(setup.run.topology.workers())),
        collected_(workers_.size(), false),
        killed_(workers_.size(), Fate::kFinished) {
    if (setup.arm.has_shim()) expected_.shim = shim_of(setup.arm, *setup.paths);
  }

  base::Result<evidence::Run> execute() {
    if (auto started = start(); !started) return tl::unexpected(started.error());
    wait_at_gate();
    if (stop_ == Stop::kNone) work();
    leave();
    if (stop_ == Stop::kInterrupted) {
      crew_.reap();
      stop_neighbours();
      end_processes_left();
      return base::failure("", kInterrupted);
    }
    if (!crew_.all_gone()) {
      return base::failure("worker", "a process of this run cannot be ended, not even by SIGKILL",
                           "end whatever traces it, then go on with --resume");
    }
    record_facts();
    crew_.reap();
    stop_neighbours();
    end_processes_left();
    if (setup_.stamps != nullptr && !setup_.stamps->changed().empty()) {
      record_.events.push_back({"program_changed", setup_.stamps->changed().filename().string()});
    }
    if (auto closed = space_.close(record_); !closed) return tl::unexpected(closed.error());
    if (setup_.real != nullptr) settle(setup_.paths->probe, record_.processes_before);
    return evidence::Run{std::move(record_), std::move(workers_)};
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(workers_.size()); }
  [[nodiscard]] bool discovers() const { return setup_.arm.identity != IdentitySourceKind::kNone; }
  [[nodiscard]] bool gone(int i) const { return crew_.members()[static_cast<size_t>(i)].gone; }

  base::Result<void> start() {
    // Asked before our own neighbours come, which never count as somebody else.
    if (setup_.real != nullptr && !setup_.trial) check_idle(setup_.paths->probe, *setup_.real, record_);
    if (setup_.plan->neighbours > 0 && !setup_.trial) {
      auto neighbours =
          Neighbours::start(setup_.paths->probe, setup_.plan->neighbours, space_.plain_environment(),
                            setup_.working / "logs" / "neighbours.log",
                            static_cast<int64_t>(setup_.plan->worker_timeout_s * 1000), setup_.interrupt_fd);
      if (!neighbours) return tl::unexpected(neighbours.error());
      if (!neighbours->has_value()) return base::failure("", kInterrupted);
      neighbours_.emplace(std::move(**neighbours));
    }
    progress_fd_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!progress_fd_.valid()) return base::system_failure("eventfd", "make", errno);
    int lifeline[2] = {-1, -1};
    if (pipe2(lifeline, O_CLOEXEC) != 0) return base::system_failure("pipe", "make", errno);
    const base::Fd lifeline_end(lifeline[0]);
    lifeline_.reset(lifeline[1]);
    auto watched = crew_.watch(progress_fd_.get(), kProgressKey);
    if (watched && space_.node_pidfd() >= 0) watched = crew_.watch(space_.node_pidfd(), kNodeKey);
    if (watched && setup_.interrupt_fd >= 0) watched = crew_.watch(setup_.interrupt_fd, kInterruptKey);
    if (!watched) return watched;

    if (setup_.plan->isolation == evidence::Isolation::kPid && !setup_.trial) {
      auto namespaces =
          Namespaces::start(*setup_.paths, setup_.run.topology.caches(), space_.broker_folder());
      if (!namespaces) return tl::unexpected(namespaces.error());
      namespaces_.emplace(std::move(*namespaces));
    }
    first_fork_ns_ = base::monotonic_ns();
    for (int i = 0; i < count(); ++i) {
      std::string number = std::to_string(i);
      std::string name = "rollcall-worker";
      const std::array<char*, 3> arguments = {name.data(), number.data(), nullptr};
      const int cache = setup_.run.topology.cache_of(i);
      SpawnRequest request{setup_.paths->worker.c_str(),
                           arguments.data(),
                           space_.environment(cache).get(),
                           space_.log_fd(cache),
                           {board_.fd(), lifeline_end.get(), progress_fd_.get()}};
      if (namespaces_) request.enters = &namespaces_->door(cache);
      if (auto started = crew_.start(request); !started) return started;
      report("starting", i + 1);
    }
    return {};
  }

  // Waits for one thing to happen and notes what it was.
  void wait(int64_t deadline_ns) {
    const int64_t until = std::min(deadline_ns, base::monotonic_ns() + kLookAroundNs);
    for (const int key : crew_.wait(until)) {
      if (key == kProgressKey) {
        uint64_t ignored = 0;
        while (read(progress_fd_.get(), &ignored, sizeof ignored) < 0 && errno == EINTR) {
        }
      }
      if (key == kNodeKey && stop_ == Stop::kNone) stop_ = Stop::kNodeDied;
      if (key == kInterruptKey) stop_ = Stop::kInterrupted;
    }
    if (stop_ == Stop::kNone && base::monotonic_ns() >= run_deadline_ns()) stop_ = Stop::kRunDeadline;
  }

  [[nodiscard]] int64_t run_deadline_ns() const {
    return first_fork_ns_ + seconds_to_ns(setup_.plan->run_timeout_s);
  }
  [[nodiscard]] int64_t worker_timeout_ns() const { return seconds_to_ns(setup_.plan->worker_timeout_s); }

  // Until all have come, or died, or the deadline has passed.
  void wait_at_gate() {
    const int64_t deadline_ns = first_fork_ns_ + worker_timeout_ns();
    while (stop_ == Stop::kNone && base::monotonic_ns() < deadline_ns) {
      int there = 0;
      for (int i = 0; i < count(); ++i) there += gone(i) || board_.stage(i) >= worker::kStageReady;
      report("at the gate", there);
      if (there == count()) return;
      wait(deadline_ns);
    }
  }

  void work() {
    gate_opened_ns_ = base::monotonic_ns();
    board_.open_gate();
    const int64_t deadline_ns = gate_opened_ns_ + worker_timeout_ns();
    while (stop_ == Stop::kNone) {
      int settled = 0;
      for (int i = 0; i < count(); ++i) {
        const auto index = static_cast<size_t>(i);
        if (!collected_[index] && !gone(i) && board_.stage(i) >= worker::kStageFinished) collect(i);
        settled += collected_[index] || gone(i);
      }
      report("running", settled);
      if (settled == count()) break;
      if (base::monotonic_ns() >= deadline_ns) {
        kill_where(Fate::kDeadline, [this](int i) { return !collected_[static_cast<size_t>(i)]; });
        break;
      }
      wait(deadline_ns);
    }
    collected_all_ns_ = base::monotonic_ns();
  }

  // Reads one worker's evidence while it is alive, and lets it go if it may.
  void collect(int i) {
    const auto index = static_cast<size_t>(i);
    WorkerRecord record;
    record.pid = crew_.members()[index].child.pid;
    record.cache = setup_.run.topology.cache_of(i);
    collect_worker(expected_, record);
    if (discovers()) record.discovery = source_->read(record);
    // Asked after everything was read: only what a living, waiting process shows is
    // evidence.
    const char state = base::process_state(crew_.members()[index].child.pid);
    const bool stopped = state == 'T' || state == 't';
    if (stopped || crew_.ended(i)) {
      const std::string source = record.discovery.source;
      record = WorkerRecord{};
      record.discovery.source = source;
      record.discovery.reason = stopped ? "stopped_before_evidence" : "died_before_evidence";
    }
    workers_[index] = std::move(record);
    collected_[index] = true;
    if (setup_.plan->hold == Hold::kNone) board_.dismiss(i);
  }

  template <typename Predicate>
  void kill_where(Fate fate, Predicate predicate) {
    for (int i = 0; i < count(); ++i) {
      if (gone(i) || crew_.ended(i) || !predicate(i)) continue;
      killed_[static_cast<size_t>(i)] = fate;
      crew_.kill(i);
    }
  }

  void leave() {
    if (stop_ == Stop::kNone) {
      for (int i = 0; i < count(); ++i) board_.dismiss(i);
      const int64_t deadline_ns = base::monotonic_ns() + worker_timeout_ns();
      while (stop_ == Stop::kNone && !crew_.all_gone() && base::monotonic_ns() < deadline_ns) {
        wait(deadline_ns);
        report("leaving", gone_count());
      }
    }
    const bool late = stop_ == Stop::kNone || stop_ == Stop::kRunDeadline;
    kill_where(late ? Fate::kDeadline : Fate::kAborted, [](int) { return true; });
    const int64_t killed_ns = base::monotonic_ns();
    while (!crew_.all_gone() && base::monotonic_ns() < killed_ns + kKillDeadlineNs) {
      crew_.wait(base::monotonic_ns() + kLookAroundNs);
    }
  }

  [[nodiscard]] int gone_count() const {
    int n = 0;
    for (int i = 0; i < count(); ++i) n += gone(i);
    return n;
  }

  [[nodiscard]] Fate fate_of(int i) const {
    const auto index = static_cast<size_t>(i);
    const Member& member = crew_.members()[index];
    if (killed_[index] != Fate::kFinished) return killed_[index];
    const bool left_as_told = collected_[index] && member.exit_code == 0;
    return left_as_told && board_.stage(i) >= worker::kStageFinished ? Fate::kFinished : Fate::kDied;
  }

  // Everything that is known once everybody is gone.
  void record_facts() {
    int64_t last_gone_ns = first_fork_ns_;
    int64_t last_finished_ns = worker::kUnset;
    for (int i = 0; i < count(); ++i) {
      const auto index = static_cast<size_t>(i);
      const Member& member = crew_.members()[index];
      WorkerRecord& record = workers_[index];
      record.worker = i;
      record.cache = setup_.run.topology.cache_of(i);
      record.pid = member.child.pid;
      record.exit_code = member.exit_code;
      record.exit_signal = member.exit_signal;
      record.fate = fate_of(i);
      board_.read(i, gate_opened_ns_, record);
      if (discovers() && record.discovery.source.empty()) {
        record.discovery.reason = "worker_ended_before_evidence";
      }
      last_gone_ns = std::max(last_gone_ns, member.gone_at_ns);
      last_finished_ns = std::max(last_finished_ns, board_.finished_at_ns(i));
    }
    record_.last_gone_ns = last_gone_ns - first_fork_ns_;
    if (gate_opened_ns_ != 0) record_.gate_opened_ns = gate_opened_ns_ - first_fork_ns_;
    if (last_finished_ns != worker::kUnset && collected_all_ns_ != 0) {
      record_.collect_ns = std::max<int64_t>(0, collected_all_ns_ - last_finished_ns);
    }
    if (stop_ == Stop::kNodeDied) {
      record_.events.push_back({"node_died", "simgpud ended while workers were running"});
    }
    if (stop_ == Stop::kRunDeadline) {
      record_.events.push_back(
          {"deadline", fmt::format("the run took longer than {} s", setup_.plan->run_timeout_s)});
    }
  }

  // What a shim left behind would disturb the next run, and may still hold this one's log.
  void end_processes_left() {
    int ended = end_orphans(space_.mark(), space_.node_pid());
    if (namespaces_) {
      const NamespacesEnded namespaces = namespaces_->stop();
      for (const std::string& what : namespaces.died) record_.events.push_back({"namespace_died", what});
      ended += namespaces.processes_left;
    }
    if (ended == 0) return;
    record_.events.push_back(
        {"processes_left", fmt::format("{} processes outlived their workers and were ended", ended)});
  }

  void stop_neighbours() {
    if (!neighbours_) return;
    if (const auto stopped = neighbours_->stop(); !stopped) {
      record_.events.push_back({"neighbours_failed", stopped.error().what});
    }
  }

  void report(const char* phase, int reached) {
    if (setup_.progress) setup_.progress({phase, count(), reached});
  }

  const RunSetup& setup_;
  evidence::RunRecord record_;
  RunSpace space_;
  Board board_;
  base::Fd progress_fd_;
  base::Fd lifeline_;
  std::optional<Neighbours> neighbours_;
  std::optional<Namespaces> namespaces_;
  Crew crew_;  // after what its workers use: it ends them first
  ExpectedLibraries expected_;
  std::unique_ptr<IdentitySource> source_;
  std::vector<WorkerRecord> workers_;
  std::vector<bool> collected_;
  std::vector<Fate> killed_;  // kFinished: not by us
  Stop stop_ = Stop::kNone;
  int64_t first_fork_ns_ = 0;
  int64_t gate_opened_ns_ = 0;
  int64_t collected_all_ns_ = 0;
};

}  // namespace

base::Result<evidence::Run> execute_run(const RunSetup& setup) {
  evidence::RunRecord record = describe(setup);
  auto space = RunSpace::create(setup, record);
  if (!space) return tl::unexpected(space.error());
  auto board = Board::create(setup.run.topology.workers(), setup.arm.exercise, setup.plan->workload);
  if (!board) return tl::unexpected(board.error());
  auto crew = Crew::create();
  if (!crew) return tl::unexpected(crew.error());
  auto source = make_identity_source(setup.arm, {space->caches(), space->log_files()});
  if (!source) return tl::unexpected(source.error());
  return RunExecution(setup, std::move(record), std::move(*space), std::move(*board), std::move(*crew),
                      std::move(*source))
      .execute();
}

}  // namespace rollcall::study
