// rollcall: one file per subcommand; this one only chooses.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "cli/command.h"

namespace rollcall::cli {

int report_error(const base::Error& error) {
  fmt::print(stderr, "rollcall: {}\n", error.line());
  return error.kind == base::ErrorKind::kUsage ? kUsage : kFailed;
}

namespace {

int choose(int argc, char** argv) {
  CLI::App app("Starts many GPU processes at once and checks whether each one found its own host PID.",
               "rollcall");
  app.set_version_flag("--version", std::string("rollcall ") + ROLLCALL_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  const std::vector<std::pair<const char*, Action (*)(CLI::App&)>> commands = {
      {"run", add_run}, {"summarize", add_summarize}, {"sim", add_sim}};
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const auto& [name, add] : commands) {
    Action action = add(app);
    actions.emplace_back(app.get_subcommand(name), std::move(action));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report_error({base::ErrorKind::kUsage, "", error.what(), "see rollcall --help"});
  }
  for (const auto& [command, action] : actions) {
    if (command->parsed()) return action();
  }
  return kUsage;
}

}  // namespace
}  // namespace rollcall::cli

int main(int argc, char** argv) {
  try {
    return rollcall::cli::choose(argc, argv);
  } catch (const std::exception& error) {  // memory, mostly: nothing of ours throws across a room's border
    fmt::print(stderr, "rollcall: {}\n", error.what());
    return rollcall::cli::kFailed;
  }
}
