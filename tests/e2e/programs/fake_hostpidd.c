/* Takes hostpidd's place where a test is about what the launcher does with a broker:
   serves nobody, but makes the socket and says so with its arguments.

   FAKE_HOSTPIDD_MODE:
     (unset)   serves until it is told to end
     refuse    says why it does not, and ends
     die       serves, and ends when the run has begun
     stubborn  does not end when it is told to */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int mode_is(const char* name) {
  const char* mode = getenv("FAKE_HOSTPIDD_MODE");
  return mode && strcmp(mode, name) == 0;
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], "--socket-dir") == 0) {
      snprintf(address.sun_path, sizeof address.sun_path, "%.90s/broker.sock", argv[i + 1]);
    }
  }
  if (mode_is("refuse")) {
    fprintf(stderr, "a first line\nhostpidd: no mood to serve\n");
    return 1;
  }
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(fd, (struct sockaddr*)&address, sizeof address) != 0 || listen(fd, 8) != 0) {
    perror(address.sun_path);
    return 1;
  }
  if (mode_is("stubborn")) signal(SIGTERM, SIG_IGN);
  fprintf(stderr, "serving with");
  for (int i = 1; i < argc; ++i) fprintf(stderr, " %s", argv[i]);
  fprintf(stderr, "\n");
  if (mode_is("die")) {
    usleep(100000); /* the workers hold for longer */
    return 1;
  }
  for (;;) pause();
}
