// simgpud: plays the kernel driver of a simulated GPU node. This file reads the
// command line, opens the socket, says that it is ready, and cleans up.
#include <fcntl.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>

#include "base/descriptors.h"
#include "simgpu/listener.h"
#include "simgpu/server.h"
#include "simgpu/session.h"

namespace rollcall::simgpu {
namespace {

struct Arguments {
  std::string socket;
  std::string profile;
  std::string view = "global";
  double time_scale = 1;
  std::optional<int> gpus;
  uint64_t seed = 0;
  int max_clients = 0;
  int lifeline_fd = -1;
  int ready_fd = -1;
  bool remove_folder = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", ROLLCALL_VERSION);
  app.add_option("--socket", arguments.socket, "Unix socket to serve; must not exist")->required();
  app.add_option("--profile", arguments.profile, "profile file (TOML)")->required();
  app.add_option("--view", arguments.view, "how processes are numbered: global or translated");
  app.add_option("--time-scale", arguments.time_scale, "factor on every service time")
      ->check(CLI::Range(0.0, static_cast<double>(kMaxTimeScale)));
  app.add_option("--gpus", arguments.gpus, "number of GPUs; default: as the profile says")
      ->check(CLI::Range(0, static_cast<int>(kMaxGpus)));
  app.add_option("--seed", arguments.seed, "seed of the service times' jitter");
  app.add_option("--max-clients", arguments.max_clients,
                 "processes served at the same time; 0: " + std::to_string(kDefaultMaxClients) +
                     ", or as many as the limit of open files allows")
      ->check(CLI::Range(0, kMaxMaxClients));
  app.add_option("--lifeline-fd", arguments.lifeline_fd,
                 "inherited descriptor; its end of file ends simgpud");
  app.add_option("--ready-fd", arguments.ready_fd,
                 "inherited descriptor; gets \"ready\", or the error that prevents it");
  app.add_flag("--remove-folder", arguments.remove_folder, "remove the socket's folder too at the end");
}

base::Result<int> client_bound(int asked) {
  const auto clients = static_cast<size_t>(asked == 0 ? kDefaultMaxClients : asked);
  const size_t wanted = needed_descriptors(static_cast<int>(clients));
  const auto limit = base::raise_descriptor_limit(wanted);
  if (!limit) return tl::unexpected(limit.error());
  if (*limit >= wanted) return static_cast<int>(clients);
  if (asked != 0 || *limit < needed_descriptors(1)) {
    return base::failure("open files (RLIMIT_NOFILE)",
                         "simgpud needs " + std::to_string(wanted) + " open files for " +
                             std::to_string(clients) + " clients, but the hard limit is " +
                             std::to_string(*limit),
                         "set it with 'ulimit -n " + std::to_string(wanted) + "' as a user who may");
  }
  return static_cast<int>((*limit - needed_descriptors(0)) / (needed_descriptors(1) - needed_descriptors(0)));
}

base::Fd inherited(int fd) {
  if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
  return base::Fd(fd);
}

void block_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigprocmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

base::Result<void> serve(const Arguments& arguments, base::Fd& ready, base::Fd lifeline) {
  ServerOptions options;
  auto profile = load_profile(arguments.profile);
  if (!profile) return tl::unexpected(profile.error());
  options.profile = std::move(*profile);
  if (arguments.gpus) options.profile.gpus = *arguments.gpus;
  const auto view = parse_view(arguments.view);
  if (!view) return tl::unexpected(view.error());
  options.view = *view;
  options.time_scale = arguments.time_scale;
  options.seed = arguments.seed;
  const auto clients = client_bound(arguments.max_clients);
  if (!clients) return tl::unexpected(clients.error());
  options.max_clients = *clients;

  auto listener = Listener::create(arguments.socket);
  if (!listener) return tl::unexpected(listener.error());
  base::Result<void> result;
  auto server = Server::create(std::move(options), listener->take(), std::move(lifeline));
  if (server) {
    if (ready.valid() && write(ready.get(), "ready\n", 6) != 6) {
      result = base::system_failure("--ready-fd", "write", errno);
    }
    ready.reset();
    if (result) result = (*server)->run();
  } else {
    result = tl::unexpected(server.error());
  }
  listener->remove(arguments.remove_folder);
  return result;
}

}  // namespace
}  // namespace rollcall::simgpu

int main(int argc, char** argv) {
  using namespace rollcall;
  CLI::App app("simgpud: a simulated GPU node for the stand-in driver libraries", "simgpud");
  simgpu::Arguments arguments;
  simgpu::describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  simgpu::block_signals();
  base::Fd ready = simgpu::inherited(arguments.ready_fd);
  const auto result = simgpu::serve(arguments, ready, simgpu::inherited(arguments.lifeline_fd));
  if (result) return 0;
  // While somebody waits for readiness, the error is theirs to show.
  const std::string line = result.error().line() + "\n";
  if (!ready.valid() || write(ready.get(), line.data(), line.size()) < 0) {
    std::fprintf(stderr, "simgpud: %s", line.c_str());
  }
  return result.error().kind == base::ErrorKind::kUsage ? 2 : 1;
}
