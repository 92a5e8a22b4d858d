// Namespaces of a run: whoever is started in one is in there with its neighbours alone,
// and yet the launcher's own child; ended, nobody is left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "base/files.h"
#include "base/process.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "study/namespaces.h"

namespace rollcall::study {
namespace {

Paths paths() {
  Paths paths;
  paths.namespace_holder = TEST_NAMESPACE_HOLDER;
  return paths;
}

std::vector<pid_t> nspid(pid_t pid) {
  const auto status = base::read_file("/proc/" + std::to_string(pid) + "/status", 1 << 16);
  pid_t pids[base::kMaxPidNamespaces];
  const size_t count =
      status ? base::parse_nspid(status->data(), status->size(), pids, base::kMaxPidNamespaces) : 0;
  return {pids, pids + count};
}

std::string link_of(pid_t pid, const std::string& name) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/" + name, error);
}

int descriptors() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                        std::filesystem::directory_iterator()));
}

class NamespacesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (auto can = Namespaces::start(paths(), 1, {}); !can) {
      GTEST_SKIP() << "no namespace can be made here: " << can.error().line();
    }
    output_.reset(open("/dev/null", O_WRONLY | O_CLOEXEC));
  }
  base::Result<Child> start(const NamespaceDoor& door, const std::vector<const char*>& command) {
    std::vector<const char*> arguments = command;
    arguments.push_back(nullptr);
    SpawnRequest request;
    request.program = arguments.front();
    request.arguments = const_cast<char* const*>(arguments.data());
    request.environment = environment_.get();
    request.output_fd = output_.get();
    request.enters = &door;
    return spawn(request);
  }
  static int end(const Child& child) {
    kill(child.pid, SIGKILL);
    return wait_for(child);
  }
  static int wait_for(const Child& child) {
    int status = 0;
    EXPECT_EQ(waitpid(child.pid, &status, 0), child.pid) << "not a child of ours";
    return status;
  }

  base::Fd output_;
  EnvironmentBlock environment_{{{"A", "1"}}};
};

TEST_F(NamespacesTest, ThoseOfOneAreTogetherAndThoseOfAnotherElsewhere) {
  auto namespaces = Namespaces::start(paths(), 2, {});
  ASSERT_TRUE(namespaces) << namespaces.error().line();
  const auto a = start(namespaces->door(0), {"/bin/sleep", "1000"});
  const auto b = start(namespaces->door(0), {"/bin/sleep", "1000"});
  const auto c = start(namespaces->door(1), {"/bin/sleep", "1000"});
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(nspid(a->pid), (std::vector<pid_t>{a->pid, 2}));
  EXPECT_EQ(nspid(b->pid), (std::vector<pid_t>{b->pid, 3}));
  EXPECT_EQ(nspid(c->pid), (std::vector<pid_t>{c->pid, 2}));
  for (const char* name : {"ns/pid", "ns/mnt", "ns/ipc"}) {
    EXPECT_EQ(link_of(a->pid, name), link_of(b->pid, name)) << name;
    EXPECT_NE(link_of(a->pid, name), link_of(c->pid, name)) << name;
    EXPECT_NE(link_of(a->pid, name), link_of(getpid(), name)) << name;
  }
  EXPECT_EQ(link_of(a->pid, "ns/net"), link_of(getpid(), "ns/net"));
  EXPECT_EQ(link_of(a->pid, "cwd"), link_of(getpid(), "cwd"));
  EXPECT_EQ(link_of(a->pid, "root"), link_of(getpid(), "root"));
  // What is started without a namespace is still where the launcher is.
  test::ForkedChild plain([] { return nspid(getpid()).size() == 1 ? 0 : 1; });
  EXPECT_EQ(plain.exit_code(), nspid(getpid()).size() == 1 ? 0 : 1);
  EXPECT_EQ(link_of(getpid(), "ns/pid"), link_of(getpid(), "ns/pid_for_children"));
  for (const auto& child : {&a, &b, &c}) EXPECT_TRUE(WIFSIGNALED(end(**child)));
  const NamespacesEnded ended = namespaces->stop();
  EXPECT_EQ(ended.processes_left, 0);
  EXPECT_TRUE(ended.died.empty());
}

TEST_F(NamespacesTest, InsideIsAProcOfItsOwnAndAFolderThatCannotBeWrittenTo) {
  const test::TemporaryFolder folder;
  folder.write("there", "");
  auto namespaces = Namespaces::start(paths(), 1, folder.path());
  ASSERT_TRUE(namespaces) << namespaces.error().line();
  const std::string launcher = std::to_string(getpid());
  const std::string inside = "test $$ = 2 && test -d /proc/2 && ! test -e /proc/" + launcher +
                             " && test -e " + (folder.path() / "there").string() + " && ! touch " +
                             (folder.path() / "new").string();
  const auto child = start(namespaces->door(0), {"/bin/sh", "-c", inside.c_str()});
  ASSERT_TRUE(child) << child.error().line();
  EXPECT_EQ(wait_for(*child), 0);
  folder.write("outside", "");  // still ours to write to
}

TEST_F(NamespacesTest, WhoIsLeftInsideIsCountedAndEnded) {
  auto namespaces = Namespaces::start(paths(), 2, {});
  ASSERT_TRUE(namespaces) << namespaces.error().line();
  const auto child = start(namespaces->door(1), {"/bin/sh", "-c", "sleep 1000 & sleep 1000 & true"});
  ASSERT_TRUE(child) << child.error().line();
  EXPECT_EQ(wait_for(*child), 0);
  const NamespacesEnded ended = namespaces->stop();
  EXPECT_EQ(ended.processes_left, 2);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(NamespacesTest, AnOrphanThatEndsDoesNotStayAsAZombie) {
  auto namespaces = Namespaces::start(paths(), 1, {});
  ASSERT_TRUE(namespaces) << namespaces.error().line();
  const auto orphaner = start(namespaces->door(0), {"/bin/sh", "-c", "true & true & true"});
  ASSERT_TRUE(orphaner) << orphaner.error().line();
  EXPECT_EQ(wait_for(*orphaner), 0);
  // In the end there are PID 1 and the one that looks.
  const auto looks =
      start(namespaces->door(0), {"/bin/sh", "-c", "while set -- /proc/[0-9]*; test $# -gt 2; do :; done"});
  ASSERT_TRUE(looks) << looks.error().line();
  int status = 0;
  EXPECT_TRUE(test::eventually([&] { return waitpid(looks->pid, &status, WNOHANG) == looks->pid; }));
  EXPECT_EQ(status, 0);
}

TEST_F(NamespacesTest, OneThatDiedByItselfIsNamed) {
  auto namespaces = Namespaces::start(paths(), 2, {});
  ASSERT_TRUE(namespaces) << namespaces.error().line();
  const auto child = start(namespaces->door(1), {"/bin/sh", "-c", "sleep 1000"});
  ASSERT_TRUE(child) << child.error().line();
  // Its PID 1 is the one other child of ours whose number there is 1.
  for (pid_t pid = child->pid - 20; pid < child->pid; ++pid) {
    if (nspid(pid) == std::vector<pid_t>{pid, 1} && link_of(pid, "ns/pid") == link_of(child->pid, "ns/pid")) {
      kill(pid, SIGKILL);
    }
  }
  EXPECT_TRUE(WIFSIGNALED(wait_for(*child)));  // went with it
  const NamespacesEnded ended = namespaces->stop();
  ASSERT_EQ(ended.died.size(), 1U);
  EXPECT_EQ(ended.died.front(), "cache 1: signal 9");
}

TEST_F(NamespacesTest, AProgramThatCannotBeExecutedThereIsAnErrorAndLeavesNothing) {
  auto namespaces = Namespaces::start(paths(), 1, {});
  ASSERT_TRUE(namespaces) << namespaces.error().line();
  const int before = descriptors();
  const auto child = start(namespaces->door(0), {"/nowhere/program"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().line(), "/nowhere/program: cannot execute: No such file or directory");
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(namespaces->stop().processes_left, 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  Paths absent;
  absent.namespace_holder = "/nowhere/holder";
  EXPECT_FALSE(Namespaces::start(absent, 1, {}));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(NamespacesTest, ALauncherThatIsKilledLeavesNobodyInside) {
  int said[2];
  ASSERT_EQ(pipe2(said, O_CLOEXEC), 0);
  test::ForkedChild launcher([&] {
    auto namespaces = Namespaces::start(paths(), 1, {});
    if (!namespaces) return 1;
    const auto child = start(namespaces->door(0), {"/bin/sh", "-c", "sleep 1000 & sleep 1000"});
    if (!child || write(said[1], &child->pid, sizeof child->pid) < 0) return 1;
    pause();
    return 0;
  });
  pid_t inside = 0;
  ASSERT_EQ(read(said[0], &inside, sizeof inside), static_cast<ssize_t>(sizeof inside));
  const std::string there = link_of(inside, "ns/pid");
  ASSERT_FALSE(there.empty());
  launcher.signal(SIGKILL);
  EXPECT_TRUE(test::eventually([&] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") == std::string::npos &&
          link_of(std::stoi(name), "ns/pid") == there && base::process_state(std::stoi(name)) != 'Z') {
        return false;
      }
    }
    return true;
  }));
  close(said[0]);
  close(said[1]);
}

}  // namespace
}  // namespace rollcall::study
