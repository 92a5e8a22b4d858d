// Connections, processes and the loop. A process is alive while a connection of
// it is open and its pidfd is silent: a forked child that inherited the socket
// therefore cannot keep a dead parent's contexts, and a process that closes its
// connections but lives on gives them up. What operations mean stands in
// server_operations.cc.
#include "simgpu/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/peer.h"
#include "simgpu/peer.h"

namespace rollcall::simgpu {
namespace {

constexpr int kEventsPerWait = 64;
constexpr int kAcceptsPerWait = 64;
// A process has at most one connection for each of the two libraries; some room
// for libraries that are loaded twice.
constexpr int kMaxConnectionsPerProcess = 8;
constexpr size_t kConnectionsPerClient = 2;
constexpr size_t kSpareConnections = 64;
constexpr int kMaxReports = 32;
constexpr unsigned kSourceShift = 56;

}  // namespace

Server::Server(ServerOptions options, base::Fd listener, base::Fd lifeline)
    : options_(std::move(options)),
      state_({static_cast<unsigned>(options_.profile.gpus), options_.profile.memory_mib << 20,
              options_.profile.context_mib << 20, options_.profile.granularity_kib << 10}),
      model_(options_.time_scale, options_.profile.jitter, options_.seed),
      listener_(std::move(listener)),
      lifeline_(std::move(lifeline)) {
  const Profile& profile = options_.profile;
  info_.gpus = static_cast<uint32_t>(profile.gpus);
  info_.cuda_version = profile.cuda_version;
  info_.multiprocessors = profile.multiprocessors;
  info_.threads_per_multiprocessor = profile.threads_per_multiprocessor;
  info_.features = profile.nvml.persistence ? kFeaturePersistence : 0;
  info_.memory_bytes = profile.memory_mib << 20;
  std::snprintf(info_.device_name, sizeof info_.device_name, "%s", profile.device_name.c_str());
  std::snprintf(info_.driver_version, sizeof info_.driver_version, "%s", profile.driver_version.c_str());
}

base::Result<std::unique_ptr<Server>> Server::create(ServerOptions options, base::Fd listener,
                                                     base::Fd lifeline) {
  std::unique_ptr<Server> server(new Server(std::move(options), std::move(listener), std::move(lifeline)));
  if (auto result = server->set_up(); !result) return tl::unexpected(result.error());
  return server;
}

base::Result<void> Server::set_up() {
  epoll_ = base::Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return base::system_failure("simgpud", "make an epoll", errno);
  timer_ = base::Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_.valid()) return base::system_failure("simgpud", "make a timer", errno);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  signals_ = base::Fd(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return base::system_failure("simgpud", "make a signal descriptor", errno);
  spare_ = base::Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));

  auto result = watch(listener_.get(), Source::kListener, 0);
  if (result) result = watch(timer_.get(), Source::kTimer, 0);
  if (result) result = watch(signals_.get(), Source::kSignals, 0);
  if (result && lifeline_.valid()) result = watch(lifeline_.get(), Source::kLifeline, 0);
  return result;
}

base::Result<void> Server::watch(int fd, Source source, uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = static_cast<uint64_t>(source) << kSourceShift | number;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return base::system_failure("simgpud", "watch a descriptor", errno);
  }
  return {};
}

base::Result<void> Server::run() {
  for (;;) {
    set_timer();
    std::array<epoll_event, kEventsPerWait> events;
    const int count = epoll_wait(epoll_.get(), events.data(), kEventsPerWait, -1);
    if (count < 0 && errno != EINTR) return base::system_failure("simgpud", "wait for clients", errno);
    // What ended while we slept ended before what arrived while we slept.
    complete_due();
    for (int i = 0; i < count; ++i) {
      const uint64_t number = events[i].data.u64 & ((uint64_t{1} << kSourceShift) - 1);
      switch (static_cast<Source>(events[i].data.u64 >> kSourceShift)) {
        case Source::kSignals:
          return {};
        case Source::kLifeline: {
          char byte = 0;
          if (read(lifeline_.get(), &byte, 1) <= 0) return {};
          break;
        }
        case Source::kTimer: {
          uint64_t expirations = 0;
          if (read(timer_.get(), &expirations, sizeof expirations) > 0) timer_set_for_ns_ = 0;
          break;
        }
        case Source::kListener:
          accept_clients();
          break;
        case Source::kProcess:
          process_died(number);
          break;
        case Source::kConnection:
          receive(number);
          break;
      }
    }
    complete_due();
  }
}

// A timer descriptor has the kernel's full resolution; a timeout of a wait may
// be late by the thread's timer slack, 50 µs by default.
void Server::set_timer() {
  const int64_t next_ns = model_.next_event_ns().value_or(0);
  if (next_ns == timer_set_for_ns_) return;
  itimerspec when{};
  // A time of zero would disarm it; one in the past fires at once.
  if (next_ns != 0) when.it_value = base::to_timespec(next_ns);
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  timer_set_for_ns_ = next_ns;
}

void Server::accept_clients() {
  for (int i = 0; i < kAcceptsPerWait; ++i) {
    base::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.valid()) {
      admit(std::move(fd));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EMFILE && errno != ENFILE) return;
    // The one who waits is sent away, or it would wait for ever and keep the
    // listener readable all the time.
    report("simgpud: no descriptors left: a client was sent away; raise the limit of open files");
    spare_.reset();
    base::Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)).reset();
    spare_ = base::Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return;
  }
}

void Server::admit(base::Fd fd) {
  const size_t most = static_cast<size_t>(options_.max_clients) * kConnectionsPerClient + kSpareConnections;
  if (connections_.size() >= most) {
    report("simgpud: more than " + std::to_string(most) +
           " connections: a client was sent away; raise --max-clients");
    return;
  }
  Connection connection;
  auto process = process_of(fd.get(), connection.refusal);
  // Refused ones are told so in the answer to their greeting.
  if (!process) report("simgpud: " + process.error().line());
  connection.process = process.value_or(0);
  const uint64_t number = next_number_++;
  if (!watch(fd.get(), Source::kConnection, number)) return;
  connection.fd = std::move(fd);
  if (connection.process != 0) ++processes_.at(connection.process).connections;
  connections_.emplace(number, std::move(connection));
}

// The process behind a new connection: a known one, or one that is made known.
base::Result<uint64_t> Server::process_of(int fd, Status& refusal) {
  refusal = Status::kUnidentified;
  const auto peer = identify_peer(fd);
  if (!peer) return tl::unexpected(peer.error());
  if (const auto found = process_by_pid_.find(peer->pid); found != process_by_pid_.end()) {
    const Process& known = processes_.at(found->second);
    if (known.start_time == peer->start_time) {
      if (known.connections < kMaxConnectionsPerProcess) return found->second;
      refusal = Status::kTooManyClients;
      return base::failure(
          "client " + std::to_string(peer->pid),
          "has " + std::to_string(known.connections) + " connections already; it was refused another");
    }
    process_died(found->second);  // its number has a new owner
  }
  if (processes_.size() >= static_cast<size_t>(options_.max_clients)) {
    refusal = Status::kTooManyClients;
    return base::failure(
        "client " + std::to_string(peer->pid),
        "refused: there are " + std::to_string(processes_.size()) + " clients, the most allowed",
        "raise --max-clients");
  }
  auto pidfd = open_peer_pidfd(fd, *peer);
  if (!pidfd) return tl::unexpected(pidfd.error());
  Process process;
  if (options_.view == evidence::NvmlView::kTranslated) {
    auto names = read_name_chain(peer->pid);
    if (!names) return tl::unexpected(names.error());
    process.names = std::move(*names);
  } else {
    process.names = {{0, peer->pid}};
  }
  process.listed = process.names;
  if (base::pidfd_dead(pidfd->get())) {
    return base::failure("client " + std::to_string(peer->pid), "ended while it connected");
  }
  const uint64_t number = next_number_++;
  if (auto watched = watch(pidfd->get(), Source::kProcess, number); !watched)
    return tl::unexpected(watched.error());
  process.pid = peer->pid;
  process.start_time = peer->start_time;
  process.pidfd = std::move(*pidfd);
  process_by_pid_[peer->pid] = number;
  processes_.emplace(number, std::move(process));
  state_.add_process(number);
  return number;
}

void Server::receive(uint64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  Request request;
  // MSG_TRUNC: the real length of a packet that is longer than a request.
  const ssize_t length = recv(connection.fd.get(), &request, sizeof request, MSG_TRUNC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length <= 0) return drop_connection(number);
  Reply refusal;
  if (!well_formed(request, static_cast<size_t>(length)) || connection.busy) {
    refusal.status = Status::kInvalid;
  } else if (connection.process == 0) {
    refusal.status = connection.refusal;
  } else {
    connection.request = request;
    return begin(number, connection);
  }
  answer(number, refusal, {});
  drop_connection(number);
}

void Server::drop_connection(uint64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  const uint64_t process = found->second.process;
  model_.abandon(number);
  connections_.erase(found);  // closing it takes it out of the epoll
  if (process == 0) return;
  if (--processes_.at(process).connections == 0) process_died(process);
}

void Server::process_died(uint64_t number) {
  const auto found = processes_.find(number);
  if (found == processes_.end()) return;
  std::erase_if(connections_, [&](const auto& entry) {
    if (entry.second.process != number) return false;
    model_.abandon(entry.first);
    return true;
  });
  state_.remove_process(number);
  process_by_pid_.erase(found->second.pid);
  // The pidfd may have a copy (SCM_RIGHTS is not used here, fork is not either),
  // so closing the last one takes it out of the epoll.
  processes_.erase(found);
}

// A flood of broken clients must not become a flood of lines.
void Server::report(const std::string& line) {
  if (reported_ > kMaxReports) return;
  if (++reported_ > kMaxReports) {
    std::fprintf(stderr, "simgpud: further messages of this kind are left out\n");
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

}  // namespace rollcall::simgpu
