// environment.json: where and with what an experiment was run. Everything that a
// reviewer needs to judge a number and nothing that names a person or a machine.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "study/paths.h"
#include "study/plan.h"
#include "study/real_node.h"

namespace rollcall::study {

// Machine, kernel, limits, versions and the SHA-256 of every program and library
// that takes part. `plan_sha256` ties it to its plan; `observed` is set for a real node.
base::Result<std::string> describe_environment(const Paths& paths, const Plan& plan,
                                               const std::string& plan_sha256,
                                               const std::optional<NodeObservation>& observed);

}  // namespace rollcall::study
