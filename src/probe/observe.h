// Asks rollcall-probe, a program of its own, about the node: a driver that hangs,
// crashes or refuses costs the question, never the one who asks. The environment
// is the caller's, so that whoever runs on the simulated node asks that node. Call
// from the main thread: what is started dies with the thread that started it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "probe/facts.h"

namespace rollcall::probe {

struct ProbeProgram {
  std::filesystem::path file;  // bin/rollcall-probe
  // Set (or, with an empty value, removed) on top of the caller's environment.
  std::vector<std::pair<std::string, std::string>> environment;
  int64_t deadline_ms = 30'000;  // for one question; then it is killed and that is the error
};

// How a program ended that did so by itself, and what it said.
struct ProgramEnd {
  int status = 0;  // as waitpid gives it
  std::string output;
  std::string last_error_line;  // of its standard error; empty if there was none
};

// Runs any small program like a question: its standard input is empty, and what it
// leaves behind is ended with it. The deadline and output beyond 1 MiB are errors; how
// it ended is for the caller to judge.
base::Result<ProgramEnd> run_to_end(const ProbeProgram& program, const std::vector<std::string>& arguments);

// Runs `rollcall-probe ARGUMENTS…` and returns what it printed. An exit status
// other than 0, a signal, the deadline and output beyond 1 MiB are errors that say
// so (with the last line of its standard error).
base::Result<std::string> ask(const ProbeProgram& program, const std::vector<std::string>& arguments);

// `rollcall-probe node`: an answer even where there is no driver (the facts say why).
base::Result<NodeFacts> observe_node(const ProbeProgram& program);

// `rollcall-probe processes`: who computes on any device now. An error where they
// cannot be listed: nobody listed and nothing known are not the same.
base::Result<std::vector<ListedProcess>> list_processes(const ProbeProgram& program);

// `rollcall-probe view`: makes a context in two children, one of them in a PID
// namespace of its own where that is allowed.
base::Result<ViewFacts> observe_view(const ProbeProgram& program);

// JSON as the program prints it, and back: parse(print(x)) == x.
std::string print_node_facts(const NodeFacts& facts);
base::Result<NodeFacts> parse_node_facts(const std::string& json);
std::string print_view_facts(const ViewFacts& facts);
base::Result<ViewFacts> parse_view_facts(const std::string& json);
std::string print_processes(const std::vector<ListedProcess>& processes);
base::Result<std::vector<ListedProcess>> parse_processes(const std::string& json);

std::string_view to_text(ViewKind view);  // "unknown", "global", "translated", "thread ids"

}  // namespace rollcall::probe
