// See infer.h. A number that is both of two things proves neither.
#include "probe/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rollcall::probe {
namespace {

bool contains(const std::vector<int64_t>& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

ViewConclusion unknown(std::string reason) {
  return {ViewKind::kUnknown, std::move(reason)};
}

bool is_thread_id(const ViewObservation& seen, int64_t number) {
  return contains(seen.host_thread_ids, number) || contains(seen.own_thread_ids, number);
}

// What the number on the child's own list is.
ViewConclusion judge(const ViewObservation& seen, int64_t inside) {
  const int64_t own = *seen.own_pid;
  const int64_t host = *seen.host_pid;
  // The main thread's id is the PID: the other namespace's PID is a thread id by chance only.
  if (inside == own && contains(seen.host_thread_ids, own)) {
    return unknown(fmt::format("{} is both its PID inside and one of its thread ids outside", own));
  }
  if (inside == host && contains(seen.own_thread_ids, host)) {
    return unknown(fmt::format("{} is both its PID outside and one of its thread ids inside", host));
  }
  if (inside == own) return {ViewKind::kTranslated, {}};
  if (inside == host) return {ViewKind::kGlobal, {}};
  if (is_thread_id(seen, inside)) return {ViewKind::kThreadIds, {}};
  if (seen.new_outside == seen.new_inside) return {ViewKind::kGlobal, {}};
  return unknown(fmt::format(
      "it was listed to itself as {}, which is none of its ids here; under MPS a server is listed "
      "in place of its clients",
      inside));
}

ViewConclusion judge_without_namespace(const ViewObservation& seen) {
  if (seen.new_inside.size() == 1 && seen.own_pid && seen.new_inside[0] != *seen.own_pid &&
      contains(seen.own_thread_ids, seen.new_inside[0])) {
    return {ViewKind::kThreadIds, {}};
  }
  return unknown(
      "no process could be given a PID namespace of its own, and within one namespace the views look the "
      "same");
}

// The parent's list, where it shows exactly one new number, must agree.
bool contradicted(const ViewObservation& seen, ViewKind view) {
  if (seen.new_outside.size() != 1)
    return !seen.new_outside.empty() && !contains(seen.new_outside, *seen.host_pid);
  const int64_t outside = seen.new_outside[0];
  switch (view) {
    case ViewKind::kTranslated:
      return outside != *seen.host_pid;
    case ViewKind::kGlobal:
      return outside != seen.new_inside[0];
    case ViewKind::kThreadIds:
      return !is_thread_id(seen, outside);
    case ViewKind::kUnknown:
      break;
  }
  return false;
}

}  // namespace

ViewConclusion infer_view(const ViewObservation& seen) {
  if (!seen.error.empty()) return unknown(seen.error);
  if (!seen.own_namespace) return unknown("no process with a context was watched");
  if (!*seen.own_namespace) return judge_without_namespace(seen);
  if (!seen.own_pid || !seen.host_pid)
    return unknown("the PIDs of the process that was watched are not known");
  if (*seen.own_pid == *seen.host_pid) {
    return unknown(
        fmt::format("its PID inside and outside is the same by chance, {}; ask again", *seen.own_pid));
  }
  if (seen.new_inside.empty()) {
    return unknown(seen.new_outside.empty()
                       ? "a process with a context is listed neither to itself nor to its parent"
                       : "a process in a PID namespace of its own is not listed to itself");
  }
  if (seen.new_inside.size() > 1) {
    return unknown(
        fmt::format("several numbers were new when the context was made ({}): other processes "
                    "started at the same moment",
                    fmt::join(seen.new_inside, ", ")));
  }
  ViewConclusion conclusion = judge(seen, seen.new_inside[0]);
  if (contradicted(seen, conclusion.view)) {
    return unknown(fmt::format("it was listed as {} to itself and as {} to its parent: the two do not fit",
                               seen.new_inside[0], fmt::join(seen.new_outside, ", ")));
  }
  return conclusion;
}

std::optional<bool> listed_as_itself(const ViewObservation& seen) {
  if (!seen.error.empty() || !seen.own_pid || seen.new_inside.empty()) return std::nullopt;
  if (contains(seen.new_inside, *seen.own_pid)) return true;
  // Several numbers, none of them its own: it may be hidden, and these be others'.
  if (seen.new_inside.size() > 1 || contains(seen.own_thread_ids, seen.new_inside[0])) return std::nullopt;
  return false;
}

std::set<int64_t> came(const std::vector<int64_t>& before, const std::vector<int64_t>& with) {
  std::set<int64_t> numbers(with.begin(), with.end());
  for (const int64_t number : before) numbers.erase(number);
  return numbers;
}

std::vector<int64_t> came_and_went(const std::vector<int64_t>& before, const std::vector<int64_t>& with,
                                   const std::vector<int64_t>& after) {
  std::set<int64_t> numbers = came(before, with);
  for (const int64_t number : after) numbers.erase(number);
  return {numbers.begin(), numbers.end()};
}

}  // namespace rollcall::probe
