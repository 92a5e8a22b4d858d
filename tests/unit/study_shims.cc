// Arms of the user's own: which names, files and values are taken, and what the trial
// of a shim means.
#include <elf.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>

#include "evidence_temporary_folder.h"
#include "study/plan.h"
#include "study/shim_file.h"
#include "study/shim_trial.h"

namespace rollcall::study {
namespace {

using evidence::Fate;
using evidence::IdentityKind;
using evidence::Stage;
using Strings = std::vector<std::string>;

// The head of an ELF file.
std::string elf(unsigned char file_class = ELFCLASS64, uint16_t machine = EM_X86_64, uint16_t type = ET_DYN) {
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = file_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_type = type;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::string what(const base::Result<void>& result) {
  return result ? "fine" : result.error().what;
}

TEST(ShimFile, ASharedObjectForThisProcessorIsTaken) {
  EXPECT_TRUE(check_shared_object(elf(), "x"));
}

TEST(ShimFile, AnythingElseIsNamedForWhatItIs) {
  EXPECT_EQ(what(check_shared_object("", "x")), "is not an ELF library");
  EXPECT_EQ(what(check_shared_object("#!/bin/sh\n", "x")), "is not an ELF library");
  EXPECT_EQ(what(check_shared_object(elf().substr(0, 20), "x")), "is an ELF file cut short");
  EXPECT_EQ(what(check_shared_object(elf(ELFCLASS64, EM_AARCH64), "x")),
            "is built for 64-bit Arm, expected 64-bit x86");
  EXPECT_EQ(what(check_shared_object(elf(ELFCLASS32, EM_386), "x")),
            "is built for 32-bit x86, expected 64-bit x86");
  EXPECT_EQ(what(check_shared_object(elf(ELFCLASS64, EM_X86_64, ET_EXEC), "x")),
            "is an ELF file, but no shared object");
}

class Shims : public testing::Test {
 protected:
  void SetUp() override { folder_.write("shim.so", elf()); }
  [[nodiscard]] std::string file(const char* name = "shim.so") const {
    return (folder_.path() / name).string();
  }
  base::Result<std::vector<Arm>> resolve() { return resolve_shims(request_); }
  std::string refusal() {
    const auto arms = resolve();
    if (arms) return "accepted";
    EXPECT_EQ(arms.error().kind, base::ErrorKind::kUsage);
    return arms.error().line();
  }
  void define(ArmRequest arm) { request_.defined_arms = {std::move(arm)}; }
  [[nodiscard]] ArmRequest mine() const {
    ArmRequest arm;
    arm.name = "mine";
    arm.preload = "shim.so";
    arm.folder = folder_.path();
    return arm;
  }

  test::TemporaryFolder folder_;
  PlanRequest request_;
};

TEST_F(Shims, TheOptionMakesAnArmWhoseSourceIsToBeFound) {
  request_.shims = {"mine=" + file()};
  const auto arms = resolve();
  ASSERT_TRUE(arms) << arms.error().line();
  ASSERT_EQ(arms->size(), 1U);
  const Arm& arm = arms->front();
  EXPECT_EQ(arm.name, "mine");
  EXPECT_EQ(arm.preload, std::filesystem::canonical(file()));
  EXPECT_EQ(arm.preload_sha256.size(), 64U);
  EXPECT_EQ(arm.identity, IdentitySourceKind::kAuto);
  EXPECT_EQ(arm.identity_kind, IdentityKind::kNvml);
  EXPECT_EQ(arm.cache_variable, "CUDA_DEVICE_MEMORY_SHARED_CACHE");
  EXPECT_TRUE(arm.has_shim());
}

TEST_F(Shims, WhatIsDefinedIsRunWithoutBeingNamedAgain) {
  request_.shims = {"mine=" + file()};
  const auto plan = resolve_plan(request_, TEST_PROFILE_DIR);
  ASSERT_TRUE(plan) << plan.error().line();
  EXPECT_EQ(plan->arms, (Strings{"native", "legacy", "tiered", "mine"}));
  request_.arms = {"mine", "native"};
  EXPECT_EQ(resolve_plan(request_, TEST_PROFILE_DIR)->arms, (Strings{"mine", "native"}));
}

TEST_F(Shims, AnArmOfThePlanThatIsNotRunNeedsNoLibrary) {
  ArmRequest arm = mine();
  arm.preload.reset();
  define(arm);
  EXPECT_NE(refusal().find("--shim mine=PATH"), std::string::npos);
  request_.arms = {"native"};
  EXPECT_EQ(resolve()->size(), 0U);
}

TEST_F(Shims, TheOptionGivesAnArmOfThePlanItsLibrary) {
  ArmRequest arm = mine();
  arm.preload.reset();
  arm.identity = "hami-core";
  arm.cache_env = "CACHE";
  arm.environment = {{"LEVEL", "2"}};
  define(arm);
  request_.shims = {"mine=" + file()};
  const auto arms = resolve();
  ASSERT_TRUE(arms) << arms.error().line();
  EXPECT_EQ(arms->front().identity, IdentitySourceKind::kHamiCore);
  EXPECT_EQ(arms->front().cache_variable, "CACHE");
  EXPECT_EQ(arms->front().environment.size(), 1U);
}

TEST_F(Shims, ALibraryOfThePlanLiesBesideThePlan) {
  define(mine());
  EXPECT_TRUE(resolve());
}

TEST_F(Shims, WrongNamesAndPathsAreRefused) {
  for (const char* text : {"", "mine", "=x", "mine=", "Mine=x", "a b=x", "../x=y", "native=x", "legacy=x"}) {
    request_.shims = {text == std::string("native=x") || text == std::string("legacy=x")
                          ? std::string(text, strlen(text) - 1) + file()
                          : text};
    EXPECT_TRUE(refusal().starts_with("--shim")) << text << ": " << refusal();
  }
  request_.shims = {"mine=" + file("none.so")};
  EXPECT_NE(refusal().find("none.so: cannot find the shim"), std::string::npos);
  request_.shims = {"mine=" + folder_.path().string()};
  EXPECT_NE(refusal().find("is not a file"), std::string::npos);
  folder_.write("with blank.so", elf());
  request_.shims = {"mine=" + file("with blank.so")};
  EXPECT_NE(refusal().find("a blank, a colon or a dollar sign"), std::string::npos);
  request_.shims = {"mine=" + file(), "mine=" + file()};
  EXPECT_NE(refusal().find("two libraries"), std::string::npos);
}

TEST_F(Shims, TheLogSourceNeedsItsPatternAndNoOtherTakesOne) {
  ArmRequest arm = mine();
  arm.log_assigned = "(?P<own>[0-9]+) is (?P<assigned>[0-9]+)";
  define(arm);
  EXPECT_EQ(resolve()->front().identity, IdentitySourceKind::kLog) << "the pattern says it";
  arm.identity = "hami-core";
  define(arm);
  EXPECT_NE(refusal().find("identity = \"log\""), std::string::npos);
  arm.identity = "log";
  arm.log_assigned.reset();
  define(arm);
  EXPECT_NE(refusal(), "accepted");
}

TEST_F(Shims, TimingAloneClaimsNoNumber) {
  ArmRequest arm = mine();
  arm.identity = "none";
  define(arm);
  EXPECT_EQ(resolve()->front().identity_kind, IdentityKind::kNone);
  arm.identity_kind = "host";
  define(arm);
  EXPECT_NE(refusal().find("claims no number"), std::string::npos);
}

TEST_F(Shims, WordsThatAreUnknownNameTheNearest) {
  ArmRequest arm = mine();
  arm.identity = "hami";
  define(arm);
  EXPECT_NE(refusal().find("hami-core"), std::string::npos);
  arm = mine();
  arm.identity_kind = "hots";
  define(arm);
  EXPECT_NE(refusal().find("did you mean 'host'"), std::string::npos);
}

TEST_F(Shims, TheCacheVariableIsANameThatDecidesNothingElse) {
  for (const char* name :
       {"", "A=B", "A B", "PATH", "LD_PRELOAD", "LD_AUDIT", "CUDA_VISIBLE_DEVICES", "ROLLCALL_SIM_SOCKET"}) {
    ArmRequest arm = mine();
    arm.cache_env = name;
    define(arm);
    EXPECT_NE(refusal(), "accepted") << name;
  }
}

TEST_F(Shims, WhatRollcallSetsItselfIsNotForThePlan) {
  for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "ROLLCALL_SIM_SOCKET",
                           "CUDA_DEVICE_MEMORY_SHARED_CACHE"}) {
    ArmRequest arm = mine();
    arm.environment = {{name, "x"}};
    define(arm);
    EXPECT_NE(refusal().find(name), std::string::npos);
  }
}

class Trial : public testing::Test {
 protected:
  Trial() {
    arm_.name = "mine";
    arm_.preload = "/x/libmine.so";
    outcome_.worker.fate = Fate::kFinished;
    outcome_.worker.stage = Stage::kFinished;
    outcome_.worker.exit_code = 0;
    outcome_.worker.shim_loaded = true;
  }
  void died(Stage stage, std::optional<int> code, std::optional<int> signal) {
    outcome_.worker.fate = Fate::kDied;
    outcome_.worker.stage = stage;
    outcome_.worker.exit_code = code;
    outcome_.worker.exit_signal = signal;
    outcome_.worker.shim_loaded.reset();
  }
  std::string verdict() {
    const auto result = judge_trial(outcome_, arm_);
    return result ? "usable" : result.error().line();
  }
  bool says(const std::string& text) { return verdict().find(text) != std::string::npos; }

  TrialOutcome outcome_;
  Arm arm_;
};

TEST_F(Trial, AWorkerThatFinishedWithTheShimMappedShowsThatItIsUsable) {
  EXPECT_EQ(verdict(), "usable");
}

TEST_F(Trial, ACrashBeforeTheGateIsACrashInLoading) {
  for (const Stage stage : {Stage::kNone, Stage::kStarted}) {
    died(stage, std::nullopt, SIGSEGV);
    EXPECT_TRUE(says("while it was being loaded")) << verdict();
    EXPECT_TRUE(says("SIGSEGV")) << verdict();
    EXPECT_TRUE(says("/x/libmine.so")) << verdict();
  }
  died(Stage::kNone, 7, std::nullopt);
  EXPECT_TRUE(says("exit status 7")) << verdict();
}

TEST_F(Trial, AMissingSymbolIsNamedWheneverItIsMissed) {
  outcome_.log =
      "before\nbin/rollcall-worker: symbol lookup error: /x/libmine.so: undefined symbol: gone\nafter\n";
  for (const Stage stage : {Stage::kNone, Stage::kReleased}) {
    died(stage, 127, std::nullopt);
    EXPECT_TRUE(says("cannot be loaded: /x/libmine.so: undefined symbol: gone")) << verdict();
    EXPECT_FALSE(says("after"));
  }
}

TEST_F(Trial, AShimThatTheLoaderIgnoredIsNotInUse) {
  outcome_.worker.shim_loaded = false;
  outcome_.log =
      "ERROR: ld.so: object '/x/libmine.so' from LD_PRELOAD cannot be preloaded (version): ignored.\n";
  EXPECT_TRUE(says("was not taken by the loader: object '/x/libmine.so'")) << verdict();
}

TEST_F(Trial, WhatGoesWrongInCuInitIsForTheRunsToShow) {
  died(Stage::kReleased, 7, std::nullopt);
  EXPECT_EQ(verdict(), "usable");
  outcome_.worker.fate = Fate::kDeadline;
  EXPECT_EQ(verdict(), "usable");
}

}  // namespace
}  // namespace rollcall::study
