// The arms that the user defines: [arm.NAME] tables of a plan, and --shim NAME=PATH,
// which makes an arm or gives a library to one of the plan's.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "study/identity_source.h"
#include "study/plan.h"
#include "study/plan_values.h"
#include "study/shim_file.h"

namespace rollcall::study {
namespace {

// As HAMi-core names it; what is made for it mostly takes the same.
constexpr const char* kDefaultCacheVariable = "CUDA_DEVICE_MEMORY_SHARED_CACHE";
constexpr size_t kMaxNameLength = 40;

// A name becomes part of folder names and tables.
base::Result<void> check_name(const std::string& name, const std::string& where) {
  const bool valid =
      !name.empty() && name.size() <= kMaxNameLength && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
      });
  if (!valid) {
    return base::usage_error(where, fmt::format("'{}' is no name for an arm", name),
                             fmt::format("expected up to {} of a-z, 0-9, '-' and '_'", kMaxNameLength));
  }
  const auto& built_in = built_in_arms();
  if (std::any_of(built_in.begin(), built_in.end(), [&](const Arm& arm) { return arm.name == name; })) {
    return base::usage_error(where, fmt::format("'{}' is a built-in arm", name), "choose another name");
  }
  return {};
}

base::Result<IdentitySourceKind> identity_of(const ArmRequest& request) {
  using enum IdentitySourceKind;
  if (!request.identity) return request.log_assigned ? kLog : kAuto;
  std::vector<std::string> names;
  for (const IdentitySourceKind kind : {kAuto, kHamiCore, kRollcall, kLog, kNone}) {
    names.emplace_back(to_text(kind));
    if (names.back() == *request.identity) return kind;
  }
  return base::usage_error(
      request.place("identity"),
      fmt::format("unknown value '{}'; expected {}", *request.identity, fmt::join(names, ", ")),
      base::did_you_mean(*request.identity, names));
}

base::Result<evidence::IdentityKind> identity_kind_of(const ArmRequest& request, IdentitySourceKind source) {
  using evidence::IdentityKind;
  if (source == IdentitySourceKind::kNone) {
    if (request.identity_kind) {
      return base::usage_error(request.place("identity_kind"),
                               "'identity_kind' does not go with identity \"none\", which claims no number",
                               "leave it out");
    }
    return IdentityKind::kNone;
  }
  return pick(request.identity_kind, request.place("identity_kind"), IdentityKind::kNvml,
              {IdentityKind::kNvml, IdentityKind::kHost, IdentityKind::kBoth});
}

base::Result<void> take_patterns(const ArmRequest& request, Arm& arm) {
  if (arm.identity == IdentitySourceKind::kLog && !request.log_assigned) {
    return base::usage_error(
        request.place("identity"), "identity \"log\" needs 'log_assigned'",
        "a regular expression with the groups own and assigned; docs/shims.md shows one");
  }
  arm.log = {request.log_assigned.value_or(""), request.log_failed.value_or("")};
  if (arm.identity == IdentitySourceKind::kLog)
    return check_log_patterns(arm.log, request.place("log_assigned"));
  for (const char* key : {"log_assigned", "log_failed"}) {
    const bool given = key == std::string("log_assigned") ? request.log_assigned.has_value()
                                                          : request.log_failed.has_value();
    if (given) {
      return base::usage_error(request.place(key),
                               fmt::format("'{}' is read only with identity = \"log\"", key),
                               "set it, or leave the pattern out");
    }
  }
  return {};
}

// Variables that an arm may not take for itself: they decide which libraries and which
// driver a worker gets.
bool is_taken(const std::string& name) {
  return name.starts_with("LD_") || name == "PATH" || name == "CUDA_VISIBLE_DEVICES" ||
         name.starts_with("ROLLCALL_SIM") || name.starts_with("ROLLCALL_WORKER") || name == "ROLLCALL_RUN";
}

base::Result<void> check_cache_variable(const std::string& name, const std::string& where) {
  const bool valid = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  if (valid && !is_taken(name)) return {};
  return base::usage_error(where,
                           valid ? fmt::format("'{}' is set by rollcall itself", name)
                                 : "expected the name of an environment variable",
                           "name the variable in which the shim is told its cache file");
}

base::Result<void> check_environment(const ArmRequest& request, const std::string& cache_variable) {
  for (const auto& [name, value] : request.environment) {
    if (is_taken(name) || name == cache_variable) {
      return base::usage_error(request.place("env." + name),
                               fmt::format("'{}' is set by rollcall itself", name),
                               name == "CUDA_VISIBLE_DEVICES" ? "use --devices" : "leave it out");
    }
    if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos ||
        value.find('\0') != std::string::npos) {
      return base::usage_error(request.place("env"), fmt::format("'{}' is no name of a variable", name));
    }
  }
  return {};
}

base::Result<Arm> resolve_arm(const ArmRequest& request) {
  Arm arm;
  arm.name = request.name;
  if (auto named = check_name(arm.name, request.place("")); !named) return tl::unexpected(named.error());
  if (!request.preload) {
    return base::usage_error(
        request.place(""), fmt::format("the arm '{}' names no library", arm.name),
        fmt::format("give it one with --shim {}=PATH, or with preload in the plan", arm.name));
  }
  const auto file = inspect_shim(request.folder / *request.preload, request.place("preload"));
  if (!file) return tl::unexpected(file.error());
  arm.preload = file->path;
  arm.preload_sha256 = file->sha256;
  arm.cache_variable = request.cache_env.value_or(kDefaultCacheVariable);
  arm.environment = request.environment;
  if (auto fine = check_cache_variable(arm.cache_variable, request.place("cache_env")); !fine) {
    return tl::unexpected(fine.error());
  }
  if (auto fine = check_environment(request, arm.cache_variable); !fine) return tl::unexpected(fine.error());
  const auto source = identity_of(request);
  if (!source) return tl::unexpected(source.error());
  arm.identity = *source;
  const auto kind = identity_kind_of(request, *source);
  if (!kind) return tl::unexpected(kind.error());
  arm.identity_kind = *kind;
  if (auto fine = take_patterns(request, arm); !fine) return tl::unexpected(fine.error());
  return arm;
}

// NAME=PATH: gives the plan's arm of that name its library, or makes a new arm.
base::Result<void> take_shim(const std::string& text, const std::string& where,
                             std::vector<ArmRequest>& requests) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return base::usage_error(where, fmt::format("expected NAME=PATH, found '{}'", text),
                             "for example mine=/usr/lib/libmine.so");
  }
  const std::string name = text.substr(0, equals);
  auto found = std::find_if(requests.begin(), requests.end(),
                            [&](const ArmRequest& request) { return request.name == name; });
  if (found == requests.end()) {
    requests.push_back({});
    found = std::prev(requests.end());
    found->name = name;
    found->places[""] = where;
  }
  if (found->places.count("--shim") != 0) {
    return base::usage_error(where, fmt::format("the arm '{}' is given two libraries", name));
  }
  found->preload = text.substr(equals + 1);
  found->folder.clear();
  found->places["preload"] = where;
  found->places["--shim"] = where;
  return {};
}

}  // namespace

std::string ArmRequest::place(const std::string& key) const {
  for (const std::string& candidate : {key, std::string()}) {
    if (const auto found = places.find(candidate); found != places.end()) return found->second;
  }
  return fmt::format("[arm.{}]", name);
}

base::Result<std::vector<Arm>> resolve_shims(const PlanRequest& request) {
  std::vector<ArmRequest> requests = request.defined_arms;
  const std::vector<std::string> shims = request.shims.value_or(std::vector<std::string>());
  for (size_t i = 0; i < shims.size(); ++i) {
    if (auto taken = take_shim(shims[i], request.place("--shim", i), requests); !taken) {
      return tl::unexpected(taken.error());
    }
  }
  std::vector<Arm> arms;
  for (const ArmRequest& one : requests) {
    // An arm of the plan that is not to be run needs no library.
    const bool wanted =
        !request.arms || one.places.count("--shim") != 0 ||
        std::find(request.arms->begin(), request.arms->end(), one.name) != request.arms->end();
    if (!wanted) continue;
    auto arm = resolve_arm(one);
    if (!arm) return tl::unexpected(arm.error());
    arms.push_back(std::move(*arm));
  }
  return arms;
}

}  // namespace rollcall::study
