// The truth of a run: which numbers name which worker. Built from what the
// launcher and the kernel said, never from what a shim said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "evidence/records.h"

namespace rollcall::analysis {

// In which numbering a PID is meant. The same process has one number in each
// PID namespace that can see it.
enum class Numbering {
  kLauncher,  // the launcher's PID namespace, which sees all workers
  kOwn,       // the worker's own PID namespace, which sees only what is inside
};

class Roster {
 public:
  explicit Roster(const evidence::Run& run);

  // The one record of worker `number` of the topology; null if there is none,
  // or several that contradict each other.
  [[nodiscard]] const evidence::WorkerRecord* record(int number) const;

  // The numbering under which NVML lists processes to this worker; unset if
  // that is not known. Where the launcher's namespace holds the worker, both
  // are one and the driver's view does not matter.
  [[nodiscard]] std::optional<Numbering> nvml_numbering(const evidence::WorkerRecord& worker) const;

  // The worker's own number. Unset if it is not known or contradicted: NSpid
  // says otherwise, or another record has the same.
  [[nodiscard]] std::optional<int64_t> own_number(const evidence::WorkerRecord& worker,
                                                  Numbering numbering) const;

  // Who a number names, seen from `worker`: another worker, or nobody of the run.
  // Unset if that cannot be told, because records are missing or contradict
  // each other. The worker's own number must have been ruled out before.
  struct Owner {
    const evidence::WorkerRecord* peer = nullptr;  // null: nobody of the run
  };
  [[nodiscard]] std::optional<Owner> owner(int64_t number, const evidence::WorkerRecord& worker,
                                           Numbering numbering) const;

 private:
  using Records = std::vector<const evidence::WorkerRecord*>;

  // What tells the PID namespace of a worker from others: its inode; and where nobody was
  // there to see that, its cache, which has one of its own by what the importer was told.
  [[nodiscard]] std::optional<uint64_t> namespace_of(const evidence::WorkerRecord& worker) const;

  [[nodiscard]] bool contradicted(const evidence::WorkerRecord& worker) const;
  // The records that have this number, in the numbering that `worker` sees.
  [[nodiscard]] const Records& holders(int64_t number, const evidence::WorkerRecord& worker,
                                       Numbering numbering) const;

  const evidence::Run& run_;
  Records sole_;  // by worker number
  std::map<int64_t, Records> by_pid_;
  std::map<std::pair<uint64_t, int64_t>, Records> by_namespace_pid_;  // (inode, PID inside)
  size_t unknown_inside_ = 0;  // living workers whose namespace or PID inside is not known
  // Workers of an imported run whose PID is not known. Where a launcher looked on, a worker
  // without a PID never was a process; where nobody did, any PID may be theirs.
  size_t unknown_outside_ = 0;
};

}  // namespace rollcall::analysis
