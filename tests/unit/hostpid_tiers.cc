// Which PIDs are known, by which tier, and why not: the table of docs/identity.md.
#include <gtest/gtest.h>

#include <string>

#include "hostpid/tiers.h"
#include "hostpid_world.h"

namespace rollcall::hostpid {
namespace {

constexpr const char* kPath = "/run/hostpid/broker.sock";

class Tiers : public testing::Test {
 protected:
  // A device on which the challenge is answered by the entry with this PID, or refused.
  void has_context(uint32_t own_entry, Reason refused = Reason::kNone) {
    entry_ = own_entry;
    refused_ = refused;
    site_ = {this,
             [](void* s, ChallengeDriver* driver, ChallengeMemory** memory) {
               auto* self = static_cast<Tiers*>(s);
               ++self->prepared_;
               *driver = {s, list, allocate, release, free_bytes};
               *memory = &self->memory_;
               return self->refused_;
             },
             [](void* s) { ++static_cast<Tiers*>(s)->restored_; }};
  }

  hostpid_result discover(uint32_t tiers = HOSTPID_ALL_TIERS) {
    hostpid_options options;
    hostpid_options_init(&options);
    options.tiers_allowed = tiers;
    options.broker_path = world_.script.empty() ? nullptr : kPath;
    options.nvml_view = known_view_;
    World world = world_.world();
    world.challenge = site_;
    hostpid_result result;
    rollcall::hostpid::discover(options, world, &result);
    EXPECT_EQ(prepared_, restored_);
    EXPECT_EQ(allocated_, 0U);
    return result;
  }

  void broker_says(uint32_t pid, hostpid_nvml_view view) {
    world_.script = {says(Command::kExtended, right_answer(world_, pid, view))};
  }

  ScriptedWorld world_;
  uint32_t known_view_ = HOSTPID_VIEW_UNKNOWN;
  int prepared_ = 0;

 private:
  static ListResult list(void* s, ListedProcess* entries, size_t* count) {
    auto* self = static_cast<Tiers*>(s);
    entries[0] = {1, 100 * kStepBytes};
    entries[1] = {self->entry_, 259 * kStepBytes + self->allocated_};
    *count = 2;
    return ListResult::kOk;
  }
  static AllocateResult allocate(void* s, uint64_t bytes, uint64_t* pointer) {
    static_cast<Tiers*>(s)->allocated_ += bytes;
    *pointer = 1;
    return AllocateResult::kOk;
  }
  static bool release(void* s, uint64_t) {
    static_cast<Tiers*>(s)->allocated_ = 0;
    return true;
  }
  static bool free_bytes(void*, uint64_t* bytes) {
    *bytes = UINT64_MAX;
    return true;
  }

  ChallengeSite site_;
  ChallengeMemory memory_;
  uint32_t entry_ = 0;
  uint64_t allocated_ = 0;
  Reason refused_ = Reason::kNone;
  int restored_ = 0;
};

void expect_host(const hostpid_result& result, int pid, int tier) {
  EXPECT_EQ(result.host_pid, pid);
  EXPECT_EQ(result.host_tier, tier);
  EXPECT_EQ(result.host_status, HOSTPID_OK);
  EXPECT_STREQ(result.host_reason, "");
}
void expect_nvml(const hostpid_result& result, int pid, int tier) {
  EXPECT_EQ(result.nvml_pid, pid);
  EXPECT_EQ(result.nvml_tier, tier);
  EXPECT_EQ(result.nvml_status, HOSTPID_OK);
  EXPECT_STREQ(result.nvml_reason, "");
}
void expect_no_host(const hostpid_result& result, int status, const char* reason) {
  EXPECT_EQ(result.host_pid, 0);
  EXPECT_EQ(result.host_tier, HOSTPID_TIER_NONE);
  EXPECT_EQ(result.host_status, status);
  EXPECT_STREQ(result.host_reason, reason);
}
void expect_no_nvml(const hostpid_result& result, int status, const char* reason) {
  EXPECT_EQ(result.nvml_pid, 0);
  EXPECT_EQ(result.nvml_tier, HOSTPID_TIER_NONE);
  EXPECT_EQ(result.nvml_status, status);
  EXPECT_STREQ(result.nvml_reason, reason);
}

// Some drivers list thread ids: that the namespace is the first proves no NVML PID.
TEST_F(Tiers, InTheInitialNamespaceTheHostPidIsKnownAndNothingElse) {
  world_.self.in_initial_pid_namespace = true;
  const auto result = discover();
  expect_host(result, 7, HOSTPID_TIER_INITIAL_NAMESPACE);
  expect_no_nvml(result, HOSTPID_UNAVAILABLE, "no_context");
  EXPECT_EQ(result.status, HOSTPID_PARTIAL);
}

TEST_F(Tiers, InItsOwnNamespaceWithoutABrokerNothingIsKnown) {
  const auto result = discover();
  expect_no_host(result, HOSTPID_UNAVAILABLE, "no_broker");
  expect_no_nvml(result, HOSTPID_UNAVAILABLE, "no_context");
  EXPECT_EQ(result.status, HOSTPID_UNAVAILABLE);
}

TEST_F(Tiers, ABrokerThatKnowsTheViewTellsBothWithoutAContext) {
  broker_says(900, HOSTPID_VIEW_TRANSLATED);
  auto result = discover();
  expect_host(result, 900, HOSTPID_TIER_BROKER);
  expect_nvml(result, 7, HOSTPID_TIER_BROKER);
  EXPECT_EQ(result.status, HOSTPID_OK);
  broker_says(900, HOSTPID_VIEW_GLOBAL);
  result = discover();
  expect_nvml(result, 900, HOSTPID_TIER_BROKER);
  EXPECT_EQ(result.nvml_view, HOSTPID_VIEW_GLOBAL);
}

TEST_F(Tiers, InTheInitialNamespaceTheFirstProofOfTheHostPidStays) {
  world_.self.in_initial_pid_namespace = true;
  broker_says(7, HOSTPID_VIEW_TRANSLATED);
  const auto result = discover();
  expect_host(result, 7, HOSTPID_TIER_INITIAL_NAMESPACE);
  expect_nvml(result, 7, HOSTPID_TIER_BROKER);
}

TEST_F(Tiers, ABrokerWithoutAViewLeavesTheNvmlPidToTheChallenge) {
  broker_says(900, HOSTPID_VIEW_UNKNOWN);
  auto result = discover();
  expect_host(result, 900, HOSTPID_TIER_BROKER);
  expect_no_nvml(result, HOSTPID_UNAVAILABLE, "broker_view_unknown");
  has_context(7);
  result = discover();
  expect_nvml(result, 7, HOSTPID_TIER_CHALLENGE);
  EXPECT_GT(result.rounds, 0);
}

TEST_F(Tiers, TheChallengeProvesTheHostPidOnlyWhereTheViewIsKnownToBeGlobal) {
  has_context(900);
  auto result = discover();
  expect_nvml(result, 900, HOSTPID_TIER_CHALLENGE);
  expect_no_host(result, HOSTPID_UNAVAILABLE, "no_broker");
  EXPECT_EQ(result.status, HOSTPID_PARTIAL);
  known_view_ = HOSTPID_VIEW_TRANSLATED;
  expect_no_host(discover(), HOSTPID_UNAVAILABLE, "no_broker");
  known_view_ = HOSTPID_VIEW_GLOBAL;
  result = discover();
  expect_host(result, 900, HOSTPID_TIER_CHALLENGE);
  EXPECT_EQ(result.status, HOSTPID_OK);
}

// A thread id, or a number that equals getpid(): each number has its own proof.
TEST_F(Tiers, NeitherNumberIsPutInThePlaceOfTheOther) {
  world_.self.in_initial_pid_namespace = true;
  has_context(8);
  const auto result = discover();
  expect_host(result, 7, HOSTPID_TIER_INITIAL_NAMESPACE);
  expect_nvml(result, 8, HOSTPID_TIER_CHALLENGE);
}

TEST_F(Tiers, DoesNotChallengeForWhatIsKnown) {
  has_context(7);
  broker_says(900, HOSTPID_VIEW_TRANSLATED);
  discover();
  EXPECT_EQ(prepared_, 0);
}

TEST_F(Tiers, ARefusedChallengeGivesItsReason) {
  for (const Reason reason :
       {Reason::kMig, Reason::kMps, Reason::kDriverIncomplete, Reason::kDeviceNotPaired}) {
    has_context(7, reason);
    expect_no_nvml(discover(), HOSTPID_UNSUPPORTED, to_text(reason));
  }
}

TEST_F(Tiers, ABrokerThatCannotBeAskedIsTheReasonForBoth) {
  world_.script = {{BrokerSocket::Open::kUntrusted, {}, BrokerSocket::Io::kClosed}};
  auto result = discover();
  expect_no_host(result, HOSTPID_DENIED, "broker_untrusted");
  expect_no_nvml(result, HOSTPID_DENIED, "broker_untrusted");
  has_context(7);
  result = discover();
  expect_no_host(result, HOSTPID_DENIED, "broker_untrusted");
  expect_nvml(result, 7, HOSTPID_TIER_CHALLENGE);
}

TEST_F(Tiers, AsksOnlyWhatIsAllowed) {
  world_.self.in_initial_pid_namespace = true;
  broker_says(7, HOSTPID_VIEW_GLOBAL);
  has_context(7);
  auto result = discover(HOSTPID_TIER_CHALLENGE);
  EXPECT_TRUE(world_.requests.empty());
  expect_nvml(result, 7, HOSTPID_TIER_CHALLENGE);
  expect_no_host(result, HOSTPID_UNAVAILABLE, "view_not_global");
  result = discover(HOSTPID_TIER_INITIAL_NAMESPACE);
  expect_host(result, 7, HOSTPID_TIER_INITIAL_NAMESPACE);
  expect_no_nvml(result, HOSTPID_UNAVAILABLE, "not_asked");
  result = discover(HOSTPID_TIER_BROKER);
  expect_host(result, 7, HOSTPID_TIER_BROKER);
}

TEST_F(Tiers, AProcThatTellsNothingIsSaidToBeTheReason) {
  world_.self = {.own_pid = 7};
  expect_no_host(discover(), HOSTPID_UNSUPPORTED, "kernel_unknown");
}

TEST(Reasons, EachHasAWordASentenceAndAFailure) {
  for (int i = 1; i <= static_cast<int>(Reason::kLast); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(reason_from_text(to_text(reason)), reason);
    EXPECT_GT(std::string(to_sentence(reason)).size(), 15U) << to_text(reason);
    EXPECT_NE(status_of(reason), HOSTPID_OK) << to_text(reason);
  }
  EXPECT_EQ(reason_from_text("nonsense"), Reason::kNone);
  EXPECT_EQ(status_of(Reason::kNone), HOSTPID_OK);
}

}  // namespace
}  // namespace rollcall::hostpid
