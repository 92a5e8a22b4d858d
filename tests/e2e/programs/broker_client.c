/* A client of the node broker that says what it is told to, byte for byte.
 *
 *   broker_client raw PATH HEX [PAUSE_MS | shut]   sends the bytes (one at a time with a pause, or
 *       ends its side after them); prints what comes back, in hex, until the broker closes
 *   broker_client ask PATH COMMAND COUNT           asks so often, each on a connection of its own and
 *       with at most one retry; prints how many were answered, retried, failed and wrong: an answer
 *       is right if it is this process's PID
 *   broker_client hold PATH COUNT                  keeps so many connections open and sends nothing;
 *       opens again what is closed; prints "held" once all were opened; until it is killed
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { kMostBytes = 4096, kMostHeld = 8192, kPatienceMs = 20000, kGraceMs = 5000, kPauseMs = 20 };

static int connect_to(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr*)&address, sizeof address) == 0) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return -1;
}

/* A broker that is starting again: nobody there for a moment. */
static int connect_patiently(const char* path) {
  for (int waited_ms = 0;; ++waited_ms) {
    const int fd = connect_to(path);
    if (fd >= 0 || (errno != ENOENT && errno != ECONNREFUSED) || waited_ms == kGraceMs) return fd;
    usleep(1000);
  }
}

/* All bytes until the end of the stream; -1 if there is none in time. */
static ssize_t read_all(int fd, unsigned char* bytes, size_t capacity) {
  size_t length = 0;
  while (length < capacity) {
    struct pollfd waiting = {fd, POLLIN, 0};
    if (poll(&waiting, 1, kPatienceMs) != 1) return -1;
    const ssize_t got = recv(fd, bytes + length, capacity - length, 0);
    if (got <= 0) break;
    length += (size_t)got;
  }
  return (ssize_t)length;
}

static int raw(const char* path, const char* hex, const char* how) {
  const int fd = connect_to(path);
  if (fd < 0) return perror("connect"), 1;
  const int pause_ms = how != NULL ? atoi(how) : 0;
  unsigned char bytes[kMostBytes];
  size_t length = 0;
  for (; hex[2 * length] != '\0' && length < sizeof bytes; ++length) {
    unsigned value = 0;
    if (sscanf(hex + 2 * length, "%2x", &value) != 1) return 2;
    bytes[length] = (unsigned char)value;
  }
  if (pause_ms == 0 && length > 0 && send(fd, bytes, length, MSG_NOSIGNAL) < 0) perror("send");
  for (size_t i = 0; pause_ms > 0 && i < length; ++i) {
    if (send(fd, bytes + i, 1, MSG_NOSIGNAL) != 1) break;
    usleep((useconds_t)pause_ms * 1000);
  }
  if (how != NULL && strcmp(how, "shut") == 0) shutdown(fd, SHUT_WR);
  const ssize_t got = read_all(fd, bytes, sizeof bytes);
  if (got < 0) return fprintf(stderr, "the broker did not close\n"), 1;
  for (ssize_t i = 0; i < got; ++i) printf("%02x", bytes[i]);
  printf("\n");
  return 0;
}

enum answer { kRight, kWrong, kNone };

static enum answer ask_once(const char* path, int command) {
  const int fd = connect_patiently(path);
  if (fd < 0) return fprintf(stderr, "connect: %s\n", strerror(errno)), kNone;
  const unsigned char request[8] = {'H', 'P', 'I', 'D', 0, 1, 0, (unsigned char)command};
  unsigned char bytes[kMostBytes];
  const ssize_t sent = send(fd, request, sizeof request, MSG_NOSIGNAL);
  const ssize_t got = sent == sizeof request ? read_all(fd, bytes, sizeof bytes) : -1;
  close(fd);
  if (got != (command == 1 ? 12 : 52) || bytes[7] != 0) {
    fprintf(stderr, "sent %zd, got %zd bytes, status %d: %s\n", sent, got, got > 7 ? bytes[7] : -1,
            strerror(errno));
    return kNone;
  }
  const unsigned pid =
      (unsigned)bytes[8] << 24 | (unsigned)bytes[9] << 16 | (unsigned)bytes[10] << 8 | bytes[11];
  return pid == (unsigned)getpid() ? kRight : kWrong;
}

static int ask(const char* path, int command, int count) {
  int right = 0, retried = 0, failed = 0, wrong = 0;
  for (int i = 0; i < count; ++i) {
    enum answer answer = ask_once(path, command);
    if (answer == kNone) {
      ++retried;
      /* The listener of a killed broker can outlive the connections by a moment. */
      usleep(kPauseMs * 1000);
      answer = ask_once(path, command);
    }
    right += answer == kRight;
    wrong += answer == kWrong;
    failed += answer == kNone;
  }
  printf("right %d retried %d failed %d wrong %d\n", right, retried, failed, wrong);
  return wrong != 0;
}

static int hold(const char* path, int count) {
  static int held[kMostHeld];
  const struct rlimit limit = {kMostHeld + 64, kMostHeld + 64};
  if (count < 1 || count > kMostHeld || setrlimit(RLIMIT_NOFILE, &limit) != 0) return perror("limit"), 2;
  for (int i = 0; i < count; ++i) held[i] = -1;
  for (int said = 0;; said = 1) {
    for (int i = 0; i < count; ++i) {
      struct pollfd closed = {held[i], POLLIN, 0};
      if (held[i] >= 0 && poll(&closed, 1, 0) == 0) continue;
      if (held[i] >= 0) close(held[i]);
      held[i] = connect_to(path);
    }
    if (!said) printf("held\n"), fflush(stdout);
    usleep(50000);
  }
}

int main(int argc, char** argv) {
  if (argc >= 4 && strcmp(argv[1], "raw") == 0) return raw(argv[2], argv[3], argc > 4 ? argv[4] : NULL);
  if (argc == 5 && strcmp(argv[1], "ask") == 0) return ask(argv[2], atoi(argv[3]), atoi(argv[4]));
  if (argc == 4 && strcmp(argv[1], "hold") == 0) return hold(argv[2], atoi(argv[3]));
  fprintf(stderr,
          "usage: broker_client raw PATH HEX [PAUSE_MS|shut] | ask PATH COMMAND COUNT | hold PATH COUNT\n");
  return 2;
}
