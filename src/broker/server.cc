// A connection's request is mostly there when it is accepted, or a moment later. So each
// is read once before anything is set up for it, and answered and closed on the spot: no
// epoll, no tenant, no table. Only what has to wait costs more.
#include "broker/server.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/clock.h"
#include "broker/metrics_file.h"

namespace rollcall::broker {
namespace {

constexpr int kEventsPerWait = 64;
// So that a flood of newcomers does not keep those waiting who have sent their request.
constexpr int kAcceptsPerTurn = 64;
// Standard streams, locks, listeners, epoll, signals, the spare one, a file in /proc, the
// metrics, and what a turn has accepted but not yet read.
constexpr size_t kOwnDescriptors = 32 + kAcceptsPerTurn;
constexpr size_t kPerConnection = 2;
constexpr int64_t kLastRequestsMs = 10;
constexpr int kBreathMs = 1;
constexpr int64_t kComplaintIntervalNs = 10 * base::kNsPerSecond;
// A client can hold on to a socket that has lost its name; the end must come all the same.
constexpr int64_t kMostEndingNs = base::kNsPerSecond;

// What an event is about, in the upper half of its data; a connection has its generation
// there, which begins after these.
constexpr uint32_t kSignals = 0;
constexpr uint32_t kListener = 1;

double now_since_epoch_s() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

bool out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

}  // namespace

size_t needed_descriptors(const Bounds& bounds) {
  return kOwnDescriptors + kPerConnection * bounds.total;
}

Bounds fitting_bounds(Bounds bounds, size_t descriptors) {
  const size_t fit = descriptors <= kOwnDescriptors ? 0 : (descriptors - kOwnDescriptors) / kPerConnection;
  bounds.total = static_cast<uint32_t>(std::min<size_t>(bounds.total, fit));
  bounds.per_tenant = std::min(bounds.per_tenant, bounds.total);
  return bounds;
}

Server::Server(ServerOptions options, std::vector<SocketPlace> places)
    : options_(std::move(options)),
      places_(std::move(places)),
      admission_(options_.bounds),
      connections_(options_.bounds.total) {}

base::Result<std::unique_ptr<Server>> Server::create(ServerOptions options, std::vector<SocketPlace> places) {
  std::unique_ptr<Server> server(new Server(std::move(options), std::move(places)));
  if (auto ready = server->set_up(); !ready) return tl::unexpected(ready.error());
  return server;
}

base::Result<void> Server::set_up() {
  start_time_s_ = now_since_epoch_s();
  epoll_ = base::Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return base::system_failure("hostpidd", "make an epoll", errno);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  signals_ = base::Fd(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return base::system_failure("hostpidd", "make a signal descriptor", errno);
  spare_ = base::Fd(eventfd(0, EFD_CLOEXEC));
  if (!spare_.valid()) return base::system_failure("hostpidd", "keep a spare descriptor", errno);
  auto result = watch(signals_.get(), uint64_t{kSignals} << 32);
  for (size_t i = 0; i < places_.size() && result; ++i) {
    result = watch(places_[i].listener(), uint64_t{kListener} << 32 | i);
    if (takes_passed_descriptors(places_[i].listener())) interrupter_.prepare();
  }
  return result;
}

base::Result<void> Server::watch(int fd, uint64_t data) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = data;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return base::system_failure("hostpidd", "watch a descriptor", errno);
}

int Server::wait_ms(int64_t now_ns) const {
  int64_t until_ns = INT64_MAX;
  if (!due_.empty()) until_ns = deadline_ns(connections_[due_.front()]);
  if (!options_.metrics_file.empty()) until_ns = std::min(until_ns, metrics_due_ns_);
  if (until_ns == INT64_MAX) return -1;
  const int64_t left_ms = (until_ns - now_ns + base::kNsPerMs - 1) / base::kNsPerMs;
  return static_cast<int>(std::clamp<int64_t>(left_ms, 0, 60'000));
}

int Server::await_events(epoll_event* events, int capacity, int timeout_ms) const {
  interrupter_.stop();
  const int count = epoll_wait(epoll_.get(), events, capacity, timeout_ms);
  const int error = errno;
  interrupter_.start();
  errno = error;
  return count;
}

base::Result<void> Server::run() {
  for (;;) {
    int64_t now_ns = base::monotonic_ns();
    expire(now_ns);
    if (!options_.metrics_file.empty() && now_ns >= metrics_due_ns_) write_metrics(now_ns);
    std::array<epoll_event, kEventsPerWait> events;
    const int count = await_events(events.data(), kEventsPerWait, wait_ms(now_ns));
    if (count < 0 && errno != EINTR) return base::system_failure("hostpidd", "wait for clients", errno);
    bool asked_to_end = false;
    for (int i = 0; i < count; ++i) {
      const auto what = static_cast<uint32_t>(events[i].data.u64 >> 32);
      const auto number = static_cast<uint32_t>(events[i].data.u64);
      if (what == kSignals) {
        asked_to_end = true;
      } else if (what == kListener) {
        accept_all(places_[number].listener());
      } else {
        receive(number, what);
      }
    }
    if (asked_to_end) {
      end();
      return {};
    }
  }
}

void Server::accept_all(int listener) {
  struct Newcomer {
    base::Fd socket;
    int64_t accepted_ns = 0;
  };
  std::array<Newcomer, kAcceptsPerTurn> newcomers;
  size_t count = 0;
  while (count < newcomers.size()) {
    Newcomer& newcomer = newcomers[count];
    newcomer.socket.reset(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!newcomer.socket.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (out_of_descriptors(errno)) accept_without_descriptors(listener, errno);
      break;
    }
    newcomer.accepted_ns = base::monotonic_ns();
    ++counters_.accepted;
    ++count;
  }
  for (size_t i = 0; i < count; ++i) {
    Connection connection;
    connection.socket = std::move(newcomers[i].socket);
    connection.accepted_ns = newcomers[i].accepted_ns;
    if (advance(connection)) let_wait(std::move(connection));
  }
}

// Otherwise the client would stay in the backlog and the listener ready: a busy loop that
// helps nobody. So exactly one is accepted with the spare descriptor, and told.
void Server::accept_without_descriptors(int listener, int error) {
  spare_.reset();
  Connection connection;
  connection.socket = base::Fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (connection.socket.valid()) {
    ++counters_.accepted;
    refuse(connection, Refusal::kNoDescriptors, hostpid::WireStatus::kBusy);
  } else {
    poll(nullptr, 0, kBreathMs);  // somebody else was quicker; not in a busy loop
  }
  spare_ = base::Fd(eventfd(0, EFD_CLOEXEC));
  complain(base::system_failure("hostpidd", "accept a client", error, "it was told that we are busy")
               .value()
               .line());
}

// No new client finds the socket; those that had connected are answered if their request
// is there, and told to ask again (which finds our successor) if it is not.
void Server::end() {
  for (SocketPlace& place : places_) place.remove_file();
  const int64_t until_ns = base::monotonic_ns() + kMostEndingNs;
  for (SocketPlace& place : places_) {
    uint64_t before = 0;
    do {
      before = counters_.accepted;
      accept_all(place.listener());
    } while (counters_.accepted != before && base::monotonic_ns() < until_ns);
    place.close_listener();
  }
  await_last_requests();
  while (!due_.empty()) {
    const Place place = due_.front();
    refuse(connections_[place], Refusal::kEnding, hostpid::WireStatus::kBusy);
    forget(place);
  }
  if (!options_.metrics_file.empty()) write_metrics(base::monotonic_ns());
}

// A client sends its request at once after it has connected, so it is on its way.
void Server::await_last_requests() {
  const int64_t until_ns = base::monotonic_ns() + kLastRequestsMs * base::kNsPerMs;
  signalfd_siginfo info;
  if (read(signals_.get(), &info, sizeof info) < 0) return;
  for (;;) {
    const int64_t left_ms = (until_ns - base::monotonic_ns() + base::kNsPerMs - 1) / base::kNsPerMs;
    if (due_.empty() || left_ms <= 0) return;
    std::array<epoll_event, kEventsPerWait> events;
    const int count = await_events(events.data(), kEventsPerWait, static_cast<int>(left_ms));
    for (int i = 0; i < count; ++i) {
      const auto what = static_cast<uint32_t>(events[i].data.u64 >> 32);
      if (what == kSignals) return;  // asked again
      if (what != kListener) receive(static_cast<uint32_t>(events[i].data.u64), what);
    }
  }
}

void Server::write_metrics(int64_t now_ns) {
  metrics_due_ns_ = now_ns + options_.metrics_interval_ms * base::kNsPerMs;
  const Moment moment{admission_.waiting(), admission_.tenants(), start_time_s_, options_.node.view};
  if (auto wrote = replace_file(options_.metrics_file, metrics_text(counters_, moment)); !wrote) {
    ++counters_.metrics_failures;
    complain(wrote.error().line());
  }
}

// A fault that comes with every client must not fill a disk; and a log that nobody reads, as
// one that has stalled, must not stop us.
void Server::complain(const std::string& what) {
  const int64_t now_ns = base::monotonic_ns();
  pollfd log{STDERR_FILENO, POLLOUT, 0};
  if (now_ns < next_complaint_ns_ || poll(&log, 1, 0) != 1 || (log.revents & POLLOUT) == 0) {
    ++complaints_withheld_;
    return;
  }
  next_complaint_ns_ = now_ns + kComplaintIntervalNs;
  const std::string withheld = complaints_withheld_ == 0
                                   ? ""
                                   : " (" + std::to_string(complaints_withheld_) + " more were not printed)";
  complaints_withheld_ = 0;
  const std::string line = "hostpidd: " + what + withheld + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody to tell
}

}  // namespace rollcall::broker
