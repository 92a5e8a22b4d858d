// Open files that a client sends along must not stop the broker, whatever their closing
// waits for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/peer.h"
#include "base/process.h"
#include "broker/server.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "hostpid/wire.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

namespace rollcall::broker {
namespace {

constexpr int kAnHourS = 3600;

// A TCP connection whose closing waits for an hour: its peer reads nothing.
struct Lingering {
  base::Fd listener{socket(AF_INET, SOCK_STREAM, 0)};
  base::Fd sender{socket(AF_INET, SOCK_STREAM, 0)};
  base::Fd peer;

  Lingering() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    EXPECT_EQ(bind(listener.get(), any, sizeof address), 0);
    EXPECT_EQ(listen(listener.get(), 1), 0);
    EXPECT_EQ(getsockname(listener.get(), any, &length), 0);
    EXPECT_EQ(connect(sender.get(), any, sizeof address), 0);
    peer.reset(accept(listener.get(), nullptr, nullptr));
    const std::array<char, 65536> nothing{};
    while (send(sender.get(), nothing.data(), nothing.size(), MSG_DONTWAIT) > 0) {
    }
    const linger hour{1, kAnHourS};
    EXPECT_EQ(setsockopt(sender.get(), SOL_SOCKET, SO_LINGER, &hour, sizeof hour), 0);
  }
  Lingering(const Lingering&) = delete;
  Lingering& operator=(const Lingering&) = delete;
  // Its own closing must not wait either.
  ~Lingering() {
    const linger none{};
    setsockopt(sender.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  }
};

base::Fd connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  base::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const timeval patience{test::kPatienceS, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

// A request with a descriptor.
bool send_with(int socket, int passed) {
  unsigned char request[hostpid::kRequestBytes];
  hostpid::write_request(hostpid::Command::kPid, request);
  iovec bytes{request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed)] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof request;
}

bool is_answered(const std::string& path) {
  const base::Fd client = connect_to(path);
  unsigned char bytes[hostpid::kExtendedAnswerBytes];
  hostpid::write_request(hostpid::Command::kPid, bytes);
  if (send(client.get(), bytes, hostpid::kRequestBytes, MSG_NOSIGNAL) != hostpid::kRequestBytes) return false;
  return recv(client.get(), bytes, sizeof bytes, 0) == hostpid::kAnswerBytes;
}

TEST(PassedDescriptors, CannotBeSentWhereTheKernelCanRefuseThem) {
  const base::Fd probe(socket(AF_UNIX, SOCK_STREAM, 0));
  int takes = 0;
  socklen_t length = sizeof takes;
  if (getsockopt(probe.get(), SOL_SOCKET, SO_PASSRIGHTS, &takes, &length) != 0) GTEST_SKIP() << "before 6.16";
  const test::TemporaryFolder folder;
  const auto place = SocketPlace::take(folder.path() / "broker.sock");
  ASSERT_TRUE(place) << place.error().line();
  EXPECT_FALSE(takes_passed_descriptors(place->listener()));
  const base::Fd client = connect_to(place->path());
  EXPECT_FALSE(send_with(client.get(), STDIN_FILENO));
  EXPECT_EQ(errno, EPERM);
}

// As on an older kernel.
TEST(PassedDescriptors, OneWhoseClosingWaitsDoesNotStopTheBroker) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "broker.sock";
  auto place = SocketPlace::take(path);
  ASSERT_TRUE(place) << place.error().line();
  const int yes = 1;
  setsockopt(place->listener(), SOL_SOCKET, SO_PASSRIGHTS, &yes, sizeof yes);
  ServerOptions options;
  options.bounds = fitting_bounds(options.bounds, 256);
  std::vector<SocketPlace> places;
  places.push_back(std::move(*place));
  auto server = Server::create(std::move(options), std::move(places));
  ASSERT_TRUE(server) << server.error().line();
  Lingering lingering;
  const base::Fd client = connect_to(path);
  ASSERT_TRUE(send_with(client.get(), lingering.sender.get()));
  // The broker's is the last there is, as it would be where the client has ended.
  lingering.sender.reset();
  test::ForkedChild broker([&] {
    lingering.listener.reset();
    lingering.peer.reset();
    return (*server)->run() ? 0 : 1;
  });
  EXPECT_TRUE(is_answered(path));
  EXPECT_TRUE(is_answered(path));
}

TEST(PassedDescriptors, ASignalIsNoSignOfDeath) {
  test::ForkedChild child([] {
    const base::Fd self(base::open_pidfd(getpid()));
    Interrupter interrupter;
    interrupter.prepare();
    const itimerval storm{{0, 20}, {0, 20}};
    setitimer(ITIMER_REAL, &storm, nullptr);
    for (int i = 0; i < 100'000; ++i) {
      if (base::pidfd_dead(self.get())) return 1;
    }
    return 0;
  });
  EXPECT_EQ(child.exit_code(), 0);
}

}  // namespace
}  // namespace rollcall::broker
