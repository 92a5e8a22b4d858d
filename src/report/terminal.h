// The result that one reads at a glance, on a terminal or in a log: plain text,
// no colour, at most 100 columns.
#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"

namespace rollcall::report {

// Three parts: the table of classes like the study's key result (topology,
// workers, self, peer, discovery_failed, external, unresolved; native arms say
// that no discovery takes place), the table of mean ± SD external wall time per
// topology and arm with the ratio to native, and one or two plain sentences on
// what was seen. Invalid runs are named with their reasons, last.
std::string terminal_report(const analysis::ExperimentSummary& summary);

// Just the sentences, each one line.
std::vector<std::string> findings(const analysis::ExperimentSummary& summary);

// Whether the fault was seen in any arm: some worker of a valid run holds another's PID.
bool shows_peers(const analysis::ExperimentSummary& summary);

// The same facts as one JSON document (for --json), ending with a newline.
std::string json_report(const analysis::ExperimentSummary& summary);

}  // namespace rollcall::report
