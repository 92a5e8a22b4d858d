// What a driver's numbering is, concluded from what was seen. A pure function: the
// observation is in ViewFacts' terms, so that a reader of the facts can repeat it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probe/facts.h"

namespace rollcall::probe {

// A child that made a context, watched from inside and from outside of its PID namespace.
struct ViewObservation {
  std::optional<bool> own_namespace;  // it has a PID namespace of its own; unset: there was no child
  std::string error;                  // what went wrong before anything could be concluded; empty if nothing
  std::optional<int64_t> host_pid;    // in the namespace of its parent, the caller
  std::optional<int64_t> own_pid;     // in its own
  std::vector<int64_t> host_thread_ids;
  std::vector<int64_t> own_thread_ids;
  // PIDs that were not listed before its context, were while it had it, and were not
  // after it had released it.
  std::vector<int64_t> new_inside;   // on the list that it got itself
  std::vector<int64_t> new_outside;  // on its parent's
};

struct ViewConclusion {
  ViewKind view = ViewKind::kUnknown;
  std::string reason;  // for kUnknown
  friend bool operator==(const ViewConclusion&, const ViewConclusion&) = default;
};

// The rules, in this order:
//   no child, an error, or a child in the caller's own namespace   unknown, except thread ids
//   nothing new, or several new numbers, on its own list           unknown
//   the new number is its own PID (and not its host PID)            translated, unless the
//                                                                  parent's list contradicts
//   its host PID                                                   global, likewise
//   one of its thread ids and neither PID                          thread ids
//   another number, and the parent's list has the same one         global: numbered by a
//      namespace above the caller's. (Under which of the process's ids cannot be told from here.)
//   anything else                                                  unknown
ViewConclusion infer_view(const ViewObservation& seen);

// Whether a process in the caller's namespace is listed to itself under its getpid():
// from its observation. Unset where it was not seen, or under a thread id.
std::optional<bool> listed_as_itself(const ViewObservation& seen);

// Numbers that are in `with` but neither in `before` nor in `after`, sorted, each once.
std::vector<int64_t> came_and_went(const std::vector<int64_t>& before, const std::vector<int64_t>& with,
                                   const std::vector<int64_t>& after);

// Numbers that are in `with` but not in `before`: those that are to go.
std::set<int64_t> came(const std::vector<int64_t>& before, const std::vector<int64_t>& with);

}  // namespace rollcall::probe
