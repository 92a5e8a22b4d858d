// How many connections fit into how many file descriptors.
#include <gtest/gtest.h>

#include "broker/server.h"
#include "broker/view.h"

namespace rollcall::broker {
namespace {

TEST(Bounds, WhatIsNeededFits) {
  for (const Bounds bounds : {Bounds{512, 4096}, Bounds{1, 1}, Bounds{65536, 65536}}) {
    const Bounds fit = fitting_bounds(bounds, needed_descriptors(bounds));
    EXPECT_EQ(fit.total, bounds.total);
    EXPECT_EQ(fit.per_tenant, bounds.per_tenant);
  }
}

TEST(Bounds, FewerDescriptorsMakeFewerConnectionsNotNone) {
  const Bounds bounds{512, 4096};
  const Bounds fit = fitting_bounds(bounds, 1024);
  EXPECT_LT(fit.total, 4096U);
  EXPECT_GT(fit.total, 400U);
  EXPECT_LE(needed_descriptors(fit), 1024U);
  EXPECT_LE(fit.per_tenant, fit.total);
  EXPECT_EQ(fitting_bounds(bounds, 10).total, 0U);
  EXPECT_EQ(fitting_bounds(bounds, 0).total, 0U);
}

TEST(View, IsWhatWasSaid) {
  EXPECT_EQ(find_view("global")->view, HOSTPID_VIEW_GLOBAL);
  EXPECT_EQ(find_view("translated")->view, HOSTPID_VIEW_TRANSLATED);
  EXPECT_EQ(find_view("unknown")->view, HOSTPID_VIEW_UNKNOWN);
  EXPECT_FALSE(find_view("Global"));
}

// As where there is no driver, or no rollcall-probe.
TEST(View, ThatCannotBeMeasuredIsUnknownWithAReason) {
  const auto view = find_view("measure");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->reason.empty(), view->view != HOSTPID_VIEW_UNKNOWN);
}

}  // namespace
}  // namespace rollcall::broker
