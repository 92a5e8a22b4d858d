// How numbers and names are put into words, in one place for every report: the same
// mean must not be printed with two decimals here and with three there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/estimate.h"
#include "analysis/summary.h"

namespace rollcall::report {

inline constexpr size_t kMaxArmWidth = 60;   // of an arm's name in a sentence
inline constexpr size_t kMaxNameWidth = 60;  // of a device, a driver, a profile

// "1 run", "3 runs".
std::string plural(int n, std::string_view noun);

// "16.48 ± 1.11 s"; without SD below n = 2; "not known" where there is no mean.
std::string seconds_text(const analysis::Estimate& time, int decimals);
// How many decimals a time or several that stand together get, in seconds.
int seconds_decimals(double shortest_s);
// Those that the external wall times of an experiment get, all of them alike.
int seconds_decimals(const analysis::ExperimentSummary& summary);

// "5.02×".
std::string ratio_text(double ratio);
// "5.02× (4.81–5.24)", without an interval where there is none; empty where there is no ratio.
std::string ratio_text(const analysis::Ratio& ratio);

// A positive number with three digits that count, never as 1e+05: "0.0123", "1.23", "1230".
std::string three_digits(double value);
// "0.0312 ms"; empty where it is not known.
std::string milliseconds_text(std::optional<int64_t> ns);
// "0 %", "0.4 %", "97.1 %".
std::string percent_text(double share);

// Whether conditions differ in more than topology and arm, and so need names that tell.
bool has_mixed_workloads(const analysis::ExperimentSummary& summary);
// The arm, with what else tells the condition apart: "legacy +context +hold".
std::string arm_text(std::string_view arm, evidence::Workload workload, evidence::Hold hold, bool mixed);

// What the runs were measured on, without a full stop: "Measured on a real node: …".
std::string setting_text(const analysis::Setting& setting);

// "isolated caches" or "one shared cache", as a reader calls a topology.
std::string topology_kind(const evidence::Topology& topology);

}  // namespace rollcall::report
