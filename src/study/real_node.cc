// See real_node.h.
#include "study/real_node.h"

#include "base/process.h"
#include "probe/observe.h"
#include "study/run_space.h"

namespace rollcall::study {

base::Result<NodeObservation> observe_real_node(const Paths& paths, const Plan& plan) {
  probe::ProbeProgram program;
  program.file = paths.probe;
  program.environment = without_withheld();
  if (!plan.devices.empty()) program.environment.emplace_back("CUDA_VISIBLE_DEVICES", plan.devices.front());
  NodeObservation observed;
  auto facts = probe::observe_node(program);
  if (!facts) return tl::unexpected(facts.error());
  if (!facts->usable()) {
    return base::failure("the real node", facts->cuda_error,
                         "rollcall doctor tells more; --node sim needs no GPU");
  }
  observed.facts = std::move(*facts);
  if (auto view = probe::observe_view(program)) {
    observed.view = std::move(*view);
  } else {
    observed.view_error = view.error().line();
  }
  observed.node.driver_version = observed.facts.driver_version;
  for (const probe::DeviceFacts& device : observed.facts.devices) {
    if (observed.facts.cuda_uuids.empty() || device.uuid == observed.facts.cuda_uuids.front()) {
      observed.node.device_name = device.name;
      break;
    }
  }
  observed.node.in_initial_namespace = base::own_pid_namespace_inode() == base::kInitialPidNamespaceInode;
  observed.node.view = observed.view.evidence_view();
  observed.node.lists_launcher_numbers = observed.view.caller_is_listed_as_itself;
  return observed;
}

}  // namespace rollcall::study
