// What the broker costs, in ratio to the least that serving a Unix socket can cost: a loop
// that accepts, reads the request, sends as many fixed bytes, and closes. Both as a forked
// child, both asked by the same clients (a process each), in turn, in one run, so that the
// ratio holds whatever the machine is doing. The broker runs as it is shipped: without
// capabilities and with its filter of system calls.
//
//   build/bench/bin/broker_throughput [ROUNDS]     (default 11)
//
// And isolation: how long one tenant waits while another holds 2,000 connections open and
// sends nothing on them, in ratio to how long it waits when nobody does. That needs root,
// for PID namespaces of their own.
#include <sched.h>

#include "base/descriptors.h"
#include "broker/confine.h"
#include "broker/server.h"
#include "broker_load.h"

namespace {

using namespace rollcall;
using hostpid::Command;

constexpr int kThroughputClients = 64;
constexpr int kThroughputEach = 150;
constexpr int kBurstClients = 250;
constexpr int kIdleConnections = 2000;
constexpr int kVictimRequests = 2000;
constexpr int kSweepMs = 500;  // once around all of them
constexpr int kSweepPart = 20;

// --- servers ---

int serve_bare(const std::string& path, Command command) {
  const base::Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = bench::address_of(path);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 4096) != 0)
    bench::give_up("the bare loop cannot listen");
  hostpid::ExtendedAnswer answer;
  answer.pid = 1;
  unsigned char bytes[hostpid::kExtendedAnswerBytes];
  const size_t length = hostpid::write_answer(command, answer, bytes);
  for (;;) {
    const base::Fd client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    unsigned char request[hostpid::kRequestBytes];
    if (recv(client.get(), request, sizeof request, 0) != sizeof request) continue;
    if (send(client.get(), bytes, length, MSG_NOSIGNAL) < 0) continue;
  }
}

int serve_broker(const std::string& path, const broker::ServerOptions& options) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigprocmask(SIG_BLOCK, &ending, nullptr);
  auto place = broker::SocketPlace::take(path);
  if (!place) bench::give_up(place.error().line());
  std::vector<broker::SocketPlace> places;
  places.push_back(std::move(*place));
  auto server = broker::Server::create(options, std::move(places));
  if (!server) bench::give_up(server.error().line());
  if (auto dropped = broker::drop_privileges(); !dropped) bench::give_up(dropped.error().line());
  if (auto filtered = broker::install_filter(false); !filtered) bench::give_up(filtered.error().line());
  return (*server)->run() ? 0 : 1;
}

void await_served(const std::string& path) {
  const sockaddr_un address = bench::address_of(path);
  for (int i = 0; i < 2000; ++i) {
    if (bench::connect_to(address).valid()) return;
    usleep(1000);
  }
  bench::give_up("nobody serves " + path);
}

// --- what is measured ---

struct Row {
  std::string what;
  std::vector<double> bare, ours, ratio;
  const char* unit;

  void add(double b, double o, bool more_is_better) {
    bare.push_back(b);
    ours.push_back(o);
    ratio.push_back(more_is_better ? b / o : o / b);
  }
  void print() const {
    const auto [least, most] = std::minmax_element(ratio.begin(), ratio.end());
    fmt::print("{:<34} {:>10.1f} {:>10.1f} {:<5} {:>6.2f}   ({:.2f} to {:.2f})\n", what, bench::median(bare),
               bench::median(ours), unit, bench::median(ratio), *least, *most);
  }
};

void compare_with_bare(const std::string& folder, int rounds) {
  fmt::print("{:<34} {:>10} {:>10}       {:>6}   least to most, {} rounds\n", "", "bare loop", "hostpidd",
             "ratio", rounds);
  for (const Command command : {Command::kPid, Command::kExtended}) {
    const int number = static_cast<int>(command);
    const std::string bare = fmt::format("{}/bare{}", folder, number);
    const std::string ours = fmt::format("{}/ours{}/broker.sock", folder, number);
    const pid_t bare_pid = bench::start([&] { return serve_bare(bare, command); });
    const pid_t ours_pid = bench::start([&] { return serve_broker(ours, {}); });
    await_served(bare);
    await_served(ours);
    Row throughput{fmt::format("command {}: {} clients", number, kThroughputClients), {}, {}, {}, "1/s"};
    Row p50{fmt::format("command {}: {} at once, p50", number, kBurstClients), {}, {}, {}, "us"};
    Row p99{fmt::format("command {}: {} at once, p99", number, kBurstClients), {}, {}, {}, "us"};
    for (int round = 0; round <= rounds; ++round) {  // the first warms up and does not count
      const auto load = [&](const std::string& path) {
        return bench::apply_load(path, command, kThroughputClients, kThroughputEach);
      };
      const auto burst = [&](const std::string& path) {
        return bench::apply_load(path, command, kBurstClients, 1);
      };
      // Who is first changes, so that it favours nobody.
      const bool bare_first = round % 2 == 0;
      const auto first = load(bare_first ? bare : ours);
      const auto second = load(bare_first ? ours : bare);
      const auto first_burst = burst(bare_first ? bare : ours);
      const auto second_burst = burst(bare_first ? ours : bare);
      if (round == 0) continue;
      const double total = kThroughputClients * kThroughputEach * 1000.0;
      const auto& b = bare_first ? first : second;
      const auto& o = bare_first ? second : first;
      throughput.add(total / b.together_ms, total / o.together_ms, true);
      const auto& bb = bare_first ? first_burst : second_burst;
      const auto& ob = bare_first ? second_burst : first_burst;
      p50.add(bench::percentile(bb.times_us, 50), bench::percentile(ob.times_us, 50), false);
      p99.add(bench::percentile(bb.times_us, 99), bench::percentile(ob.times_us, 99), false);
    }
    throughput.print();
    p50.print();
    p99.print();
    bench::stop(ours_pid);
    kill(bare_pid, SIGKILL);
    bench::reap(bare_pid);
  }
}

// Keeps that many connections open for ever: goes through them all the time, some at once,
// and opens again what was closed.
int hold_idle(const std::string& path, bench::Board* board) {
  if (!base::raise_descriptor_limit(kIdleConnections + 64)) return 1;
  const sockaddr_un address = bench::address_of(path);
  std::vector<base::Fd> held(kIdleConnections);
  for (size_t at = 0;; at = (at + 1) % held.size()) {
    base::Fd& fd = held[at];
    pollfd closed{fd.get(), POLLIN, 0};
    if (!fd.valid() || poll(&closed, 1, 0) != 0) fd = bench::connect_to(address);
    if (at + 1 == held.size()) board->ready.store(1);
    if (board->ready.load() == 1 && at % kSweepPart == 0)
      usleep(kSweepMs * 1000 * kSweepPart / kIdleConnections);
  }
}

// In a PID namespace of its own.
template <typename Function>
pid_t start_tenant(Function function) {
  return bench::start([&] {
    if (unshare(CLONE_NEWPID) != 0) bench::give_up("cannot make a PID namespace");
    const pid_t inner = bench::start(function);
    return bench::reap(inner) ? 0 : 1;
  });
}

std::vector<double> victim_times(const std::string& path) {
  bench::Board* board = bench::make_board();
  const sockaddr_un address = bench::address_of(path);
  const pid_t tenant = start_tenant([&] {
    for (int i = 0; i < kVictimRequests; ++i) {
      const int64_t before_ns = base::monotonic_ns();
      if (!bench::ask(address, Command::kExtended)) board->failed.fetch_add(1);
      board->times_ns[static_cast<size_t>(i)] = base::monotonic_ns() - before_ns;
    }
    return 0;
  });
  if (!bench::reap(tenant)) bench::give_up("the other tenant did not end well");
  if (board->failed.load() != 0)
    bench::give_up(fmt::format("{} requests were not answered", board->failed.load()));
  std::vector<double> times;
  for (int i = 0; i < kVictimRequests; ++i)
    times.push_back(static_cast<double>(board->times_ns[static_cast<size_t>(i)]) / 1000);
  std::sort(times.begin(), times.end());
  munmap(static_cast<void*>(board), sizeof *board);
  return times;
}

void measure_isolation(const std::string& folder, const char* name, const broker::ServerOptions& options,
                       int rounds) {
  const std::string path = fmt::format("{}/isolation-{}/broker.sock", folder, options.bounds.per_tenant);
  const pid_t server = bench::start([&] { return serve_broker(path, options); });
  await_served(path);
  Row p50{fmt::format("{}, p50", name), {}, {}, {}, "us"};
  Row p99{fmt::format("{}, p99", name), {}, {}, {}, "us"};
  for (int round = 0; round <= rounds; ++round) {
    const auto alone = victim_times(path);
    bench::Board* board = bench::make_board();
    const pid_t holder = start_tenant([&] { return hold_idle(path, board); });
    bench::await_ready(board, 1);
    const auto beside = victim_times(path);
    kill(holder, SIGKILL);
    bench::reap(holder);
    munmap(static_cast<void*>(board), sizeof *board);
    usleep(100'000);
    if (round == 0) continue;
    p50.add(bench::percentile(alone, 50), bench::percentile(beside, 50), false);
    p99.add(bench::percentile(alone, 99), bench::percentile(beside, 99), false);
  }
  p50.print();
  p99.print();
  bench::stop(server);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 11;
  if (rounds < 1 || rounds > 1000) {
    fmt::print(stderr, "usage: broker_throughput [ROUNDS (1 to 1000)]\n");
    return 2;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);
  fflush(stdout);
  broker::ServerOptions roomy;  // so that the 2,000 are truly held
  roomy.bounds = {2500, 4096};
  roomy.connection_timeout_ms = 60'000;
  if (!base::raise_descriptor_limit(broker::needed_descriptors(roomy.bounds))) return 1;
  char folder[] = "/tmp/rollcall-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  compare_with_bare(folder, rounds);
  if (geteuid() == 0) {
    fmt::print("\n{:<34} {:>10} {:>10}       {:>6}\n", "another tenant's requests", "alone", "beside",
               "ratio");
    measure_isolation(folder, "2,000 tried, 512 may wait", {}, rounds);
    measure_isolation(folder, "2,000 held for a minute", roomy, rounds);
  } else {
    fmt::print("isolation is not measured: PID namespaces need root\n");
  }
  return system(fmt::format("rm -rf {}", folder).c_str()) == 0 ? 0 : 1;
}
