// The arms: what a worker runs under. An arm is data: what is preloaded, which
// environment goes with it, and how to read what it discovered.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"

namespace rollcall::study {

// How an arm's discovery is read while its worker lives.
enum class IdentitySourceKind {
  kNone,      // nothing to read: timing only
  kRollcall,  // the region of our own shim
};

struct Arm {
  std::string name;
  bool own_shim = false;  // preload librollcall_shim.so
  std::string discovery;  // ROLLCALL_SHIM_DISCOVERY, for our own shim
  IdentitySourceKind identity = IdentitySourceKind::kNone;
  evidence::IdentityKind identity_kind = evidence::IdentityKind::kNone;
  std::string cache_variable;  // the environment variable that names the cache; empty: none

  [[nodiscard]] bool has_shim() const { return own_shim; }
};

// All arms that are built, in the order in which they are offered.
const std::vector<Arm>& built_in_arms();

// An unknown name is a usage error that names the nearest.
base::Result<Arm> find_arm(const std::string& name, const std::string& where);

}  // namespace rollcall::study
