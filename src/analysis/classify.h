// Who holds whose PID: the five classes. A pure function of the raw records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/records.h"

namespace rollcall::analysis {

enum class Class { kSelf, kPeer, kExternal, kDiscoveryFailed, kUnresolved };
inline constexpr std::array<Class, 5> kClasses = {Class::kSelf, Class::kPeer, Class::kExternal,
                                                  Class::kDiscoveryFailed, Class::kUnresolved};
std::string_view to_text(Class value);
std::optional<Class> class_from_text(std::string_view text);

// What a worker claims to be, per numbering. A shim that tells two numbers has for each
// of them a number or a reason why there is none; with one number, that number stands
// for both. Empty where nothing is claimed, and where what is claimed can be no PID.
struct Claims {
  std::optional<int64_t> host_pid;
  std::optional<int64_t> nvml_pid;
};
bool tells_two_numbers(const evidence::Discovery& discovery);
Claims claims_of(const evidence::Discovery& discovery);

// One worker of a shim arm, classified. Every worker is in exactly one class.
struct Classified {
  int worker = 0;
  int cache = 0;
  Class cls = Class::kUnresolved;
  std::optional<int> peer_worker;  // set exactly for kPeer
  std::optional<int> peer_cache;
  std::string alias;  // "namespace_pid", "thread_id" or empty: another name of the worker itself
  // Judged against the PID in the launcher's namespace, and against the number
  // under which NVML lists the worker to itself. Unset: nothing claimed, or the
  // truth is not known.
  std::optional<Class> host_class;
  std::optional<Class> nvml_class;
};

struct ClassCounts {
  std::array<int, kClasses.size()> count{};
  [[nodiscard]] int of(Class value) const { return count[static_cast<size_t>(value)]; }
  [[nodiscard]] int total() const;
};

// Empty for an arm without a shim: native arms have no classes. Otherwise one
// entry per worker of the topology, in the order of worker numbers whatever the
// order of the records; a worker without a record, or with two, is unresolved. Where the run has a
// "node_died" event every worker is unresolved: nothing that a dying node said can be believed.
std::vector<Classified> classify(const evidence::Run& run);

ClassCounts count_classes(const std::vector<Classified>& classified);

}  // namespace rollcall::analysis
