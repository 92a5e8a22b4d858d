// What two experiments must have in common before their times can be compared: the same
// workload, on the same kind of machine, GPU and driver. A difference that is not asked
// for explains a change as well as the change that was made.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"

namespace rollcall::analysis {

// What an evidence folder holds, as far as a comparison needs it.
struct ComparedEvidence {
  std::string name;  // as the user calls it
  std::vector<evidence::Run> runs;
  std::string plan_json;                       // empty: there is none
  std::vector<std::string> environment_jsons;  // of the start and of each time that it was resumed
};

// The fields, by the names that `--allow` takes. From the runs: node, gpu, driver, view,
// profile (with what it says, from the plan), time_scale, gpus (from the plan), isolation,
// broker, workload, hold, neighbours, devices, truth. From environment.json: cpu, cpus, kernel.
const std::vector<std::string>& environment_fields();

// A field is all its values in an experiment, which are usually one.
struct EnvironmentDifference {
  std::string field;
  std::string a;  // "not known" where a record that should say it does not
  std::string b;
};
struct EnvironmentsCompared {
  std::vector<EnvironmentDifference> differences;  // in the order of the fields
  std::vector<std::string> not_known;              // of neither: equal or not, nobody can tell
};
EnvironmentsCompared compare_environments(const ComparedEvidence& a, const ComparedEvidence& b);

// A usage error for a name that is no field, with the nearest that is.
base::Result<std::set<std::string>> parse_allowed(const std::vector<std::string>& names);

// A usage error that names every difference which is not allowed, and how to allow it.
base::Result<void> check_comparable(const EnvironmentsCompared& compared,
                                    const std::set<std::string>& allowed);

}  // namespace rollcall::analysis
