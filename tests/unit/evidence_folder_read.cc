// Reading runs back: all of them as written, or an error that says where.
#include <gtest/gtest.h>

#include "analysis_runs.h"
#include "evidence/folder.h"
#include "evidence_temporary_folder.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;
using test::good_run;
using test::TemporaryFolder;

constexpr const char* kRun = "runs/002-1x2-legacy-r1";

class ReadRuns : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove(folder_.path());
    auto writer = FolderWriter::create(folder_.path()).value();
    for (const evidence::Run& run : {good_run("2x2", "native", 10), good_run("1x2", "legacy", 2)}) {
      ASSERT_TRUE(writer.commit_run(writer.begin_run(run.record.id()).value(), run));
    }
    ASSERT_TRUE(writer.begin_run("003-1x1-native-r1"));
  }
  [[nodiscard]] std::string error() const {
    const auto runs = read_runs(folder_.path());
    return runs ? "" : runs.error().line();
  }
  void expect_error(std::initializer_list<const char*> words) const {
    const std::string line = error();
    EXPECT_NE(line, "") << "it was accepted";
    for (const char* word : words) EXPECT_NE(line.find(word), std::string::npos) << line << " lacks " << word;
  }
  TemporaryFolder folder_;
};

TEST_F(ReadRuns, GivesThemBackInTheOrderOfTheirNumbers) {
  const auto runs = read_runs(folder_.path());
  ASSERT_TRUE(runs) << runs.error().line();
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0], good_run("1x2", "legacy", 2));
  EXPECT_EQ((*runs)[1], good_run("2x2", "native", 10));
}

TEST_F(ReadRuns, AFolderUnderAnotherNameIsNotThatRun) {
  fs::rename(folder_.path() / kRun, folder_.path() / "runs/002-1x2-legacy-r2");
  expect_error({"run.json", "002-1x2-legacy-r1", "002-1x2-legacy-r2"});
}

TEST_F(ReadRuns, AStrayFileOrLinkIsNotPassedOver) {
  folder_.write("runs/notes.txt", "");
  expect_error({"notes.txt"});
  fs::remove(folder_.path() / "runs/notes.txt");
  folder_.write(std::string(kRun) + "/core", "");
  expect_error({"002-1x2-legacy-r1/core"});
  fs::remove(folder_.path() / kRun / "core");
  fs::rename(folder_.path() / kRun, folder_.path() / "elsewhere");
  fs::create_symlink("../elsewhere", folder_.path() / kRun);
  expect_error({"002-1x2-legacy-r1"});
}

TEST_F(ReadRuns, AMissingFileIsNamed) {
  fs::remove(folder_.path() / kRun / "workers.jsonl");
  expect_error({"workers.jsonl"});
}

TEST_F(ReadRuns, AFaultyLineIsNamedWithItsNumber) {
  const std::string file = std::string(kRun) + "/workers.jsonl";
  const std::string good = folder_.read(file);
  const std::string first = good.substr(0, good.find('\n') + 1);
  folder_.write(file, first + "{}\n");
  expect_error({"workers.jsonl:2", "\"worker\""});
  folder_.write(file, first + "\n");
  expect_error({"workers.jsonl:2"});
}

TEST_F(ReadRuns, AFileThatWasCutShortIsNotReadAsAShorterOne) {
  const std::string file = std::string(kRun) + "/workers.jsonl";
  const std::string good = folder_.read(file);
  folder_.write(file, good.substr(0, good.size() - 1));
  expect_error({"workers.jsonl:2", "cut short"});
}

TEST_F(ReadRuns, TwoRunsOfOneNumberContradictEachOther) {
  auto run = good_run("1x1", "native", 2);
  {
    auto text = print_run(run.record);
    folder_.write("runs/002-1x1-native-r1/run.json", text);
    folder_.write("runs/002-1x1-native-r1/workers.jsonl", "");
  }
  expect_error({"number 2"});
}

TEST_F(ReadRuns, AFolderThatIsNoEvidenceIsWrongUsage) {
  for (const fs::path& path : {folder_.path() / "nothing", folder_.path() / "runs"}) {
    const auto runs = read_runs(path);
    ASSERT_FALSE(runs);
    EXPECT_EQ(runs.error().kind, base::ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace rollcall::evidence
