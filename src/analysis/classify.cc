// A claim is judged in the numbering that it is made in; "somebody else's" and
// "nobody's" are said only where the truth is complete enough to know. What
// cannot be judged is unresolved, whatever it looks like.
//
// Another name of the worker itself (a thread id, its PID in its own namespace)
// is not its own PID in the judged numbering: whoever acts on the number acts on
// somebody else, or on nobody. The class says which; `alias` says beside it how
// the worker may have come to the number. So where a namespace PID happens to
// be another worker's PID in the judged numbering the class is `peer`, and
// `alias` keeps it from being read as a discovery that caught a neighbour. A
// thread id cannot be another worker's PID at the same time (the kernel
// numbers both from one pool): records that say so contradict each other.
#include "analysis/classify.h"

#include <algorithm>
#include <numeric>

#include "analysis/roster.h"

namespace rollcall::analysis {
namespace {

using evidence::Discovery;
using evidence::DiscoveryState;
using evidence::IdentityKind;
using evidence::Run;
using evidence::WorkerRecord;

struct Judgement {
  Class cls = Class::kUnresolved;
  const WorkerRecord* peer = nullptr;  // set exactly for kPeer
};

bool is_own_thread(int64_t number, const WorkerRecord& worker) {
  return number != worker.pid &&
         std::find(worker.thread_ids.begin(), worker.thread_ids.end(), number) != worker.thread_ids.end();
}

// Unset: nothing was claimed, or the truth is not known.
std::optional<Judgement> judge(std::optional<int64_t> claim, std::optional<Numbering> numbering,
                               const WorkerRecord& worker, const Roster& roster) {
  if (!claim || !numbering) return std::nullopt;
  const auto own = roster.own_number(worker, *numbering);
  if (!own) return std::nullopt;
  if (*claim == *own) return Judgement{Class::kSelf};
  const auto owner = roster.owner(*claim, worker, *numbering);
  if (!owner) return std::nullopt;
  if (owner->peer == nullptr) return Judgement{Class::kExternal};
  if (*numbering == Numbering::kLauncher && is_own_thread(*claim, worker)) return std::nullopt;
  return Judgement{Class::kPeer, owner->peer};
}

// With `both`, one number that is proved wrong makes the worker wrong, and one that
// is claimed and cannot be judged keeps it from being right. One that is not claimed
// does neither.
Judgement judge_by_kind(IdentityKind kind, const Claims& claims, const std::optional<Judgement>& host,
                        const std::optional<Judgement>& nvml) {
  switch (kind) {
    case IdentityKind::kNone:
      return {};
    case IdentityKind::kHost:
      return host.value_or(Judgement{});
    case IdentityKind::kNvml:
      return nvml.value_or(Judgement{});
    case IdentityKind::kBoth:
      for (const Class wrong : {Class::kPeer, Class::kExternal}) {
        if (host && host->cls == wrong) return *host;
        if (nvml && nvml->cls == wrong) return *nvml;
      }
      if ((claims.host_pid && !host) || (claims.nvml_pid && !nvml)) return {};
      return host ? *host : nvml.value_or(Judgement{});
  }
  return {};
}

// Thread ids are known in the launcher's numbering only.
std::string alias_of(std::optional<int64_t> claim, std::optional<Numbering> numbering,
                     const WorkerRecord& worker) {
  if (!claim || !worker.pid || *claim == *worker.pid) return {};
  if (!worker.nspid.empty() && *claim == worker.nspid.back()) return "namespace_pid";
  if (numbering == Numbering::kLauncher && is_own_thread(*claim, worker)) return "thread_id";
  return {};
}

void classify_worker(const Run& run, const WorkerRecord& worker, const Roster& roster, Classified& result) {
  if (worker.discovery.state == DiscoveryState::kFailed) {
    result.cls = Class::kDiscoveryFailed;
    return;
  }
  const Claims claims = claims_of(worker.discovery);
  const auto nvml_numbering = roster.nvml_numbering(worker);
  const auto host = judge(claims.host_pid, Numbering::kLauncher, worker, roster);
  const auto nvml = judge(claims.nvml_pid, nvml_numbering, worker, roster);
  if (host) result.host_class = host->cls;
  if (nvml) result.nvml_class = nvml->cls;

  const Judgement judgement = judge_by_kind(run.record.identity_kind, claims, host, nvml);
  result.cls = judgement.cls;
  if (judgement.peer != nullptr) {
    result.peer_worker = judgement.peer->worker;
    result.peer_cache = judgement.peer->cache;
  }
  const bool by_host = run.record.identity_kind == IdentityKind::kHost || worker.discovery.assigned_nvml_pid;
  result.alias = alias_of(claims.host_pid, by_host ? Numbering::kLauncher : nvml_numbering, worker);
}

}  // namespace

std::string_view to_text(Class value) {
  switch (value) {
    case Class::kSelf:
      return "self";
    case Class::kPeer:
      return "peer";
    case Class::kExternal:
      return "external";
    case Class::kDiscoveryFailed:
      return "discovery_failed";
    case Class::kUnresolved:
      return "unresolved";
  }
  return "unresolved";
}

std::optional<Class> class_from_text(std::string_view text) {
  for (const Class value : kClasses) {
    if (to_text(value) == text) return value;
  }
  return std::nullopt;
}

bool tells_two_numbers(const Discovery& discovery) {
  return discovery.assigned_nvml_pid || !discovery.nvml_reason.empty();
}

Claims claims_of(const Discovery& discovery) {
  if (discovery.state != DiscoveryState::kAssigned) return {};
  const Claims claims{discovery.assigned_pid,
                      tells_two_numbers(discovery) ? discovery.assigned_nvml_pid : discovery.assigned_pid};
  const bool possible = claims.host_pid.value_or(1) > 0 && claims.nvml_pid.value_or(1) > 0;
  return possible ? claims : Claims{};
}

int ClassCounts::total() const {
  return std::accumulate(count.begin(), count.end(), 0);
}

std::vector<Classified> classify(const Run& run) {
  if (!run.record.discovers()) return {};
  const bool node_died =
      std::any_of(run.record.events.begin(), run.record.events.end(),
                  [](const evidence::RunEvent& event) { return event.code == "node_died"; });
  const Roster roster(run);
  std::vector<Classified> result;
  for (int number = 0; number < run.record.topology.workers(); ++number) {
    Classified one;
    one.worker = number;
    one.cache = run.record.topology.cache_of(number);
    const WorkerRecord* worker = roster.record(number);
    if (worker != nullptr) one.cache = worker->cache;
    if (worker != nullptr && !node_died) classify_worker(run, *worker, roster, one);
    result.push_back(std::move(one));
  }
  return result;
}

ClassCounts count_classes(const std::vector<Classified>& classified) {
  ClassCounts counts;
  for (const Classified& one : classified) ++counts.count[static_cast<size_t>(one.cls)];
  return counts;
}

}  // namespace rollcall::analysis
