// The subcommands of rollcall-probe, one file each. Each prints its answer as one
// JSON document on standard output and returns the program's exit status: 0 if it
// could answer; 1 if not, then with {"error": …} there and a line on standard error.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "evidence/json_object.h"

namespace rollcall::probe {

using evidence::Json;
using Arguments = std::vector<std::string>;  // after the subcommand

enum ExitStatus : int { kAnswered = 0, kNoAnswer = 1, kUsage = 2 };

int run_node(const Arguments& arguments);
int run_processes(const Arguments& arguments);
int run_view(const Arguments& arguments);
int run_view_child(const Arguments& arguments);  // started by view alone
int run_phases(const Arguments& arguments);
int run_nested_retain(const Arguments& arguments);
int run_context(const Arguments& arguments);
int run_hold(const Arguments& arguments);
int run_neighbours(const Arguments& arguments);
int run_neighbour(const Arguments& arguments);  // started by neighbours alone

// Writes the text to standard output, whole. False if nobody takes it.
bool write_out(const std::string& text);
// Ends a subcommand with its document, or with its error added to what is known.
int answer(const Json& json);
int no_answer(Json json, const base::Error& error);

inline double milliseconds(int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(base::kNsPerMs);
}

}  // namespace rollcall::probe
