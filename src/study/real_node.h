// What a real node's driver is, asked once when an experiment starts or goes on, for
// its records and its environment.json.
#pragma once

#include <string>

#include "base/error.h"
#include "probe/facts.h"
#include "study/launcher.h"
#include "study/paths.h"
#include "study/plan.h"

namespace rollcall::study {

struct NodeObservation {
  RealNode node;
  probe::NodeFacts facts;
  probe::ViewFacts view;
  std::string view_error;  // why the view could not be measured; empty if it was
};

// An error where the driver cannot be used. A view that cannot be measured is none: it
// is unknown, and the records say so.
base::Result<NodeObservation> observe_real_node(const Paths& paths, const Plan& plan);

}  // namespace rollcall::study
