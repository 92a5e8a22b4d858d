// hostpidd --check believes no server more than libhostpid does; and metrics, which are
// written where others may have been.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/peer.h"
#include "base/process.h"
#include "broker/check.h"
#include "broker/metrics_file.h"
#include "broker/place.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "hostpid/wire.h"

namespace rollcall::broker {
namespace {

constexpr int64_t kPatienceMs = 60'000;

// A server of version 1, as others serve it: it refuses the extended command. Tells each
// client its PID plus `added`.
int serve_version_1(int listener, uint32_t added) {
  for (;;) {
    pollfd waiting{listener, POLLIN, 0};
    poll(&waiting, 1, -1);
    const base::Fd client(accept(listener, nullptr, nullptr));
    unsigned char request[hostpid::kRequestBytes];
    if (recv(client.get(), request, sizeof request, MSG_WAITALL) != sizeof request) continue;
    ucred credentials{};
    base::peer_credentials(client.get(), &credentials);
    const bool plain = hostpid::parse_request(request, sizeof request) == hostpid::RequestParse::kPid;
    hostpid::ExtendedAnswer answer;
    answer.pid = static_cast<uint32_t>(credentials.pid) + added;
    answer.status = plain ? hostpid::WireStatus::kOk : hostpid::WireStatus::kInvalidRequest;
    unsigned char bytes[hostpid::kExtendedAnswerBytes];
    const size_t length = hostpid::write_answer(hostpid::Command::kPid, answer, bytes);
    if (send(client.get(), bytes, length, MSG_NOSIGNAL) < 0) continue;
  }
}

struct Version1 {
  test::TemporaryFolder folder;
  std::string path = folder.path() / "broker.sock";
  base::Result<SocketPlace> place = SocketPlace::take(path);
  test::ForkedChild server;
  explicit Version1(uint32_t added)
      : server([this, added] { return place ? serve_version_1(place->listener(), added) : 1; }) {}
};

TEST(Check, AVersion1ServerThatIsRightIsUsed) {
  const Version1 server(0);
  const auto said = check_broker(server.path, kPatienceMs);
  ASSERT_TRUE(said) << said.error().line();
  EXPECT_NE(said->find("host PID: " + std::to_string(getpid()) + "\n"), std::string::npos) << *said;
  EXPECT_NE(said->find("a version 1 server"), std::string::npos) << *said;
  EXPECT_NE(said->find("libhostpid: uses it"), std::string::npos) << *said;
}

// As one does that runs in another PID namespace than the host's.
TEST(Check, AVersion1ServerThatTellsAnotherPidIsNotBelieved) {
  if (base::own_pid_namespace_inode() != base::kInitialPidNamespaceInode)
    GTEST_SKIP() << "the host's PID of this process is not known here";
  const Version1 server(1);
  const auto said = check_broker(server.path, kPatienceMs);
  ASSERT_FALSE(said) << *said;
  EXPECT_NE(said.error().line().find("said that this process is"), std::string::npos) << said.error().line();
}

TEST(Check, AVersion1ServerThatLibhostpidDoesNotTrustIsNotRecommended) {
  const Version1 server(0);
  ASSERT_EQ(chmod(server.folder.path().c_str(), 0777), 0);
  const auto said = check_broker(server.path, kPatienceMs);
  ASSERT_FALSE(said) << *said;
  EXPECT_NE(said.error().line().find("broker_untrusted"), std::string::npos) << said.error().line();
}

TEST(MetricsFile, APipeInItsPlaceIsNotWaitedFor) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "hostpidd.prom";
  ASSERT_EQ(mkfifo((path + ".tmp").c_str(), 0600), 0);
  test::ForkedChild writer([&] { return replace_file(path, "text\n") ? 1 : 0; });
  EXPECT_EQ(writer.exit_code(), 0);
  const base::Fd reader(open((path + ".tmp").c_str(), O_RDONLY | O_NONBLOCK));
  test::ForkedChild again([&] { return replace_file(path, "text\n") ? 1 : 0; });
  EXPECT_EQ(again.exit_code(), 0);
  EXPECT_FALSE(folder.has("hostpidd.prom"));
}

}  // namespace
}  // namespace rollcall::broker
