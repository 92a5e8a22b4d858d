// hostpidd: the node broker. This file reads the command line, and does in order what
// must be done before the first client: the namespace, the view, the sockets, and then
// nothing more than is needed.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "base/descriptors.h"
#include "base/process.h"
#include "broker/check.h"
#include "broker/confine.h"
#include "broker/server.h"
#include "broker/view.h"

#ifdef __SANITIZE_ADDRESS__
// The search for leaks at the end needs what the filter forbids. The same code is searched
// in the unit tests.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

namespace rollcall::broker {
namespace {

constexpr const char* kSocketName = "broker.sock";

struct Arguments {
  std::string socket_dir = "/run/hostpid";
  std::string compat_path;
  std::string view = "measure";
  bool namespace_is_host = false;
  Bounds bounds;
  int64_t connection_timeout_ms = 500;
  std::string metrics;
  int64_t metrics_interval_s = 15;
  bool no_filter = false;
  bool check = false;
  std::string socket;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", std::string("hostpidd ") + ROLLCALL_VERSION);
  app.get_formatter()->column_width(34);
  app.add_option("--socket-dir", arguments.socket_dir, "directory of the socket, broker.sock")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--compat-path", arguments.compat_path,
                 "serve this path as well, such as /var/run/hami/hostpid/broker.sock")
      ->type_name("PATH");
  app.add_option("--view", arguments.view,
                 "how NVML numbers processes here: measure, global, translated or unknown")
      ->type_name("VIEW")
      ->capture_default_str();
  app.add_option("--max-per-tenant", arguments.bounds.per_tenant, "connections of one tenant that may wait")
      ->check(CLI::Range(1U, 65536U))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--max-connections", arguments.bounds.total, "connections that may wait in all")
      ->check(CLI::Range(1U, 65536U))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--connection-timeout-ms", arguments.connection_timeout_ms,
                 "how long one may wait for its request")
      ->check(CLI::Range(1, 60'000))
      ->type_name("MS")
      ->capture_default_str();
  app.add_option("--metrics", arguments.metrics, "file for OpenMetrics text, replaced again and again")
      ->type_name("FILE");
  app.add_option("--metrics-interval-s", arguments.metrics_interval_s, "how often")
      ->check(CLI::Range(1, 3600))
      ->type_name("S")
      ->capture_default_str();
  app.add_flag("--namespace-is-host", arguments.namespace_is_host,
               "serve from another PID namespace than the kernel's first: for an experiment");
  app.add_flag("--no-filter", arguments.no_filter, "run without a filter of system calls");
  app.add_flag("--check", arguments.check, "ask a running broker, print its answer, and exit 0 or 1");
  app.add_option("--socket", arguments.socket, "with --check: its socket; default: of --socket-dir")
      ->type_name("PATH");
}

void tell(const std::string& line) {
  const std::string text = "hostpidd: " + line + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody to tell
}

// With a closed standard stream the next descriptor would become that stream.
void set_up_process() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
  // What was inherited would count against the bound of open files.
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void block_ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigprocmask(SIG_BLOCK, &ending, nullptr);
}

base::Result<void> check_namespace(bool namespace_is_host) {
  const uint64_t own = base::own_pid_namespace_inode();
  if (own == base::kInitialPidNamespaceInode || namespace_is_host) return {};
  return base::failure(
      "/proc/self/ns/pid",
      own == 0
          ? std::string("cannot be read, so it is not known whether the PIDs seen here are the host's")
          : fmt::format("expected the kernel's first PID namespace, {}, found {}: the PIDs seen here are "
                        "not the host's",
                        base::kInitialPidNamespaceInode, own),
      "run it there (in Kubernetes: hostPID: true)");
}

base::Result<Bounds> find_bounds(const Bounds& wanted) {
  const size_t needed = needed_descriptors(wanted);
  const auto limit = base::raise_descriptor_limit(needed);
  if (!limit) return tl::unexpected(limit.error());
  const Bounds fit = fitting_bounds(wanted, *limit);
  if (fit.total == 0) {
    return base::failure("RLIMIT_NOFILE",
                         fmt::format("at most {} files may be open, too few to serve", *limit),
                         fmt::format("set it to {}", needed));
  }
  if (fit.total < wanted.total)
    tell(fmt::format("at most {} files may be open: {} connections may wait instead of {}", *limit, fit.total,
                     wanted.total));
  return fit;
}

base::Result<std::vector<SocketPlace>> take_places(const Arguments& arguments) {
  std::vector<SocketPlace> places;
  std::vector<std::string> paths = {arguments.socket_dir + "/" + kSocketName};
  if (!arguments.compat_path.empty()) paths.push_back(arguments.compat_path);
  for (const std::string& path : paths) {
    auto place = SocketPlace::take(path);
    if (!place) {
      for (SocketPlace& taken : places) taken.remove_file();
      return tl::unexpected(place.error());
    }
    places.push_back(std::move(*place));
  }
  return places;
}

base::Result<void> serve(const Arguments& arguments) {
  if (auto host = check_namespace(arguments.namespace_is_host); !host) return host;
  ServerOptions options;
  const auto bounds = find_bounds(arguments.bounds);
  if (!bounds) return tl::unexpected(bounds.error());
  options.bounds = *bounds;
  options.connection_timeout_ms = arguments.connection_timeout_ms;
  options.metrics_file = arguments.metrics;
  options.metrics_interval_ms = arguments.metrics_interval_s * 1000;
  options.node.boot_id = read_boot_id();
  // Before the socket is there, so that nobody is told an unknown view that is known a
  // moment later.
  const auto view = find_view(arguments.view);
  if (!view) return tl::unexpected(view.error());
  options.node.view = view->view;
  if (!view->reason.empty()) tell("the NVML view is unknown: " + view->reason + "; see --view");

  block_ending_signals();
  auto places = take_places(arguments);
  if (!places) return tl::unexpected(places.error());
  std::string where;
  for (const SocketPlace& place : *places) where += (where.empty() ? "" : " and ") + place.path();
  const auto greeting = fmt::format(
      "serving {}; NVML view {}; {} connections may wait, {} of a tenant, {} ms each", where,
      to_text(options.node.view), bounds->total, bounds->per_tenant, options.connection_timeout_ms);
  auto server = Server::create(std::move(options), std::move(*places));
  if (!server) return tl::unexpected(server.error());
  if (auto dropped = drop_privileges(); !dropped) return dropped;
#ifndef __SANITIZE_THREAD__  // whose run time has a thread of its own, with needs of its own
  if (!arguments.no_filter) {
    if (auto filtered = install_filter(!arguments.metrics.empty()); !filtered) return filtered;
  }
#endif
  tell(greeting);
  return (*server)->run();
}

int report(const base::Error& error) {
  tell(error.line());
  return error.kind == base::ErrorKind::kUsage ? 2 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("Tells every process on this node its host PID, as the kernel gives it.", "hostpidd");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report({base::ErrorKind::kUsage, "", error.what(), "see hostpidd --help"});
  }
  if (!arguments.check) {
    if (!arguments.socket.empty())
      return report({base::ErrorKind::kUsage, "--socket", "goes with --check", "see --socket-dir"});
    const auto served = serve(arguments);
    return served ? 0 : report(served.error());
  }
  const std::string path =
      arguments.socket.empty() ? arguments.socket_dir + "/" + kSocketName : arguments.socket;
  const auto answer = check_broker(path, arguments.connection_timeout_ms);
  if (!answer) return report(answer.error());
  std::fwrite(answer->data(), 1, answer->size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rollcall::broker

int main(int argc, char** argv) {
  rollcall::broker::set_up_process();
  try {
    return rollcall::broker::run(argc, argv);
  } catch (const std::exception& error) {  // memory, mostly
    rollcall::broker::tell(error.what());
    return 1;
  }
}
