// What the kernel says of a client; and what the broker gives up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>

#include "base/peer.h"
#include "base/process.h"
#include "broker/confine.h"
#include "broker/peer.h"
#include "forked_child.h"

namespace rollcall::broker {
namespace {

using hostpid::Command;
using hostpid::WireStatus;

struct Pair {
  base::Fd ours, theirs;
  Pair() {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
    ours.reset(fds[0]);
    theirs.reset(fds[1]);
  }
};

TEST(Peer, IsTheProcessThatConnected) {
  Pair pair;
  Peer peer;
  ASSERT_EQ(identify(pair.ours.get(), &peer), Identified::kOk);
  EXPECT_EQ(peer.pid, getpid());
  EXPECT_EQ(peer.uid, getuid());
  EXPECT_FALSE(base::pidfd_dead(peer.pidfd.get()));
  EXPECT_NE(fcntl(peer.pidfd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Peer, TheExtendedAnswerIsWhatTheKernelSays) {
  Pair pair;
  Peer peer;
  ASSERT_EQ(identify(pair.ours.get(), &peer), Identified::kOk);
  NodeFacts node;
  node.view = HOSTPID_VIEW_TRANSLATED;
  node.boot_id = read_boot_id();
  const auto answer = answer_for(peer, Command::kExtended, node);
  EXPECT_EQ(answer.status, WireStatus::kOk);
  EXPECT_EQ(answer.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(answer.view, HOSTPID_VIEW_TRANSLATED);
  EXPECT_EQ(answer.start_time, base::process_start_time(getpid()));
  EXPECT_NE(answer.start_time, 0U);
  EXPECT_EQ(answer.pid_namespace, base::own_pid_namespace_inode());
  EXPECT_TRUE(std::equal(node.boot_id.begin(), node.boot_id.end(), answer.boot_id));
}

// A descriptor that was handed on still names the process that connected; when that one
// is gone its number may be anybody's.
TEST(Peer, OfADeadProcessIsNoPid) {
  const base::Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr address{};
  address.sa_family = AF_UNIX;
  ASSERT_EQ(bind(listener.get(), &address, sizeof(sa_family_t)), 0);  // a name of the kernel's choice
  ASSERT_EQ(listen(listener.get(), 1), 0);
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &length), 0);
  test::ForkedChild child([&] {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(fd, reinterpret_cast<const sockaddr*>(&name), length) == 0 ? (pause(), 0) : 1;
  });
  const base::Fd socket(accept(listener.get(), nullptr, nullptr));
  Peer early;
  ASSERT_EQ(identify(socket.get(), &early), Identified::kOk);
  EXPECT_EQ(early.pid, child.pid());
  child.kill_and_reap();
  const auto answer = answer_for(early, Command::kExtended, {});
  EXPECT_EQ(answer.status, WireStatus::kPeerGone);
  EXPECT_EQ(answer.pid, 0U);
  EXPECT_EQ(answer.start_time, 0U);
  // Some kernels give a pidfd of a process that is gone, some do not.
  Peer late;
  if (identify(socket.get(), &late) == Identified::kOk) {
    EXPECT_EQ(answer_for(late, Command::kPid, {}).status, WireStatus::kPeerGone);
  }
}

TEST(Peer, ProcessesOfOnePlaceAreOneTenant) {
  Pair pair;
  Peer peer;
  ASSERT_EQ(identify(pair.ours.get(), &peer), Identified::kOk);
  EXPECT_EQ(tenant_of(peer), tenant_of(peer));
  EXPECT_EQ(tenant_of(peer).pid_namespace, base::own_pid_namespace_inode());
  EXPECT_NE(tenant_of(peer).cgroup, 0U);
}

TEST(BootId, IsReadWholeOrNotAtAll) {
  const auto id = parse_boot_id("00112233-4455-6677-8899-aabbccddeeff\n");
  EXPECT_EQ(id[0], 0x00);
  EXPECT_EQ(id[1], 0x11);
  EXPECT_EQ(id[15], 0xff);
  const std::array<unsigned char, 16> none{};
  EXPECT_EQ(parse_boot_id("00112233-4455-6677-8899-aabbccddeef\n"), none);
  EXPECT_EQ(parse_boot_id("00112233-4455-6677-8899-aabbccddeeff0\n"), none);
  EXPECT_EQ(parse_boot_id("0011223x-4455-6677-8899-aabbccddeeff\n"), none);
  EXPECT_EQ(parse_boot_id(""), none);
}

// Runs in a child: what a filtered process tries, and how it ended.
template <typename Function>
int filtered(bool writes_files, Function function) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (!install_filter(writes_files)) _exit(99);
    function();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#ifndef __SANITIZE_THREAD__
TEST(Filter, LetsTheBrokerDoItsWork) {
  Pair pair;
  EXPECT_EQ(filtered(false,
                     [&] {
                       Peer peer;
                       if (identify(pair.ours.get(), &peer) != Identified::kOk) _exit(1);
                       if (tenant_of(peer).pid_namespace == 0) _exit(2);
                       if (answer_for(peer, Command::kExtended, {}).start_time == 0) _exit(3);
                       if (send(pair.ours.get(), "x", 1, MSG_NOSIGNAL) != 1) _exit(4);
                     }),
            0);
}

TEST(Filter, EndsTheProcessAtAnyOtherCall) {
  EXPECT_EQ(filtered(true, [] { syscall(SYS_fork); }), -SIGSYS);
  EXPECT_EQ(filtered(true, [] { syscall(SYS_socket, AF_INET, SOCK_STREAM, 0); }), -SIGSYS);
  EXPECT_EQ(filtered(true, [] { syscall(SYS_connect, 0, nullptr, 0); }), -SIGSYS);
  EXPECT_EQ(filtered(true, [] { syscall(SYS_ptrace, 0, 0, 0, 0); }), -SIGSYS);
  EXPECT_EQ(filtered(true, [] { syscall(SYS_kill, 1, 0); }), -SIGSYS);
  EXPECT_EQ(filtered(true, [] { syscall(SYS_pidfd_send_signal, 0, 0, nullptr, 0); }), -SIGSYS);
  EXPECT_EQ(filtered(true, [] { syscall(SYS_process_vm_readv, getpid(), nullptr, 0, nullptr, 0, 0); }),
            -SIGSYS);
  EXPECT_EQ(filtered(true,
                     [] {
                       char* const none[] = {nullptr};
                       syscall(SYS_execve, "/bin/true", none, none);
                     }),
            -SIGSYS);
  EXPECT_EQ(filtered(true, [] { syscall(SYS_ioctl, 0, 0x5401, nullptr); }), -SIGSYS);
  EXPECT_EQ(filtered(true,
                     [] {
                       syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                               -1, 0);
                     }),
            -SIGSYS);
}

TEST(Filter, OpensForWritingOnlyWhereThereAreMetrics) {
  const auto read_only = [] { syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC); };
  const auto write = [] { syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY); };
  const auto create = [] { syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CREAT, 0600); };
  EXPECT_EQ(filtered(false, read_only), 0);
  EXPECT_EQ(filtered(false, write), -SIGSYS);
  EXPECT_EQ(filtered(false, create), -SIGSYS);
  EXPECT_EQ(filtered(true, write), 0);
}
#endif

TEST(Privileges, NothingIsLeftButPtrace) {
  test::ForkedChild child([] {
    if (!drop_privileges()) return 1;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 2;
    std::array<char, 8192> text;
    const ssize_t length = base::read_small_file("/proc/self/status", text.data(), text.size() - 1);
    if (length <= 0) return 3;
    text[static_cast<size_t>(length)] = '\0';
    for (const char* set : {"CapPrm:", "CapEff:", "CapInh:", "CapAmb:"}) {
      const char* at = std::strstr(text.data(), set);
      constexpr unsigned long long kPtrace = 1ULL << 19;
      if (at == nullptr || (std::strtoull(at + 7, nullptr, 16) & ~kPtrace) != 0) return 4;
    }
    return 0;
  });
  EXPECT_EQ(child.exit_code(), 0);
}

}  // namespace
}  // namespace rollcall::broker
