// The arms: what a worker runs under. An arm is data: what is preloaded, which
// environment goes with it, what the worker does, and how to read what was
// discovered. The built-in ones are made here; others come from --shim or a plan
// and are frozen in plan.json as a whole.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"

namespace rollcall::study {

// How an arm's discovery is read while its worker lives.
enum class IdentitySourceKind {
  kNone,      // nothing to read: timing only, no classes
  kAuto,      // to be found out from the region's magic before the first run
  kRollcall,  // the region of our own shim
  kHamiCore,  // HAMi-core's region v1.2, cross-checked with its log
  kLog,       // a regular expression over the log
};
std::string_view to_text(IdentitySourceKind kind);  // "none", "auto", "rollcall", "hami-core", "log"

// How the log source reads a shim's lines: regular expressions in RE2's syntax (whose
// time is linear in the line, whatever the pattern), searched for in one line at a
// time. `assigned` has the named groups (?P<own>…) and (?P<assigned>…), `failed`
// (optional) the group (?P<own>…): the speaker's own getpid() and the PID that it was
// assigned. The last line of a worker counts.
struct LogPatterns {
  std::string assigned;
  std::string failed;
  friend bool operator==(const LogPatterns&, const LogPatterns&) = default;
};

struct Arm {
  std::string name;
  bool own_shim = false;       // preload librollcall_shim.so
  std::string discovery;       // ROLLCALL_SHIM_DISCOVERY, for our own shim
  std::string preload;         // a foreign shim's file, absolute and without symbolic links; empty: none
  std::string preload_sha256;  // of that file when the plan was frozen
  std::vector<std::pair<std::string, std::string>> environment;  // for its workers
  evidence::Exercise exercise = evidence::Exercise::kCuInit;
  IdentitySourceKind identity = IdentitySourceKind::kNone;
  LogPatterns log;  // for kLog
  evidence::IdentityKind identity_kind = evidence::IdentityKind::kNone;
  std::string cache_variable;  // the environment variable that names the cache; empty: none

  [[nodiscard]] bool has_shim() const { return own_shim || !preload.empty(); }
  friend bool operator==(const Arm&, const Arm&) = default;
};

// All arms that are built in, in the order in which they are offered.
const std::vector<Arm>& built_in_arms();

// `defined` are those of the plan. An unknown name is a usage error that names the
// nearest.
base::Result<Arm> find_arm(const std::string& name, const std::vector<Arm>& defined,
                           const std::string& where);

}  // namespace rollcall::study
