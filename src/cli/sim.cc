// rollcall sim exec: any program on the simulated node. The node lives as long
// as the program and is gone, with its folder, when this returns.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/process.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "simgpu/profile.h"
#include "simgpu/protocol.h"
#include "simgpu/session.h"
#include "study/paths.h"

namespace rollcall::cli {
namespace {

struct SimOptions {
  std::string profile = "study";
  std::optional<int> gpus;
  std::string view = "global";
  double time_scale = 1.0;
  uint64_t seed = 1;
  std::vector<std::string> command;
};

base::Result<simgpu::Session> start_node(const SimOptions& options) {
  const auto paths = study::find_paths();
  if (!paths) return tl::unexpected(paths.error());
  const auto file = simgpu::find_profile(options.profile, paths->profile_dir);
  if (!file) return tl::unexpected(file.error());
  if (const auto profile = simgpu::load_profile(*file); !profile) return tl::unexpected(profile.error());
  const auto view = evidence::from_text<evidence::NvmlView>(options.view);
  if (!view || *view == evidence::NvmlView::kUnknown) {
    return base::usage_error("--view",
                             fmt::format("unknown value '{}'; expected global or translated", options.view));
  }
  if (!(options.time_scale > 0) || options.time_scale > 100) {
    return base::usage_error("--time-scale", "expected a number above 0 and up to 100");
  }
  if (options.gpus && (*options.gpus < 0 || *options.gpus > static_cast<int>(simgpu::kMaxGpus))) {
    return base::usage_error(
        "--gpus", fmt::format("expected a number from 0 to {}, found {}", simgpu::kMaxGpus, *options.gpus));
  }
  simgpu::SessionOptions session;
  session.simgpud = paths->simgpud;
  session.library_dir = paths->sim_dir;
  session.profile_file = *file;
  session.view = *view;
  session.time_scale = options.time_scale;
  if (options.gpus) session.gpus = *options.gpus == 0 ? simgpu::kNoGpus : *options.gpus;
  session.seed = options.seed;
  return simgpu::Session::start(session);
}

// Waits for the program, passing signals on. Its wait status.
base::Result<int> wait_for(pid_t program, const Interrupt& interrupt) {
  const base::Fd pidfd(base::open_pidfd(program));
  for (;;) {
    pollfd fds[] = {{pidfd.get(), POLLIN, 0}, {interrupt.fd(), POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
    signalfd_siginfo info{};
    // A signal of the terminal (sent by the kernel) reaches the whole foreground
    // group, the program included; only what was sent to us alone is passed on.
    if (read(interrupt.fd(), &info, sizeof info) == sizeof info && info.ssi_code != SI_KERNEL) {
      base::signal_pidfd(pidfd.get(), static_cast<int>(info.ssi_signo));
    }
    if ((fds[0].revents & POLLIN) != 0) break;
  }
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(program, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != program) return base::system_failure("waitpid", "learn how the program ended", errno);
  return status;
}

[[noreturn]] void become(const SimOptions& options,
                         const std::vector<std::pair<std::string, std::string>>& environment) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGXFSZ, SIG_DFL);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : options.command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  tell(fmt::format("rollcall: {}: cannot execute: {}", options.command[0], std::strerror(error)));
  _exit(error == ENOENT ? 127 : 126);  // as a shell says it
}

int execute(const SimOptions& options) {
  Interrupt interrupt;
  auto session = start_node(options);
  if (!session) return report_error(session.error());
  const char* library_path = getenv("LD_LIBRARY_PATH");
  const auto environment = session->environment(library_path != nullptr ? library_path : "");
  const pid_t program = fork();
  if (program < 0) return report_error({base::ErrorKind::kFailure, "fork", std::strerror(errno), ""});
  if (program == 0) become(options, environment);
  const auto status = wait_for(program, interrupt);
  session->stop();
  if (!status) return report_error(status.error());
  return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
}

}  // namespace

Action add_sim(CLI::App& app) {
  auto options = std::make_shared<SimOptions>();
  CLI::App* sim = app.add_subcommand("sim", "The simulated GPU node.");
  sim->require_subcommand(1);
  CLI::App* exec =
      sim->add_subcommand("exec", "Run any program on the simulated node; its exit status is returned.");
  exec->add_option("--profile", options->profile, "A name or a file (default study)")
      ->option_text("NAME|FILE");
  exec->add_option("--gpus", options->gpus, "GPUs, 0 for a driver without one (default: as the profile says)")
      ->option_text("N");
  exec->add_option("--view", options->view, "How NVML numbers processes (default global)")
      ->option_text("global|translated");
  exec->add_option("--time-scale", options->time_scale, "Multiplies the driver's times (default 1)")
      ->option_text("F");
  exec->add_option("--seed", options->seed, "Seed of the jitter (default 1)")->option_text("N");
  exec->add_option("command", options->command, "The program and its arguments, after --")
      ->required()
      ->option_text("-- COMMAND...");
  exec->positionals_at_end();
  return [options] { return execute(*options); };
}

}  // namespace rollcall::cli
