// What the subcommands share: exit statuses, how an error is shown, and the
// shape of a subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "base/error.h"

namespace rollcall::cli {

// The exit statuses of the program. docs/errors.md tells them to the user.
enum ExitStatus : int {
  kDone = 0,          // done and valid
  kFailed = 1,        // it failed
  kUsage = 2,         // wrong usage or input
  kInvalid = 3,       // done, but the experiment is invalid
  kDifference = 4,    // verification found a difference
  kClassOccurred = 5  // a class named in --fail-on occurred
};

// One line on standard error. That nobody can read it is no reason to fail: the
// exit status says the same.
void tell(const std::string& line);

// Writes "rollcall: <one line>" to standard error; the exit status that it means.
int report_error(const base::Error& error);

// A subcommand registers itself with its options; what it returns is run if it
// was chosen, and gives the exit status.
using Action = std::function<int()>;
Action add_run(CLI::App& app);
Action add_summarize(CLI::App& app);
Action add_import(CLI::App& app);
Action add_report(CLI::App& app);
Action add_verify(CLI::App& app);
Action add_archive(CLI::App& app);
Action add_compare(CLI::App& app);
Action add_doctor(CLI::App& app);
Action add_probe(CLI::App& app);
Action add_sim(CLI::App& app);

}  // namespace rollcall::cli
