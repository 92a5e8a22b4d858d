// A number is believed to be somebody's only where exactly one record says so.
// Two records with one PID cannot both be true (nobody is reaped before the run
// is over), and nothing tells which is: neither is believed.
#include "analysis/roster.h"

namespace rollcall::analysis {

using evidence::WorkerRecord;

Roster::Roster(const evidence::Run& run)
    : run_(run), sole_(static_cast<size_t>(run.record.topology.workers())) {
  std::vector<int> seen(sole_.size());
  for (const WorkerRecord& worker : run.workers) {
    if (worker.worker >= 0 && worker.worker < run.record.topology.workers()) {
      const auto index = static_cast<size_t>(worker.worker);
      sole_[index] = ++seen[index] == 1 ? &worker : nullptr;
    }
    if (worker.pid) by_pid_[*worker.pid].push_back(&worker);
    if (!worker.pid && !run.record.imported()) continue;  // never was a process
    const auto inside = namespace_of(worker);
    if (inside && !worker.nspid.empty()) {
      by_namespace_pid_[{*inside, worker.nspid.back()}].push_back(&worker);
    } else {
      ++unknown_inside_;
    }
  }
  if (!run.record.imported()) return;
  for (const WorkerRecord* worker : sole_) {
    if (worker == nullptr) ++unknown_inside_;
    if (worker == nullptr || !worker->pid) ++unknown_outside_;
  }
}

const WorkerRecord* Roster::record(int number) const {
  return sole_[static_cast<size_t>(number)];
}

std::optional<uint64_t> Roster::namespace_of(const WorkerRecord& worker) const {
  if (worker.pid_namespace) return worker.pid_namespace;
  const bool told = run_.record.imported() && run_.record.isolation == evidence::Isolation::kPid;
  if (told && worker.cache >= 0) return static_cast<uint64_t>(worker.cache);
  return std::nullopt;
}

std::optional<Numbering> Roster::nvml_numbering(const WorkerRecord& worker) const {
  const bool with_launcher = worker.nspid.size() == 1 ||
                             (worker.nspid.empty() && run_.record.isolation == evidence::Isolation::kNone);
  if (with_launcher) return Numbering::kLauncher;
  switch (run_.record.view) {
    case evidence::NvmlView::kGlobal:
      return Numbering::kLauncher;
    case evidence::NvmlView::kTranslated:
      return Numbering::kOwn;
    case evidence::NvmlView::kUnknown:
      return std::nullopt;
  }
  return std::nullopt;
}

const Roster::Records& Roster::holders(int64_t number, const WorkerRecord& worker,
                                       Numbering numbering) const {
  static const Records kNobody;
  if (numbering == Numbering::kLauncher) {
    const auto found = by_pid_.find(number);
    return found == by_pid_.end() ? kNobody : found->second;
  }
  const auto inside = namespace_of(worker);
  if (!inside) return kNobody;
  const auto found = by_namespace_pid_.find({*inside, number});
  return found == by_namespace_pid_.end() ? kNobody : found->second;
}

bool Roster::contradicted(const WorkerRecord& worker) const {
  if (!worker.pid && !run_.record.imported()) return true;
  if (worker.pid && holders(*worker.pid, worker, Numbering::kLauncher).size() > 1) return true;
  if (worker.nspid.empty()) return false;
  return (worker.pid && worker.nspid.front() != *worker.pid) ||
         holders(worker.nspid.back(), worker, Numbering::kOwn).size() > 1;
}

std::optional<int64_t> Roster::own_number(const WorkerRecord& worker, Numbering numbering) const {
  if (contradicted(worker)) return std::nullopt;
  if (numbering == Numbering::kLauncher) return worker.pid;
  if (worker.nspid.empty()) return std::nullopt;
  return worker.nspid.back();
}

std::optional<Roster::Owner> Roster::owner(int64_t number, const WorkerRecord& worker,
                                           Numbering numbering) const {
  if (numbering == Numbering::kOwn && !namespace_of(worker)) return std::nullopt;
  const Records& found = holders(number, worker, numbering);
  if (found.empty()) {
    // Nobody known. Inside a namespace it could still be a worker of which we
    // know only the launcher's number.
    if (numbering == Numbering::kOwn && unknown_inside_ > 0) return std::nullopt;
    if (numbering == Numbering::kLauncher && unknown_outside_ > 0) return std::nullopt;
    return Owner{};
  }
  const WorkerRecord* peer = found.front();
  const bool in_topology = peer->worker >= 0 && peer->worker < run_.record.topology.workers();
  if (found.size() > 1 || !in_topology || record(peer->worker) != peer || contradicted(*peer))
    return std::nullopt;
  return Owner{peer};
}

}  // namespace rollcall::analysis
