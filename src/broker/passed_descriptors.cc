// See passed_descriptors.h.
#include "broker/passed_descriptors.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83  // Linux 6.16
#endif

namespace rollcall::broker {
namespace {

constexpr suseconds_t kLongestWaitUs = 5000;

void set_timer(suseconds_t interval_us) {
  const timeval interval{0, interval_us};
  const itimerval timer{interval, interval};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

void refuse_passed_descriptors(int listener) {
  const int none = 0;
  setsockopt(listener, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof none);
}

bool takes_passed_descriptors(int socket) {
  int takes = 1;
  socklen_t length = sizeof takes;
  return getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &takes, &length) != 0 || takes != 0;
}

void Interrupter::prepare() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  prepared_ = sigaction(SIGALRM, &action, nullptr) == 0 && sigprocmask(SIG_UNBLOCK, &alarm, nullptr) == 0;
}

void Interrupter::start() const {
  if (prepared_) set_timer(kLongestWaitUs);
}

void Interrupter::stop() const {
  if (prepared_) set_timer(0);
}

}  // namespace rollcall::broker
