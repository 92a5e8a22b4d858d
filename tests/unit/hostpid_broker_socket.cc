// Whom the client trusts, with real directories and sockets.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/clock.h"
#include "base/fd.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "hostpid/broker_socket.h"

namespace rollcall::hostpid {
namespace {

using Open = BrokerSocket::Open;
using Io = BrokerSocket::Io;

int64_t soon() {
  return base::monotonic_ns() + 20 * base::kNsPerMs;
}

class BrokerSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(chmod(folder_.path().c_str(), 0711), 0);
    listen_at(path());
  }
  [[nodiscard]] std::string path() const { return folder_.path() / "broker.sock"; }

  void listen_at(const std::string& where, int backlog = 4) {
    listener_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(where.size(), sizeof address.sun_path);
    memcpy(address.sun_path, where.c_str(), where.size() + 1);
    ASSERT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << where;
    ASSERT_EQ(listen(listener_.get(), backlog), 0);
  }
  base::Fd accept_one() { return base::Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  Open open(const std::string& where, uint32_t uid = getuid()) {
    return socket_.open(socket_.self, where.c_str(), uid);
  }

  test::TemporaryFolder folder_;
  base::Fd listener_;
  BrokerConnection connection_;
  BrokerSocket socket_ = make_broker_socket(&connection_);
};

TEST_F(BrokerSocketTest, SpeaksWithAServerOfATrustedOwner) {
  ASSERT_EQ(open(path()), Open::kOk);
  const base::Fd server = accept_one();
  const unsigned char word[] = {'H', 'P', 'I', 'D'};
  EXPECT_EQ(socket_.send(socket_.self, word, sizeof word, soon()), Io::kOk);
  std::array<unsigned char, 8> got{};
  EXPECT_EQ(read(server.get(), got.data(), got.size()), 4);
  ASSERT_EQ(write(server.get(), "abc", 3), 3);
  size_t received = 0;
  EXPECT_EQ(socket_.receive(socket_.self, got.data(), got.size(), &received, soon()), Io::kOk);
  EXPECT_EQ(received, 3U);
  EXPECT_NE(fcntl(connection_.fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  socket_.close(socket_.self);
  EXPECT_FALSE(connection_.fd.valid());
}

TEST_F(BrokerSocketTest, NoticesASilentServerAndOneThatIsGone) {
  ASSERT_EQ(open(path()), Open::kOk);
  base::Fd server = accept_one();
  std::array<unsigned char, 8> got{};
  size_t received = 0;
  EXPECT_EQ(socket_.receive(socket_.self, got.data(), got.size(), &received, soon()), Io::kTimeout);
  server.reset();
  EXPECT_EQ(socket_.receive(socket_.self, got.data(), got.size(), &received, soon()), Io::kClosed);
  // A signal here would end the host.
  EXPECT_EQ(socket_.send(socket_.self, got.data(), got.size(), soon()), Io::kClosed);
}

TEST_F(BrokerSocketTest, SaysThatNobodyIsThere) {
  EXPECT_EQ(open((folder_.path() / "other.sock").string()), Open::kNotThere);
  EXPECT_EQ(open((folder_.path() / "no" / "broker.sock").string()), Open::kNotThere);
  listener_.reset();  // the file stays
  EXPECT_EQ(open(path()), Open::kNotThere);
}

TEST_F(BrokerSocketTest, DoesNotWaitForAFullBacklog) {
  const std::string small = folder_.path() / "small.sock";
  listen_at(small, 0);
  std::vector<BrokerConnection> taken(4);
  Open last = Open::kOk;
  for (BrokerConnection& connection : taken) {
    const BrokerSocket socket = make_broker_socket(&connection);
    last = socket.open(socket.self, small.c_str(), getuid());
  }
  EXPECT_EQ(last, Open::kBacklogFull);
}

TEST_F(BrokerSocketTest, TrustsNoDirectoryThatOthersCanWrite) {
  for (const mode_t mode : {0731, 0713, 0777}) {
    ASSERT_EQ(chmod(folder_.path().c_str(), mode), 0);
    EXPECT_EQ(open(path()), Open::kUntrusted) << mode;
  }
}

TEST_F(BrokerSocketTest, FollowsNoSymbolicLinks) {
  ASSERT_EQ(symlink("broker.sock", (folder_.path() / "link.sock").c_str()), 0);
  EXPECT_EQ(open((folder_.path() / "link.sock").string()), Open::kUntrusted);
  const test::TemporaryFolder elsewhere;
  ASSERT_EQ(symlink(folder_.path().c_str(), (elsewhere.path() / "link").c_str()), 0);
  EXPECT_EQ(open((elsewhere.path() / "link" / "broker.sock").string()), Open::kUntrusted);
}

TEST_F(BrokerSocketTest, TakesNothingElseForASocket) {
  std::ofstream(folder_.path() / "file") << "x";
  ASSERT_EQ(mkfifo((folder_.path() / "pipe").c_str(), 0666), 0);
  EXPECT_EQ(open((folder_.path() / "file").string()), Open::kUntrusted);
  EXPECT_EQ(open((folder_.path() / "pipe").string()), Open::kUntrusted);
}

TEST_F(BrokerSocketTest, WantsAnAbsolutePathThatNamesSomething) {
  for (const char* wrong : {"", "broker.sock", "/", "/run/"}) EXPECT_EQ(open(wrong), Open::kFailed) << wrong;
  EXPECT_EQ(open("/" + std::string(5000, 'x')), Open::kFailed);
}

// Only root can make what belongs to others.
TEST_F(BrokerSocketTest, TrustsNoOtherOwnerOfDirectorySocketOrServer) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kStranger = 12345;
  ASSERT_EQ(chown(folder_.path().c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(open(path()), Open::kUntrusted);
  EXPECT_EQ(open(path(), kStranger), Open::kOk);  // root's socket is trusted by everybody
  ASSERT_EQ(chown(folder_.path().c_str(), 0, 0), 0);
  ASSERT_EQ(chown(path().c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(open(path()), Open::kUntrusted);
  EXPECT_EQ(open(path(), kStranger), Open::kOk);
  EXPECT_EQ(open(path(), kStranger + 1), Open::kUntrusted);
}

// In a user namespace every user without a number there looks like nobody.
TEST_F(BrokerSocketTest, NobodyIsNotEverybodyOfAnotherUserNamespace) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kNobody = 65534;
  constexpr uid_t kStranger = 12345;
  const std::string folder = folder_.path() / "stranger";
  const std::string where = folder + "/broker.sock";
  ASSERT_EQ(mkdir(folder.c_str(), 0711), 0);
  ASSERT_EQ(chown(folder.c_str(), kStranger, kStranger), 0);
  ASSERT_EQ(seteuid(kStranger), 0);  // whom the kernel then names as the server
  listen_at(where);
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(chmod(where.c_str(), 0666), 0);
  EXPECT_EQ(open(where, kNobody), Open::kUntrusted);
  EXPECT_EQ(open(where, kStranger), Open::kOk);
  constexpr int kNoNamespace = 100;
  test::ForkedChild inside([&] {
    const std::string map = "0 0 1";
    if (unshare(CLONE_NEWUSER) != 0) return kNoNamespace;
    const base::Fd uids(::open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC));
    if (write(uids.get(), map.data(), map.size()) < 0) return kNoNamespace;
    return static_cast<int>(open(where, kNobody));
  });
  const int opened = inside.exit_code();
  if (opened == kNoNamespace) GTEST_SKIP() << "needs user namespaces";
  EXPECT_EQ(opened, static_cast<int>(Open::kUntrusted));
}

}  // namespace
}  // namespace rollcall::hostpid
