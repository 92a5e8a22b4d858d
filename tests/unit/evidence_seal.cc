// What a seal says of a folder that was changed, and the one thing that may be added to it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "evidence/folder.h"
#include "evidence/folder_lock.h"
#include "evidence/seal.h"
#include "evidence_temporary_folder.h"

namespace rollcall::evidence {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& file, const std::string& content) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << content;
}

// A sealed folder with three files.
struct Sealed {
  test::TemporaryFolder temporary;
  fs::path folder = temporary.path() / "e";
  Sealed() {
    put(folder / "plan.json", "{}\n");
    put(folder / "runs/001/run.json", "{}\n");
    put(folder / "derived/summary.csv", "a\n");
    fs::create_directories(folder / "runs/001/logs");
    put(folder / "SHA256SUMS", checksum_lines(folder).value());
  }
  [[nodiscard]] std::string first_difference() const {
    const auto check = examine_seal(folder).value();
    return check.differences.empty() ? "" : check.differences.front().file;
  }
};

TEST(Seal, AnIntactFolderHasNoDifferenceAndIsCounted) {
  const Sealed sealed;
  const auto check = examine_seal(sealed.folder).value();
  EXPECT_EQ(check.state, SealState::kIntact);
  EXPECT_TRUE(check.differences.empty());
  EXPECT_EQ(check.files, 3U);
}

TEST(Seal, EveryDifferenceIsNamedByPath) {
  const Sealed sealed;
  put(sealed.folder / "derived/summary.csv", "b\n");
  put(sealed.folder / "runs/001/extra", "");
  fs::remove(sealed.folder / "plan.json");
  const auto check = examine_seal(sealed.folder).value();
  ASSERT_EQ(check.differences.size(), 3U);
  EXPECT_EQ(check.differences[0].file, "derived/summary.csv");
  EXPECT_EQ(check.differences[1].file, "plan.json");
  EXPECT_EQ(check.differences[2].file, "runs/001/extra");
  EXPECT_EQ(check.differences[2].what, kWasAdded);
}

TEST(Seal, LinesInAnotherOrderAreADifference) {
  const Sealed sealed;
  const std::string lines = base::read_file(sealed.folder / "SHA256SUMS", 1 << 20).value();
  const size_t end = lines.find('\n') + 1;
  put(sealed.folder / "SHA256SUMS", lines.substr(end) + lines.substr(0, end));
  EXPECT_EQ(sealed.first_difference(), "SHA256SUMS");
}

TEST(Seal, WhatIsNoFileIsADifferenceButEmptyLogsAreNot) {
  const Sealed sealed;
  EXPECT_EQ(sealed.first_difference(), "");
  fs::create_directories(sealed.folder / "runs/002");
  EXPECT_EQ(sealed.first_difference(), "runs/002");
  fs::remove(sealed.folder / "runs/002");
  fs::create_symlink("plan.json", sealed.folder / "runs/link");
  EXPECT_EQ(sealed.first_difference(), "runs/link");
}

TEST(AddDerived, TheReportIsAddedWithItsLineOnce) {
  const Sealed sealed;
  ASSERT_TRUE(add_derived(sealed.folder, kReportFile, "<html>"));
  EXPECT_EQ(examine_seal(sealed.folder).value().state, SealState::kIntact);
  EXPECT_EQ(examine_seal(sealed.folder).value().files, 4U);
  EXPECT_TRUE(add_derived(sealed.folder, kReportFile, "<html>"));
  const auto other = add_derived(sealed.folder, kReportFile, "<other>");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(base::read_file(sealed.folder / "derived/report.html", 100).value(), "<html>");
}

TEST(AddDerived, NothingElseIsTaken) {
  const Sealed sealed;
  EXPECT_FALSE(add_derived(sealed.folder, "summary2.csv", "x"));
  EXPECT_FALSE(add_derived(sealed.folder, "../report.html", "x"));
  EXPECT_EQ(examine_seal(sealed.folder).value().state, SealState::kIntact);
}

TEST(AddDerived, AChangedFolderIsNotSealedAgain) {
  const Sealed sealed;
  put(sealed.folder / "plan.json", "{} \n");
  const auto added = add_derived(sealed.folder, kReportFile, "<html>");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, base::ErrorKind::kDifference);
  EXPECT_FALSE(fs::exists(sealed.folder / "derived/report.html"));
}

TEST(AddDerived, AnUnfinishedFolderIsRefused) {
  const Sealed sealed;
  fs::remove(sealed.folder / "SHA256SUMS");
  EXPECT_FALSE(add_derived(sealed.folder, kReportFile, "<html>"));
  EXPECT_FALSE(fs::exists(sealed.folder / "derived/report.html"));
}

TEST(AddDerived, WhatAKilledCallLeftIsFinished) {
  const Sealed sealed;
  // Killed after the document, and while the new seal waited for its name.
  put(sealed.folder / "derived/report.html", "<html>");
  put(sealed.folder / "SHA256SUMS.next", "half a li");
  ASSERT_TRUE(add_derived(sealed.folder, kReportFile, "<html>"));
  EXPECT_EQ(examine_seal(sealed.folder).value().state, SealState::kIntact);
  EXPECT_FALSE(fs::exists(sealed.folder / "SHA256SUMS.next"));
}

TEST(AddDerived, AFolderThatSomebodyWritesIsLeftAlone) {
  const Sealed sealed;
  const auto lock = lock_folder(sealed.folder);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(add_derived(sealed.folder, kReportFile, "<html>"));
}

}  // namespace
}  // namespace rollcall::evidence
