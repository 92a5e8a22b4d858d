// rollcall-probe: asks the driver, so that nobody else has to. One process answers
// one question and ends: a driver cannot be unloaded, and after cuInit a process is
// not what it was. For scripts and for `rollcall`, which shows the answers to people.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "probe/commands.h"

namespace rollcall::probe {

bool write_out(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

int answer(const Json& json) {
  return write_out(evidence::dump(json, 2) + "\n") ? kAnswered : kNoAnswer;
}

int no_answer(Json json, const base::Error& error) {
  json["error"] = evidence::clean_text(error.line());
  answer(json);
  std::fputs((error.line() + "\n").c_str(), stderr);
  return kNoAnswer;
}

namespace {

constexpr const char* kHelp =
    "usage: rollcall-probe QUESTION\n"
    "  node                      the driver, its devices and who computes on them; makes no context\n"
    "  processes                 who computes on any device\n"
    "  view                      how NVML numbers processes, measured with contexts of two children\n"
    "  phases                    the time of each step of a snapshot-difference discovery\n"
    "  nested-retain             whether a second retain of the primary context is free\n"
    "  context LABEL             three retain and release cycles after a warm-up\n"
    "  hold primary|nonprimary   holds a context until its standard input ends, or a signal\n"
    "  neighbours N              keeps N processes making and releasing contexts, likewise\n"
    "Each answer is one JSON document on standard output; see docs/probe.md.\n";

struct Command {
  const char* name;
  int (*run)(const Arguments& arguments);
  size_t arguments;
};
constexpr Command kCommands[] = {{"node", run_node, 0},
                                 {"processes", run_processes, 0},
                                 {"view", run_view, 0},
                                 {"phases", run_phases, 0},
                                 {"nested-retain", run_nested_retain, 0},
                                 {"context", run_context, 1},
                                 {"hold", run_hold, 1},
                                 {"neighbours", run_neighbours, 1},
                                 {"view-child", run_view_child, 1},
                                 {"neighbour", run_neighbour, 0}};

int choose(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "--help") return write_out(kHelp) ? kAnswered : kNoAnswer;
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    if (static_cast<size_t>(argc) != command.arguments + 2) {
      std::fputs(fmt::format("rollcall-probe: {}: expected {} argument(s), found {}; see --help\n", name,
                             command.arguments, argc - 2)
                     .c_str(),
                 stderr);
      return kUsage;
    }
    return command.run(Arguments(argv + 2, argv + argc));
  }
  std::fputs(fmt::format("rollcall-probe: unknown question '{}'; see --help\n", name).c_str(), stderr);
  return kUsage;
}

}  // namespace
}  // namespace rollcall::probe

int main(int argc, char** argv) {
  // With a closed standard stream the driver's descriptors would take its number.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  int status = rollcall::probe::kNoAnswer;
  try {
    status = rollcall::probe::choose(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("rollcall-probe: {}\n", error.what()).c_str(), stderr);
  }
  std::fflush(nullptr);
  // Without the driver's exit handlers: nothing of theirs may change an answer given.
  _exit(status);
}
