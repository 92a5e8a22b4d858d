// See view.h. A node whose driver lists thread ids has neither view: no number there is
// a PID by which NVML can be asked.
#include "broker/view.h"

#include <filesystem>
#include <system_error>

#include "probe/observe.h"

namespace rollcall::broker {
namespace {

View measure() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {HOSTPID_VIEW_UNKNOWN, "cannot read /proc/self/exe: " + error.message()};
  const probe::ProbeProgram program{self.parent_path() / "rollcall-probe", {}};
  const auto facts = probe::observe_view(program);
  if (!facts) return {HOSTPID_VIEW_UNKNOWN, facts.error().line()};
  switch (facts->view) {
    case probe::ViewKind::kGlobal:
      return {HOSTPID_VIEW_GLOBAL, ""};
    case probe::ViewKind::kTranslated:
      return {HOSTPID_VIEW_TRANSLATED, ""};
    case probe::ViewKind::kThreadIds:
      return {HOSTPID_VIEW_UNKNOWN, "this driver lists thread ids"};
    case probe::ViewKind::kUnknown:
      break;
  }
  return {HOSTPID_VIEW_UNKNOWN, facts->reason};
}

}  // namespace

base::Result<View> find_view(const std::string& wanted) {
  if (wanted == "measure") return measure();
  if (wanted == "global") return View{HOSTPID_VIEW_GLOBAL, ""};
  if (wanted == "translated") return View{HOSTPID_VIEW_TRANSLATED, ""};
  if (wanted == "unknown") return View{};
  return base::usage_error("--view",
                           "expected measure, global, translated or unknown, found '" + wanted + "'");
}

}  // namespace rollcall::broker
