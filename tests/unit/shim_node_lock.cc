// The lock file of the whole node: made once, shared by all, and nobody else's
// file is ever touched.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "base/clock.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"
#include "shim/lock.h"

namespace rollcall::shim {
namespace {

using test::ForkedChild;
using test::TemporaryFolder;

constexpr size_t kSize = 4096;

TEST(NodeLock, IsMadeWhereThereIsNone) {
  const TemporaryFolder folder;
  NodeLockFile file;
  ASSERT_TRUE(file.open((folder.path() / "lock").c_str()));
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "lock"), kSize);
  ASSERT_NE(file.wake(), nullptr);
  EXPECT_EQ(file.wake()->load(), 0U);
}

TEST(NodeLock, AllWhoOpenItShareOneWord) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "lock";
  NodeLockFile first;
  ASSERT_TRUE(first.open(path.c_str()));
  ForkedChild other([&] {
    NodeLockFile second;
    if (!second.open(path.c_str())) return 1;
    second.wake()->store(41);
    return 0;
  });
  EXPECT_EQ(other.exit_code(), 0);
  EXPECT_EQ(first.wake()->load(), 41U);
}

TEST(NodeLock, OneThatWasUsedBeforeIsUsedAgain) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "lock";
  for (int i = 0; i < 3; ++i) {
    NodeLockFile file;
    ASSERT_TRUE(file.open(path.c_str()));
    FileLock lock(file.fd(), FileLock::kDiscoveryByte, file.wake());
    EXPECT_EQ(lock.acquire(base::monotonic_ns()), FileLock::Result::kAcquired);
  }
  NodeLockFile file;
  ASSERT_TRUE(file.open(path.c_str()));
  EXPECT_EQ(file.wake()->load(), 3U);
}

TEST(NodeLock, ExcludesOtherProcesses) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "lock";
  NodeLockFile file;
  ASSERT_TRUE(file.open(path.c_str()));
  FileLock lock(file.fd(), FileLock::kDiscoveryByte, file.wake());
  ASSERT_EQ(lock.acquire(base::monotonic_ns()), FileLock::Result::kAcquired);
  ForkedChild other([&] {
    NodeLockFile theirs;
    if (!theirs.open(path.c_str())) return 1;
    FileLock their_lock(theirs.fd(), FileLock::kDiscoveryByte, theirs.wake());
    return their_lock.acquire(base::monotonic_ns()) == FileLock::Result::kTimeout ? 0 : 2;
  });
  EXPECT_EQ(other.exit_code(), 0);
}

TEST(NodeLock, LeavesEveryOtherFileAsItIs) {
  const TemporaryFolder folder;
  for (const std::string& content :
       {std::string("text"), std::string(kSize - 1, '\0'), std::string(kSize + 1, '\0'),
        std::string(kSize, 'x'), std::string(kSize - 1, '\0') + "x"}) {
    folder.write("file", content);
    NodeLockFile file;
    EXPECT_FALSE(file.open((folder.path() / "file").c_str())) << content.size() << " bytes";
    EXPECT_EQ(folder.read("file"), content);
  }
}

TEST(NodeLock, IsNeverReachedThroughALinkNorAnythingButAFile) {
  const TemporaryFolder folder;
  folder.write("real", "");
  std::filesystem::create_symlink("real", folder.path() / "link");
  std::filesystem::create_directory(folder.path() / "folder");
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "folder", "pipe", "absent/lock"}) {
    NodeLockFile file;
    EXPECT_FALSE(file.open((folder.path() / name).c_str())) << name;
  }
  EXPECT_EQ(folder.read("real"), "");
}

}  // namespace
}  // namespace rollcall::shim
