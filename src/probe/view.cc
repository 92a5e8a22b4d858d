// rollcall-probe view: how NVML numbers processes, seen with two children that make a
// context each, one of them in a PID namespace of its own. This process holds no
// context; it looks at the list from outside. What follows from it is infer.h's.
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>

#include "probe/commands.h"
#include "probe/infer.h"
#include "probe/nvml_driver.h"
#include "probe/observe.h"
#include "probe/view_child.h"

namespace rollcall::probe {
namespace {

// Others' contexts come and go meanwhile: what they confuse is asked again.
constexpr int kMaxAttempts = 3;
constexpr int kSparePids = 16;

struct Watched {
  ViewObservation seen;
  std::vector<std::pair<int64_t, std::optional<uint64_t>>> with;  // its own list with its context
  ViewFacts measured;  // what is no conclusion: host memory, strides
};

// What a child told of its list: pairs of PID and memory.
std::vector<std::pair<int64_t, std::optional<uint64_t>>> read_list(const Json& list) {
  std::vector<std::pair<int64_t, std::optional<uint64_t>>> result;
  for (const Json& entry : list) {
    std::optional<uint64_t> memory;
    if (!entry.at(1).is_null()) memory = entry.at(1).get<uint64_t>();
    result.emplace_back(entry.at(0).get<int64_t>(), memory);
  }
  return result;
}

std::vector<int64_t> pids_in(const Json& list) {
  std::vector<int64_t> pids;
  for (const auto& [pid, memory] : read_list(list)) pids.push_back(pid);
  return pids;
}

// /proc/self names this process by its own PID: so /proc is of its namespace.
bool proc_is_ours() {
  char text[32] = {};
  return readlink("/proc/self", text, sizeof text - 1) > 0 && std::strtol(text, nullptr, 10) == getpid();
}

std::vector<int64_t> threads_of(int64_t pid) {
  std::vector<int64_t> ids;
  DIR* tasks = proc_is_ours() ? opendir(("/proc/" + std::to_string(pid) + "/task").c_str()) : nullptr;
  if (tasks == nullptr) return ids;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] != '.') ids.push_back(std::strtol(entry->d_name, nullptr, 10));
  }
  closedir(tasks);
  return ids;
}

// The child's next message; one that says an error is an error.
base::Result<Channel::Received> next(const ViewChild& child) {
  auto received = child.channel().receive(kViewStepMs);
  if (!received) {
    return base::failure("the process that was to make a context", received.error().line());
  }
  if (received->message.contains("error")) {
    return base::failure("", received->message["error"].get<std::string>());
  }
  return received;
}

base::Result<void> follow(const ViewChild& child, const NvmlDriver& nvml, Watched* watched) {
  ViewObservation& seen = watched->seen;
  const auto first = next(child);
  if (!first) return tl::unexpected(first.error());
  if (first->message.contains("no_namespace")) {
    seen.own_namespace = false;
    return base::failure("", first->message["no_namespace"].get<std::string>());
  }
  seen.own_pid = first->message.at("own_pid").get<int64_t>();
  if (first->sender > 0) seen.host_pid = first->sender;
  const std::optional<int> index = nvml.index_of(first->message.at("uuid").get<std::string>());
  const auto outside_before = nvml.list(index);
  if (!outside_before) return tl::unexpected(outside_before.error());
  if (auto done = child.channel().send("context"); !done) return done;
  const auto second = next(child);
  if (!second) return tl::unexpected(second.error());
  const auto outside_with = nvml.list(index);
  if (!outside_with) return tl::unexpected(outside_with.error());
  if (seen.host_pid) seen.host_thread_ids = threads_of(*seen.host_pid);
  seen.own_thread_ids = second->message.at("thread_ids").get<std::vector<int64_t>>();
  watched->with = read_list(second->message.at("with"));
  const auto number = [&](const char* key) -> std::optional<int> {
    return second->message.contains(key) ? std::optional(second->message[key].get<int>()) : std::nullopt;
  };
  watched->measured.stride_v1 = number("stride_v1");
  watched->measured.stride_v2 = number("stride_v2");
  watched->measured.stride_v3 = number("stride_v3");
  if (second->message.contains("host_memory_bytes")) {
    watched->measured.host_memory_bytes = second->message["host_memory_bytes"].get<uint64_t>();
  }
  if (auto done = child.channel().send("release"); !done) return done;
  const auto third = next(child);
  if (!third) return tl::unexpected(third.error());
  const auto outside_after = nvml.list_without(came(pids_of(*outside_before), pids_of(*outside_with)), index);
  if (!outside_after) return tl::unexpected(outside_after.error());
  seen.new_inside = came_and_went(pids_in(first->message.at("before")), pids_in(second->message.at("with")),
                                  pids_in(third->message.at("after")));
  seen.new_outside = came_and_went(pids_of(*outside_before), pids_of(*outside_with), pids_of(*outside_after));
  return {};
}

bool worth_repeating(const ViewObservation& seen) {
  return seen.error.empty() && (seen.new_inside.size() > 1 || seen.new_outside.size() > 1 ||
                                (seen.own_namespace == true && seen.own_pid == seen.host_pid));
}

Watched watch(const NvmlDriver& nvml, bool own_namespace) {
  Watched watched;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    watched = Watched{};
    watched.seen.own_namespace = own_namespace;
    const auto child = ViewChild::start(own_namespace, kSparePids * (attempt + 1));
    const auto done = child ? follow(*child, nvml, &watched) : tl::unexpected(child.error());
    if (!done) watched.seen.error = done.error().line();
    if (!worth_repeating(watched.seen)) break;
  }
  return watched;
}

ViewFacts facts_of(const Watched& watched) {
  const ViewObservation& seen = watched.seen;
  ViewFacts facts = watched.measured;
  const ViewConclusion conclusion = infer_view(seen);
  facts.view = conclusion.view;
  facts.reason = conclusion.reason;
  facts.child_host_pid = seen.host_pid;
  facts.child_own_pid = seen.own_pid;
  facts.child_thread_ids = seen.host_thread_ids;
  facts.own_namespace = seen.own_namespace;
  facts.new_inside = seen.new_inside;
  facts.new_outside = seen.new_outside;
  for (const auto& [pid, memory] : watched.with) {
    if (seen.new_inside.size() == 1 && pid == seen.new_inside[0]) facts.memory_bytes = memory;
  }
  return facts;
}

ViewFacts observe() {
  ViewFacts facts;
  const auto nvml = NvmlDriver::load();
  const auto started = nvml ? nvml->init() : tl::unexpected(nvml.error());
  if (!started) {
    facts.reason = started.error().line();
    return facts;
  }
  const Watched apart = watch(*nvml, true);
  // A namespace that was refused, or in which the driver does not work, says nothing of
  // what the driver does outside one.
  const bool apart_failed = !apart.seen.error.empty();
  const Watched beside = watch(*nvml, false);
  facts = facts_of(apart_failed ? beside : apart);
  if (apart_failed && facts.view == ViewKind::kUnknown) {
    facts.reason += " (in a PID namespace of its own: " + apart.seen.error + ")";
  }
  facts.caller_is_listed_as_itself = listed_as_itself(beside.seen);
  return facts;
}

}  // namespace

int run_view(const Arguments&) {
  return write_out(print_view_facts(observe())) ? kAnswered : kNoAnswer;
}

}  // namespace rollcall::probe
