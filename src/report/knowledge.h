// Which numbers the workers of an arm of kind `both` know, put into words in one place
// for the tables and the sentences of every report.
#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"

namespace rollcall::report {

// The conditions of the table, in its order; none: no such table.
std::vector<const analysis::Condition*> conditions_with_knowledge(const analysis::ExperimentSummary& summary);

// How many are right and by which tiers, then all that is not right: "250 challenge",
// "0 (250 no_context)", "2 wrong, 240 broker, 8 unresolved (8 no_slot)".
std::string known_text(const analysis::NumberKnowledge& number);

// A sentence without its full stop, from "every tiered worker knows …" on.
std::string knowledge_clause(const analysis::Condition& condition);

// The table of the terminal with its title; empty where no arm is of kind `both`.
std::string knowledge_section(const analysis::ExperimentSummary& summary);

}  // namespace rollcall::report
