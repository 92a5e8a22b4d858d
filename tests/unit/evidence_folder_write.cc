// How an evidence folder comes to be: nothing half-written under a final name,
// nothing written over, one launcher at a time.
#include <gtest/gtest.h>

#include <fstream>

#include "analysis_runs.h"
#include "evidence/folder.h"
#include "evidence_temporary_folder.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;
using test::good_run;
using test::TemporaryFolder;

// A run carried through from its beginning to its commit.
void add_run(FolderWriter& writer, const evidence::Run& run) {
  const auto working = writer.begin_run(run.record.id());
  ASSERT_TRUE(working) << working.error().line();
  const auto committed = writer.commit_run(*working, run);
  ASSERT_TRUE(committed) << committed.error().line();
}

TEST(FolderWriter, MakesMissingParents) {
  const TemporaryFolder folder;
  const auto writer = FolderWriter::create(folder.path() / "a/b/E");
  ASSERT_TRUE(writer) << writer.error().line();
  EXPECT_TRUE(folder.has("a/b/E/runs"));
  EXPECT_FALSE(writer->finished());
}

TEST(FolderWriter, ATrailingSlashIsNoOtherFolder) {
  const TemporaryFolder folder;
  const auto writer = FolderWriter::create(folder.path() / "E/");
  ASSERT_TRUE(writer) << writer.error().line();
  EXPECT_EQ(writer->path(), folder.path() / "E");
}

TEST(FolderWriter, AnExistingPathIsWrongUsageAndLeftAlone) {
  const TemporaryFolder folder;
  folder.write("file", "mine");
  fs::create_directory(folder.path() / "empty");
  fs::create_symlink("nowhere", folder.path() / "dangling");
  for (const char* name : {"file", "empty", "dangling"}) {
    const auto writer = FolderWriter::create(folder.path() / name);
    ASSERT_FALSE(writer) << name;
    EXPECT_EQ(writer.error().kind, base::ErrorKind::kUsage);
    EXPECT_NE(writer.error().line().find("choose another --out, or add --resume"), std::string::npos);
  }
  EXPECT_EQ(folder.read("file"), "mine");
  EXPECT_TRUE(fs::is_empty(folder.path() / "empty"));
}

TEST(FolderWriter, APlaceThatCannotBeWrittenToIsAnErrorWithAdvice) {
  const TemporaryFolder folder;
  folder.write("file", "");
  const auto below_a_file = FolderWriter::create(folder.path() / "file/E");
  ASSERT_FALSE(below_a_file);
  EXPECT_FALSE(below_a_file.error().advice.empty());
  const auto too_long = FolderWriter::create(folder.path() / std::string(300, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().kind, base::ErrorKind::kFailure);
}

TEST(FolderWriter, ARunAppearsCompleteUnderItsName) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  const auto run = good_run("2x2", "legacy", 1);
  const auto working = writer.begin_run(run.record.id());
  ASSERT_TRUE(working) << working.error().line();
  EXPECT_TRUE(fs::is_directory(*working / "logs"));
  EXPECT_TRUE(fs::is_directory(*working / "regions"));
  EXPECT_FALSE(writer.has_run(run.record.id()));
  std::ofstream(*working / "logs/cache_0.log") << "hello\n";
  ASSERT_TRUE(writer.commit_run(*working, run));
  EXPECT_TRUE(writer.has_run("001-2x2-legacy-r1"));
  EXPECT_EQ(folder.read("E/runs/001-2x2-legacy-r1/run.json"), print_run(run.record));
  EXPECT_EQ(folder.read("E/runs/001-2x2-legacy-r1/logs/cache_0.log"), "hello\n");
  EXPECT_FALSE(fs::exists(*working));
}

TEST(FolderWriter, EachAttemptGetsTheNextNumber) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  EXPECT_EQ(writer.begin_run("001-1x1-native-r1")->filename(), "001-1x1-native-r1.1");
  EXPECT_EQ(writer.begin_run("001-1x1-native-r1")->filename(), "001-1x1-native-r1.2");
}

TEST(FolderWriter, ADoneRunIsNotBegunOrCommittedAgain) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  const auto run = good_run("1x1", "native", 1);
  const auto second = writer.begin_run(run.record.id()).value();
  add_run(writer, run);
  EXPECT_FALSE(writer.begin_run(run.record.id()));
  EXPECT_FALSE(writer.commit_run(second, run));
  EXPECT_TRUE(fs::exists(second));
}

TEST(FolderWriter, ARunGoesOnlyIntoItsOwnWorkingFolder) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  const auto working = writer.begin_run("001-1x1-native-r1").value();
  EXPECT_FALSE(writer.commit_run(working, good_run("1x1", "native", 2)));
  EXPECT_FALSE(writer.commit_run(folder.path(), good_run("1x1", "native", 1)));
}

TEST(FolderWriter, ARunIdThatLeadsElsewhereIsRefused) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  for (const char* id : {"", ".", "..", "../x", "a/b", "a\nb", "a\\b", ".hidden", "a b"}) {
    EXPECT_FALSE(writer.begin_run(id)) << id;
  }
}

TEST(FolderWriter, FilesAreWrittenOnceAtTheTopOrInDerived) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  EXPECT_TRUE(writer.write("plan.json", "{}\n"));
  EXPECT_TRUE(writer.write("derived/summary.csv", "a\n"));
  EXPECT_FALSE(writer.write("plan.json", "other"));
  EXPECT_EQ(folder.read("E/plan.json"), "{}\n");
  for (const char* name :
       {"", "SHA256SUMS", "../x", "/tmp/x", "runs/x", "derived/a/b", "derived/../x", "unfinished/x"}) {
    EXPECT_FALSE(writer.write(name, "x")) << name;
  }
}

TEST(FolderWriter, AnInterruptedEndCanBeDoneAgain) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  ASSERT_TRUE(writer.write("derived/summary.csv", "a\n"));
  EXPECT_TRUE(writer.write("derived/summary.csv", "a\n"));
  EXPECT_FALSE(writer.write("derived/summary.csv", "ab\n"));
  EXPECT_FALSE(writer.write("derived/summary.csv", "a"));
}

TEST(FolderWriter, TwoLaunchersNeverWriteOneExperiment) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E");
  ASSERT_TRUE(writer->write("plan.json", "{}\n"));
  const auto second = FolderWriter::resume(folder.path() / "E");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::kUsage);
  EXPECT_NE(second.error().line().find("another launcher"), std::string::npos);
  { const FolderWriter gone = std::move(*writer); }
  EXPECT_TRUE(FolderWriter::resume(folder.path() / "E"));
}

TEST(FolderWriter, OnlyAnExperimentCanBeResumed) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "empty");
  for (const char* name : {"missing", "empty"}) {
    const auto writer = FolderWriter::resume(folder.path() / name);
    ASSERT_FALSE(writer) << name;
    EXPECT_EQ(writer.error().kind, base::ErrorKind::kUsage);
  }
  EXPECT_TRUE(fs::is_empty(folder.path() / "empty"));
}

TEST(FolderWriter, ResumeFindsTheDoneRunsAndKeepsTheInterruptedOnes) {
  const TemporaryFolder folder;
  {
    auto writer = FolderWriter::create(folder.path() / "E").value();
    ASSERT_TRUE(writer.write("plan.json", "{}\n"));
    add_run(writer, good_run("1x1", "native", 1));
    ASSERT_TRUE(writer.begin_run("002-1x1-legacy-r1"));
  }
  auto writer = FolderWriter::resume(folder.path() / "E").value();
  EXPECT_TRUE(writer.has_run("001-1x1-native-r1"));
  EXPECT_FALSE(writer.has_run("002-1x1-legacy-r1"));
  add_run(writer, good_run("1x1", "legacy", 2));
  ASSERT_TRUE(writer.finish());
  EXPECT_TRUE(folder.has("E/unfinished/002-1x1-legacy-r1.1"));
}

TEST(FolderWriter, FinishingWritesTheChecksumsLastAndClosesTheFolder) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  ASSERT_TRUE(writer.write("plan.json", "abc"));
  add_run(writer, good_run("1x1", "native", 1));
  const auto finished = writer.finish();
  ASSERT_TRUE(finished) << finished.error().line();
  EXPECT_TRUE(writer.finished());
  EXPECT_FALSE(folder.has("E/unfinished"));
  const std::string sums = folder.read("E/SHA256SUMS");
  EXPECT_TRUE(
      sums.starts_with("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  plan.json\n"));
  EXPECT_EQ(sums, checksum_lines(folder.path() / "E"));
  EXPECT_FALSE(writer.write("more.json", "{}"));
  EXPECT_FALSE(writer.begin_run("002-1x1-native-r1"));
  EXPECT_FALSE(writer.finish());
}

TEST(FolderWriter, WhatAnInterruptedRunLeftIsKeptAndChecksummed) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  const auto working = writer.begin_run("001-1x1-native-r1").value();
  std::ofstream(working / "logs/cache_0.log") << "abc";
  ASSERT_TRUE(writer.finish());
  EXPECT_NE(folder.read("E/SHA256SUMS").find("  unfinished/001-1x1-native-r1.1/logs/cache_0.log\n"),
            std::string::npos);
}

TEST(Checksums, CoverEveryRegularFileInByteOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"b", "a/z", "a.txt", "\xC3\xA9", "B", "SHA256SUMS", "a/SHA256SUMS"})
    folder.write(name, name);
  fs::create_symlink("b", folder.path() / "link");
  const auto lines = checksum_lines(folder.path());
  ASSERT_TRUE(lines) << lines.error().line();
  std::string names;
  for (size_t at = 0; at < lines->size(); at = lines->find('\n', at) + 1) {
    EXPECT_EQ(lines->substr(at + 64, 2), "  ");
    names += lines->substr(at + 66, lines->find('\n', at) - at - 66) + " ";
  }
  EXPECT_EQ(names, "B a.txt a/SHA256SUMS a/z b \xC3\xA9 ");
}

TEST(Checksums, RefuseNamesThatToolsReadDifferently) {
  for (const char* name : {"a\nb", "a\\b"}) {
    const TemporaryFolder folder;
    folder.write(name, "");
    const auto lines = checksum_lines(folder.path());
    ASSERT_FALSE(lines) << name;
    EXPECT_EQ(lines.error().line().find('\n'), std::string::npos);
  }
}

TEST(Checksums, AreWhatSha256sumReads) {
  const TemporaryFolder folder;
  auto writer = FolderWriter::create(folder.path() / "E").value();
  ASSERT_TRUE(writer.write("plan.json", "{}\n"));
  add_run(writer, good_run("2x2", "legacy", 1));
  ASSERT_TRUE(writer.finish());
  const std::string check =
      "cd '" + (folder.path() / "E").string() + "' && sha256sum --strict --status -c SHA256SUMS";
  EXPECT_EQ(std::system(check.c_str()), 0);
  folder.write("E/plan.json", "{ }\n");
  EXPECT_NE(std::system(check.c_str()), 0);
}

TEST(FolderWriter, ACopyIsHeardSummedAndKeptAsTheSameBytes) {
  const TemporaryFolder folder;
  std::string content(3'000'000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7919 >> 5);
  folder.write("log", content);
  auto writer = FolderWriter::create(folder.path() / "E");
  ASSERT_TRUE(writer);
  const evidence::Run run = good_run("1x1", "native");
  const auto working = writer->begin_run(run.record.id());
  ASSERT_TRUE(working);
  std::string heard;
  const auto copied = writer->copy_into_run(folder.path() / "log", *working, "logs/cache_0.log",
                                            content.size(), [&](std::string_view bytes) { heard += bytes; });
  ASSERT_TRUE(copied) << copied.error().line();
  EXPECT_EQ(copied->bytes, content.size());
  EXPECT_FALSE(copied->changed);
  EXPECT_TRUE(heard == content);
  ASSERT_TRUE(writer->put_into_run("made", *working, "truth.csv"));
  EXPECT_FALSE(writer->put_into_run("again", *working, "truth.csv")) << "nothing is written over";
  ASSERT_TRUE(writer->commit_run(*working, run));
  ASSERT_TRUE(writer->finish());
  EXPECT_TRUE(folder.read("E/runs/" + run.record.id() + "/logs/cache_0.log") == content);
  EXPECT_EQ(check_seal(folder.path() / "E")->state, SealState::kIntact)
      << "the sums that were known are right";
}

TEST(FolderWriter, ACopyThatIsChangedBeforeTheEndIsSummedAgain) {
  const TemporaryFolder folder;
  folder.write("log", "hostPid=5");
  auto writer = FolderWriter::create(folder.path() / "E");
  ASSERT_TRUE(writer);
  const evidence::Run run = good_run("1x1", "native");
  const auto working = writer->begin_run(run.record.id());
  ASSERT_TRUE(writer->copy_into_run(folder.path() / "log", *working, "logs/cache_0.log", 100,
                                    [](std::string_view) {}));
  ASSERT_TRUE(writer->commit_run(*working, run));
  folder.write("E/runs/" + run.record.id() + "/logs/cache_0.log", "hostPid=6");
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(check_seal(folder.path() / "E")->state, SealState::kIntact);
}

TEST(FolderWriter, WhatIsNoFileOrTooLargeIsNotCopied) {
  const TemporaryFolder folder;
  folder.write("log", "12345");
  fs::create_symlink("log", folder.path() / "link");
  const Listener deaf = [](std::string_view) {};
  EXPECT_TRUE(read_through(folder.path() / "log", 5, deaf));
  EXPECT_FALSE(read_through(folder.path() / "log", 4, deaf));
  EXPECT_FALSE(read_through(folder.path() / "link", 5, deaf));
  EXPECT_FALSE(read_through(folder.path(), 5, deaf));
  EXPECT_FALSE(read_through(folder.path() / "nothing", 5, deaf));
}

}  // namespace
}  // namespace rollcall::evidence
