// The built-in arms. The words are defined in docs/study.md.
#include "study/arms.h"

#include "base/nearest.h"

namespace rollcall::study {
namespace {

// As HAMi-core names it, so that one plan serves both.
constexpr const char* kCacheVariable = "CUDA_DEVICE_MEMORY_SHARED_CACHE";

// With our own shim.
Arm legacy(const char* name) {
  Arm arm;
  arm.name = name;
  arm.own_shim = true;
  arm.discovery = name;
  arm.identity = IdentitySourceKind::kRollcall;
  // The number is one that NVML listed, seen from inside the worker.
  arm.identity_kind = evidence::IdentityKind::kNvml;
  arm.cache_variable = kCacheVariable;
  return arm;
}

// Claims both numbers, each only where it is proved.
Arm tiered() {
  Arm arm = legacy("tiered");
  arm.identity_kind = evidence::IdentityKind::kBoth;
  return arm;
}

Arm native() {
  Arm arm;
  arm.name = "native";
  return arm;
}

Arm control(const char* name, evidence::Exercise exercise) {
  Arm arm;
  arm.name = name;
  arm.exercise = exercise;
  return arm;
}

}  // namespace

std::string_view to_text(IdentitySourceKind kind) {
  switch (kind) {
    case IdentitySourceKind::kNone:
      return "none";
    case IdentitySourceKind::kAuto:
      return "auto";
    case IdentitySourceKind::kRollcall:
      return "rollcall";
    case IdentitySourceKind::kHamiCore:
      return "hami-core";
    case IdentitySourceKind::kLog:
      return "log";
  }
  return "none";
}

const std::vector<Arm>& built_in_arms() {
  static const std::vector<Arm> arms = {native(),
                                        control("native-context", evidence::Exercise::kProbe),
                                        control("nvml-only", evidence::Exercise::kNvmlInit),
                                        legacy("legacy"),
                                        legacy("legacy-node-lock"),
                                        tiered()};
  return arms;
}

base::Result<Arm> find_arm(const std::string& name, const std::vector<Arm>& defined,
                           const std::string& where) {
  std::vector<std::string> names;
  std::string list;
  for (const std::vector<Arm>* arms : {&built_in_arms(), &defined}) {
    for (const Arm& arm : *arms) {
      if (arm.name == name) return arm;
      names.push_back(arm.name);
      list += (list.empty() ? "" : ", ") + arm.name;
    }
  }
  const std::string meant = base::did_you_mean(name, names);
  return base::usage_error(
      where, "unknown arm '" + name + "'; expected one of " + list,
      meant.empty() ? "--shim NAME=PATH, or [arm.NAME] in a plan, makes one of your own" : meant);
}

}  // namespace rollcall::study
