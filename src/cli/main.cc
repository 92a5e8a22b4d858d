// rollcall: one file per subcommand; this one only chooses.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/process_setup.h"

namespace rollcall::cli {

// Names and texts come from anybody: a terminal obeys what it is sent, and a line break or
// NUL in one would make another line of it.
void tell(const std::string& line) {
  std::string text = line;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int report_error(const base::Error& error) {
  tell("rollcall: " + error.line());
  switch (error.kind) {
    case base::ErrorKind::kUsage:
      return kUsage;
    case base::ErrorKind::kDifference:
      return kDifference;
    case base::ErrorKind::kFailure:
      break;
  }
  return kFailed;
}

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The deepest subcommand that was named before the parser gave up.
const CLI::App* named_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const auto commands =
        command->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == argv[i]; });
    if (commands.empty()) break;
    command = commands.front();
  }
  return command;
}

// What the user may have meant: a command or option of the one that was named.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = named_command(app, argc, argv);
  const std::vector<std::string> options = option_names(*command);
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--") break;
    word = word.substr(0, word.find('='));
    if (!word.starts_with("--") || std::find(options.begin(), options.end(), word) != options.end()) continue;
    if (std::string meant = base::did_you_mean(word, options); !meant.empty()) return meant;
  }
  std::string name = command->get_name();
  for (const CLI::App* at = command->get_parent(); at != nullptr; at = at->get_parent()) {
    name = at->get_name() + " " + name;
  }
  return "see " + name + " --help";
}

// A first word that is no command, of rollcall or of a command that has commands.
base::Result<void> check_commands(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
      if (sub->get_name() == argv[i]) next = sub;
    }
    if (names.empty()) return {};
    if (next == nullptr) {
      return base::usage_error(
          "", fmt::format("unknown command '{}'; expected {}", argv[i], fmt::join(names, ", ")),
          base::did_you_mean(argv[i], names));
    }
    command = next;
  }
  return {};
}

int choose(int argc, char** argv) {
  CLI::App app("Starts many GPU processes at once and checks whether each one found its own host PID.",
               "rollcall");
  app.set_version_flag("--version", std::string("rollcall ") + ROLLCALL_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  const std::vector<std::pair<const char*, Action (*)(CLI::App&)>> commands = {
      {"run", add_run},         {"summarize", add_summarize}, {"import", add_import},
      {"report", add_report},   {"verify", add_verify},       {"archive", add_archive},
      {"compare", add_compare}, {"doctor", add_doctor},       {"probe", add_probe},
      {"sim", add_sim},
  };
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const auto& [name, add] : commands) {
    Action action = add(app);
    actions.emplace_back(app.get_subcommand(name), std::move(action));
  }
  if (const auto known = check_commands(app, argc, argv); !known) return report_error(known.error());
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report_error({base::ErrorKind::kUsage, "", error.what(), suggestion(app, argc, argv)});
  }
  for (const auto& [command, action] : actions) {
    if (command->parsed()) return action();
  }
  return kUsage;
}

}  // namespace
}  // namespace rollcall::cli

int main(int argc, char** argv) {
  rollcall::cli::set_up_process();
  try {
    return rollcall::cli::choose(argc, argv);
  } catch (const std::exception& error) {  // memory, mostly: nothing of ours throws across a room's border
    rollcall::cli::tell(std::string("rollcall: ") + error.what());
    return rollcall::cli::kFailed;
  }
}
