// Files appear whole or not at all, and never over something that exists.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/files.h"
#include "evidence_temporary_folder.h"
#include "forked_child.h"

namespace rollcall::base {
namespace {

namespace fs = std::filesystem;
using test::ForkedChild;
using test::TemporaryFolder;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ReadFile, GivesEveryByte) {
  const TemporaryFolder folder;
  const std::string content("a\0b\n\xff", 5);
  folder.write("file", content);
  EXPECT_EQ(read_file(folder.path() / "file", 100), content);
}

TEST(ReadFile, AFileOfExactlyTheLimitIsRead) {
  const TemporaryFolder folder;
  folder.write("file", std::string(70000, 'x'));
  EXPECT_EQ(read_file(folder.path() / "file", 70000)->size(), 70000U);
}

TEST(ReadFile, ALargerFileIsAnErrorAndNotATruncation) {
  const TemporaryFolder folder;
  folder.write("file", std::string(70001, 'x'));
  const auto content = read_file(folder.path() / "file", 70000);
  ASSERT_FALSE(content);
  EXPECT_NE(content.error().line().find("70000"), std::string::npos);
  EXPECT_NE(content.error().line().find("file"), std::string::npos);
}

TEST(ReadFile, AMissingFileAndAFolderAreErrorsWithTheirNames) {
  const TemporaryFolder folder;
  const auto missing = read_file(folder.path() / "absent", 10);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().line().find("absent: cannot open: No such file"), std::string::npos);
  EXPECT_FALSE(read_file(folder.path(), 10));
}

TEST(WriteNewFile, LeavesTheFileAndNothingElse) {
  const TemporaryFolder folder;
  const auto written = write_new_file(folder.path() / "file", "content");
  ASSERT_TRUE(written) << written.error().line();
  EXPECT_EQ(folder.read("file"), "content");
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(WriteNewFile, NeverOverwrites) {
  const TemporaryFolder folder;
  folder.write("file", "mine");
  fs::create_symlink("nowhere", folder.path() / "dangling");
  for (const char* name : {"file", "dangling"}) {
    const auto written = write_new_file(folder.path() / name, "other");
    ASSERT_FALSE(written) << name;
    EXPECT_NE(written.error().line().find("nothing is overwritten"), std::string::npos);
  }
  EXPECT_EQ(folder.read("file"), "mine");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "dangling"));
  EXPECT_EQ(entries(folder.path()), 2U);
}

TEST(WriteNewFile, ADiskThatTakesNoMoreLeavesNothingBehind) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  // The limit on a file's size stands in for a full disk: write() fails in the middle.
  ForkedChild child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const auto written = write_new_file(file, std::string(5000, 'x'));
    return written ? 1 : 0;
  });
  EXPECT_EQ(child.exit_code(), 0);
  EXPECT_EQ(entries(folder.path()), 0U);
}

TEST(WriteNewFile, AFolderThatMayNotBeWrittenToIsAnErrorWithAdvice) {
  const TemporaryFolder folder;
  chmod(folder.path().c_str(), 0555);
  ForkedChild child([&] {
    if (getuid() == 0 && setuid(65534) != 0) return 2;  // root may write anywhere
    const auto written = write_new_file(folder.path() / "file", "x");
    if (written) return 1;
    return written.error().advice == "choose a folder that you may write to" ? 0 : 3;
  });
  EXPECT_EQ(child.exit_code(), 0);
  chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(entries(folder.path()), 0U);
}

TEST(WriteNewFile, AMissingFolderIsAnError) {
  const TemporaryFolder folder;
  EXPECT_FALSE(write_new_file(folder.path() / "absent/file", "x"));
  EXPECT_EQ(entries(folder.path()), 0U);
}

TEST(MakeNewDirectory, MustBeNew) {
  const TemporaryFolder folder;
  EXPECT_TRUE(make_new_directory(folder.path() / "new"));
  EXPECT_TRUE(fs::is_directory(folder.path() / "new"));
  const auto again = make_new_directory(folder.path() / "new");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().line().find("choose another name"), std::string::npos);
  EXPECT_FALSE(make_new_directory(folder.path() / "absent/new"));
}

TEST(RenameNew, MovesWholeFolders) {
  const TemporaryFolder folder;
  folder.write("from/file", "content");
  ASSERT_TRUE(rename_new(folder.path() / "from", folder.path() / "to"));
  EXPECT_EQ(folder.read("to/file"), "content");
  EXPECT_FALSE(folder.has("from"));
}

TEST(RenameNew, NeverReplacesNotEvenAnEmptyFolder) {
  const TemporaryFolder folder;
  folder.write("from/file", "content");
  fs::create_directory(folder.path() / "to");
  EXPECT_FALSE(rename_new(folder.path() / "from", folder.path() / "to"));
  EXPECT_TRUE(folder.has("from/file"));
  EXPECT_TRUE(fs::is_empty(folder.path() / "to"));
}

TEST(SyncDirectory, WantsADirectory) {
  const TemporaryFolder folder;
  folder.write("file", "");
  EXPECT_TRUE(sync_directory(folder.path()));
  EXPECT_FALSE(sync_directory(folder.path() / "file"));
  EXPECT_FALSE(sync_directory(folder.path() / "absent"));
}

}  // namespace
}  // namespace rollcall::base
