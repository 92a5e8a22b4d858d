// The arms that are built in, and where the programs' companions are looked for.
#include <gtest/gtest.h>

#include "base/process.h"
#include "evidence_temporary_folder.h"
#include "study/arms.h"
#include "study/broker.h"
#include "study/paths.h"

namespace rollcall::study {
namespace {

TEST(Arms, NativeHasNoShimNoCacheAndNothingToRead) {
  const auto arm = find_arm("native", {}, "--arm");
  ASSERT_TRUE(arm);
  EXPECT_FALSE(arm->has_shim());
  EXPECT_TRUE(arm->cache_variable.empty());
  EXPECT_EQ(arm->identity, IdentitySourceKind::kNone);
  EXPECT_EQ(arm->identity_kind, evidence::IdentityKind::kNone);
}

TEST(Arms, TheLegacyOnesPreloadOurShimAndClaimAnNvmlPid) {
  for (const char* name : {"legacy", "legacy-node-lock"}) {
    const auto arm = find_arm(name, {}, "--arm");
    ASSERT_TRUE(arm) << name;
    EXPECT_TRUE(arm->has_shim());
    EXPECT_EQ(arm->name, name);
    EXPECT_EQ(arm->discovery, name);
    EXPECT_EQ(arm->cache_variable, "CUDA_DEVICE_MEMORY_SHARED_CACHE");
    EXPECT_EQ(arm->identity, IdentitySourceKind::kRollcall);
    EXPECT_EQ(arm->identity_kind, evidence::IdentityKind::kNvml);
  }
}

TEST(Arms, TheTieredOneClaimsBothPids) {
  const auto arm = find_arm("tiered", {}, "--arm");
  ASSERT_TRUE(arm);
  EXPECT_TRUE(arm->own_shim);
  EXPECT_EQ(arm->discovery, "tiered");
  EXPECT_EQ(arm->identity, IdentitySourceKind::kRollcall);
  EXPECT_EQ(arm->identity_kind, evidence::IdentityKind::kBoth);
  EXPECT_EQ(arm->cache_variable, "CUDA_DEVICE_MEMORY_SHARED_CACHE");
}

// In a container this is another test than on a host; together they hold both.
TEST(Broker, IsStartedUnaskedForTieredAloneAndOnlyInAContainerOfASimulatedNode) {
  const bool elsewhere = base::own_pid_namespace_inode() != base::kInitialPidNamespaceInode;
  Plan plan;
  plan.arms = {"native", "legacy"};
  EXPECT_FALSE(needs_broker(plan));
  plan.arms = {"native", "tiered"};
  EXPECT_EQ(needs_broker(plan), elsewhere);
  EXPECT_EQ(needs_broker(plan, *find_arm("tiered", {}, "")), elsewhere);
  EXPECT_FALSE(needs_broker(plan, *find_arm("native", {}, "")));
  plan.node = evidence::NodeKind::kReal;
  EXPECT_FALSE(needs_broker(plan));
  plan.broker = true;
  EXPECT_TRUE(needs_broker(plan, *find_arm("native", {}, "")));
}

TEST(Arms, TheControlsHaveNoShimAndAnExerciseOfTheirOwn) {
  const auto context = find_arm("native-context", {}, "--arm");
  const auto nvml = find_arm("nvml-only", {}, "--arm");
  ASSERT_TRUE(context && nvml);
  EXPECT_FALSE(context->has_shim() || nvml->has_shim());
  EXPECT_EQ(context->exercise, evidence::Exercise::kProbe);
  EXPECT_EQ(nvml->exercise, evidence::Exercise::kNvmlInit);
}

TEST(Arms, OneOfTheUsersIsFoundBesideTheBuiltInOnes) {
  Arm mine;
  mine.name = "mine";
  mine.preload = "/x.so";
  EXPECT_EQ(find_arm("mine", {mine}, "")->preload, "/x.so");
  EXPECT_NE(find_arm("mien", {mine}, "").error().line().find("did you mean 'mine'"), std::string::npos);
}

TEST(Arms, EveryOneThatIsOfferedIsFoundByItsName) {
  for (const Arm& arm : built_in_arms()) EXPECT_EQ(find_arm(arm.name, {}, "")->name, arm.name);
}

TEST(Arms, AnUnknownOneIsWrongUsageAndNamesAllAndTheNearest) {
  const auto arm = find_arm("natve", {}, "plan.toml:3:1");
  ASSERT_FALSE(arm);
  EXPECT_EQ(arm.error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(arm.error().line(),
            "plan.toml:3:1: unknown arm 'natve'; expected one of native, native-context, nvml-only, legacy, "
            "legacy-node-lock, tiered; "
            "did you mean 'native'?");
}

TEST(Paths, CompanionsLieBesideTheRunningProgram) {
  const auto paths = find_paths();
  ASSERT_TRUE(paths) << paths.error().line();
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto prefix = self.parent_path().parent_path();
  EXPECT_EQ(paths->self, self);
  EXPECT_EQ(paths->worker, prefix / "bin/rollcall-worker");
  EXPECT_EQ(paths->namespace_holder, prefix / "bin/rollcall-namespace");
  EXPECT_EQ(paths->hostpidd, prefix / "bin/hostpidd");
  EXPECT_EQ(paths->simgpud, prefix / "bin/simgpud");
  EXPECT_EQ(paths->shim, prefix / "lib/rollcall/librollcall_shim.so");
  EXPECT_EQ(paths->sim_dir, prefix / "lib/rollcall/sim");
  EXPECT_EQ(paths->profile_dir, prefix / "share/rollcall/profiles");
}

TEST(Paths, AMissingCompanionIsAnErrorWithItsNameAndWhatToDo) {
  const test::TemporaryFolder folder;
  folder.write("worker", "");
  EXPECT_TRUE(require_file(folder.path() / "worker", "the worker"));
  const auto missing = require_file(folder.path() / "absent", "the worker");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, base::ErrorKind::kFailure);
  const std::string line = missing.error().line();
  EXPECT_NE(line.find((folder.path() / "absent").string()), std::string::npos);
  EXPECT_NE(line.find("the worker"), std::string::npos);
  EXPECT_NE(line.find("scripts/build"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::study
