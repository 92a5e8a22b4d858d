// What the benchmark of the broker is made of: servers and clients as forked processes
// that start together and leave their times in shared memory. For bench/ alone.
#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/futex.h"
#include "hostpid/wire.h"

namespace rollcall::bench {

constexpr int kMostClients = 1024;
constexpr int kMostTimes = 20'000;
constexpr int64_t kMostWaitNs = 60 * base::kNsPerSecond;

[[noreturn]] inline void give_up(const std::string& why) {
  fmt::print(stderr, "broker_throughput: {}\n", why);
  _exit(1);
}

// Shared between the parent and its children.
struct Board {
  std::atomic<uint32_t> gate{0};
  std::atomic<uint32_t> ready{0};
  std::atomic<uint32_t> failed{0};
  std::array<std::atomic<int64_t>, kMostTimes> times_ns{};
  std::array<std::atomic<int64_t>, kMostClients> ended_ns{};
};

inline Board* make_board() {
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("no memory");
  return new (memory) Board{};
}

template <typename Function>
pid_t start(Function function) {
  const pid_t pid = fork();
  if (pid < 0) give_up("cannot fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(function());
  }
  return pid;
}

inline bool reap(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline void stop(pid_t pid) {
  kill(pid, SIGTERM);
  if (!reap(pid)) give_up("a server did not end well");
}

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

inline base::Fd connect_to(const sockaddr_un& address) {
  base::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

// One question and its whole answer. False: it was not answered with a PID.
inline bool ask(const sockaddr_un& address, hostpid::Command command) {
  const base::Fd fd = connect_to(address);
  unsigned char request[hostpid::kRequestBytes];
  hostpid::write_request(command, request);
  if (!fd.valid() || send(fd.get(), request, sizeof request, MSG_NOSIGNAL) != sizeof request) return false;
  unsigned char bytes[hostpid::kExtendedAnswerBytes];
  size_t length = 0;
  hostpid::ExtendedAnswer answer;
  for (;;) {
    const ssize_t got = recv(fd.get(), bytes + length, sizeof bytes - length, 0);
    if (got <= 0) return false;
    length += static_cast<size_t>(got);
    switch (hostpid::parse_answer(command, bytes, length, &answer)) {
      case hostpid::Parse::kComplete:
        return answer.status == hostpid::WireStatus::kOk;
      case hostpid::Parse::kIncomplete:
        break;
      case hostpid::Parse::kMalformed:
        return false;
    }
  }
}

inline void pass_gate(Board* board) {
  board->ready.fetch_add(1);
  while (board->gate.load() == 0) base::futex_wait(&board->gate, 0, base::kNsPerSecond);
}

inline void await_ready(Board* board, uint32_t count) {
  const int64_t until_ns = base::monotonic_ns() + kMostWaitNs;
  while (board->ready.load() < count) {
    if (base::monotonic_ns() > until_ns) give_up("clients did not get ready");
    usleep(1000);
  }
  usleep(20'000);  // so that they sleep at the gate
}

inline int64_t open_gate(Board* board) {
  const int64_t now_ns = base::monotonic_ns();
  board->gate.store(1);
  base::futex_wake(&board->gate);
  return now_ns;
}

// `clients` processes ask `each` times; their times in microseconds, and how long all of
// them took together.
struct Load {
  std::vector<double> times_us;
  double together_ms = 0;
};

inline Load apply_load(const std::string& path, hostpid::Command command, int clients, int each) {
  Board* board = make_board();
  const sockaddr_un address = address_of(path);
  std::vector<pid_t> children;
  for (int i = 0; i < clients; ++i) {
    children.push_back(start([&] {
      pass_gate(board);
      for (int k = 0; k < each; ++k) {
        const int64_t before_ns = base::monotonic_ns();
        if (!ask(address, command)) board->failed.fetch_add(1);
        board->times_ns[static_cast<size_t>(i * each + k)] = base::monotonic_ns() - before_ns;
      }
      board->ended_ns[static_cast<size_t>(i)] = base::monotonic_ns();
      return 0;
    }));
  }
  await_ready(board, static_cast<uint32_t>(clients));
  const int64_t opened_ns = open_gate(board);
  int64_t ended_ns = 0;
  for (const pid_t pid : children) {
    if (!reap(pid)) give_up("a client did not end well");
  }
  Load load;
  for (int i = 0; i < clients; ++i)
    ended_ns = std::max(ended_ns, board->ended_ns[static_cast<size_t>(i)].load());
  for (int i = 0; i < clients * each; ++i)
    load.times_us.push_back(static_cast<double>(board->times_ns[static_cast<size_t>(i)]) / 1000);
  load.together_ms = static_cast<double>(ended_ns - opened_ns) / 1e6;
  if (board->failed.load() != 0)
    give_up(fmt::format("{} requests had no PID for an answer", board->failed.load()));
  munmap(static_cast<void*>(board), sizeof *board);
  std::sort(load.times_us.begin(), load.times_us.end());
  return load;
}

// Nearest rank, of sorted values.
inline double percentile(const std::vector<double>& sorted, double p) {
  const auto rank =
      static_cast<size_t>(std::max(1.0, std::min(static_cast<double>(sorted.size()),
                                                 p / 100 * static_cast<double>(sorted.size()) + 0.999999)));
  return sorted[rank - 1];
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace rollcall::bench
