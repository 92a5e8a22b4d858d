// A namespace lies at one depth only, so one comparison at the caller's depth
// decides: if the target's chain passes through the caller's namespace, it does
// so there.
#include "simgpu/namespace_view.h"

#include <string>

namespace rollcall::simgpu {

std::optional<pid_t> translated_pid(const NameChain& target, const NameChain& caller) {
  if (caller.empty() || target.size() < caller.size()) return std::nullopt;
  const NamespaceName& there = target[caller.size() - 1];
  if (there.inode != caller.back().inode) return std::nullopt;
  return there.pid;
}

std::optional<pid_t> visible_pid(evidence::NvmlView view, const NameChain& target, const NameChain& caller) {
  if (target.empty()) return std::nullopt;
  if (view == evidence::NvmlView::kTranslated) return translated_pid(target, caller);
  return target.front().pid;
}

std::string_view view_text(evidence::NvmlView view) {
  return view == evidence::NvmlView::kTranslated ? "translated" : "global";
}

base::Result<evidence::NvmlView> parse_view(std::string_view text) {
  if (text == "global") return evidence::NvmlView::kGlobal;
  if (text == "translated") return evidence::NvmlView::kTranslated;
  return base::usage_error("--view",
                           "expected \"global\" or \"translated\", found \"" + std::string(text) + "\"");
}

}  // namespace rollcall::simgpu
