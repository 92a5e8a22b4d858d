// Who may wait: the bound of a tenant, the bound of all, and who goes when all places
// are taken.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <set>

#include "broker/admission.h"

namespace rollcall::broker {
namespace {

const TenantKey kA = tenant_key(1, 0, 0);
const TenantKey kB = tenant_key(2, 0, 0);
const TenantKey kC = tenant_key(3, 0, 0);

TEST(TenantKey, TwoRootsOfDifferentContainersAreDifferentTenants) {
  EXPECT_NE(tenant_key(1, 10, 0), tenant_key(2, 10, 0));  // cgroups
  EXPECT_NE(tenant_key(1, 10, 0), tenant_key(1, 20, 0));  // PID namespaces
  EXPECT_NE(tenant_key(0, 10, 0), tenant_key(0, 20, 0));
}

TEST(TenantKey, TheUserCountsOnlyWhereNothingElseIsKnown) {
  EXPECT_EQ(tenant_key(1, 10, 0), tenant_key(1, 10, 1000));
  EXPECT_EQ(tenant_key(0, 10, 0), tenant_key(0, 10, 1000));
  EXPECT_NE(tenant_key(0, 0, 1), tenant_key(0, 0, 1000));
}

TEST(Admission, ATenantHasItsBoundAndOthersAreNotTouched) {
  Admission admission({2, 10});
  EXPECT_EQ(admission.admit(kA).verdict, Verdict::kAdmitted);
  EXPECT_EQ(admission.admit(kA).verdict, Verdict::kAdmitted);
  EXPECT_EQ(admission.admit(kA).verdict, Verdict::kTenantFull);
  EXPECT_EQ(admission.admit(kB).verdict, Verdict::kAdmitted);
  EXPECT_EQ(admission.waiting(), 3U);
  EXPECT_EQ(admission.tenants(), 2U);
}

TEST(Admission, WhoLeavesMakesRoomForItsTenant) {
  Admission admission({1, 10});
  const Place place = admission.admit(kA).place;
  EXPECT_EQ(admission.admit(kA).verdict, Verdict::kTenantFull);
  admission.leave(place);
  EXPECT_EQ(admission.tenants(), 0U);
  EXPECT_EQ(admission.admit(kA).verdict, Verdict::kAdmitted);
}

TEST(Admission, TheOldestOfTheLargestTenantGoes) {
  Admission admission({4, 4});
  const Place oldest = admission.admit(kA).place;
  const Place b = admission.admit(kB).place;
  admission.admit(kA);
  admission.admit(kA);
  const Admitted admitted = admission.admit(kC);
  EXPECT_EQ(admitted.verdict, Verdict::kAdmitted);
  ASSERT_TRUE(admitted.evicted.has_value());
  EXPECT_EQ(*admitted.evicted, oldest);
  EXPECT_NE(*admitted.evicted, b);
  EXPECT_EQ(admission.waiting(), 4U);
}

TEST(Admission, ThoseWhoHaveMostPutNobodyOut) {
  Admission admission({4, 4});
  for (int i = 0; i < 3; ++i) admission.admit(kA);
  admission.admit(kB);
  EXPECT_EQ(admission.admit(kA).verdict, Verdict::kTotalFull);
  EXPECT_FALSE(admission.admit(kA).evicted.has_value());
}

// Two against two: a third of either would only change places.
TEST(Admission, EqualsDoNotPutEachOtherOut) {
  Admission admission({4, 4});
  for (int i = 0; i < 2; ++i) {
    admission.admit(kA);
    admission.admit(kB);
  }
  EXPECT_EQ(admission.admit(kA).verdict, Verdict::kTotalFull);
  EXPECT_EQ(admission.admit(kB).verdict, Verdict::kTotalFull);
  EXPECT_EQ(admission.admit(kC).verdict, Verdict::kAdmitted);
  // Three against two of each other, and one: nobody has two more than another.
  EXPECT_EQ(admission.admit(kC).verdict, Verdict::kTotalFull);
}

TEST(Admission, ANewcomerIsNeverLargerThanWhomItPutOut) {
  Admission admission({10, 5});
  for (int i = 0; i < 5; ++i) admission.admit(kA);
  EXPECT_TRUE(admission.admit(kB).evicted.has_value());   // 4, 1
  EXPECT_TRUE(admission.admit(kB).evicted.has_value());   // 3, 2
  EXPECT_FALSE(admission.admit(kB).evicted.has_value());  // it would be 2, 3
}

// Against a model that searches: counts, order of age, and no place given twice.
TEST(Admission, AgreesWithAModelOverManySteps) {
  constexpr Bounds kBounds{5, 12};
  std::mt19937 random(1);
  Admission admission(kBounds);
  std::map<TenantKey, std::deque<Place>> model;
  std::set<Place> taken;
  int evictions = 0, refusals = 0;
  for (int step = 0; step < 20'000; ++step) {
    const TenantKey tenant = tenant_key(1 + random() % 4, 0, 0);
    if (random() % 3 == 0 && !model[tenant].empty()) {
      const size_t which = random() % model[tenant].size();
      const Place place = model[tenant][which];
      model[tenant].erase(model[tenant].begin() + static_cast<std::ptrdiff_t>(which));
      taken.erase(place);
      admission.leave(place);
    } else {
      size_t most = 0;
      for (const auto& [key, places] : model) most = std::max(most, places.size());
      const size_t held = model[tenant].size();
      const Admitted admitted = admission.admit(tenant);
      if (held >= kBounds.per_tenant) {
        ASSERT_EQ(admitted.verdict, Verdict::kTenantFull);
      } else if (taken.size() == kBounds.total && most <= held + 1) {
        ASSERT_EQ(admitted.verdict, Verdict::kTotalFull);
        ++refusals;
      } else {
        ASSERT_EQ(admitted.verdict, Verdict::kAdmitted);
        ASSERT_EQ(admitted.evicted.has_value(), taken.size() == kBounds.total);
        if (admitted.evicted) {
          ++evictions;
          bool found = false;
          for (auto& [key, places] : model) {
            if (places.size() != most || places.front() != *admitted.evicted) continue;
            places.pop_front();
            found = true;
          }
          ASSERT_TRUE(found) << "not the oldest of a largest tenant";
          taken.erase(*admitted.evicted);
        }
        ASSERT_LT(admitted.place, kBounds.total);
        ASSERT_TRUE(taken.insert(admitted.place).second) << "a place was given twice";
        model[tenant].push_back(admitted.place);
      }
    }
    ASSERT_EQ(admission.waiting(), taken.size());
  }
  EXPECT_GT(evictions, 100);
  EXPECT_GT(refusals, 100);
}

}  // namespace
}  // namespace rollcall::broker
