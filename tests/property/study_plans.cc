// A frozen plan is read back as it was, and nothing makes its reader fall over.
#include <gtest/gtest.h>

#include "study_generators.h"

namespace rollcall::property {
namespace {

TEST(RoundTrip, Plan) {
  EXPECT_TRUE(rc::check("parse_plan(print_plan(p)) == p", [] {
    const study::Plan plan = *any_plan();
    const auto back = study::parse_plan(study::print_plan(plan), "plan.json");
    if (!back) RC_FAIL(back.error().line());
    RC_ASSERT(*back == plan);
    RC_ASSERT(study::print_plan(*back) == study::print_plan(plan));
  }));
}

TEST(Reading, AnyTextIsAPlanOrAnError) {
  EXPECT_TRUE(rc::check("parse_plan returns", [] {
    const auto text =
        *rc::gen::oneOf(rc::gen::arbitrary<std::string>(), nearly(study::print_plan(study::Plan{})));
    const auto plan = study::parse_plan(text, "plan.json");
    if (plan) {
      RC_ASSERT(study::parse_plan(study::print_plan(*plan), "plan.json") == *plan);
    } else {
      RC_ASSERT(plan.error().line().find('\n') == std::string::npos);
    }
  }));
}

TEST(Reading, AnyTextIsAPlanFileOrAnErrorWithItsPlace) {
  const std::string good =
      "[study]\ntopologies = [\"1x4\"]\narms = [\"native\"]\nruns = 2\ntime_scale = 0.5\nnode = \"sim\"\n";
  EXPECT_TRUE(rc::check("parse_plan_file returns", [&] {
    const auto text = *rc::gen::oneOf(rc::gen::arbitrary<std::string>(), nearly(good));
    const auto request = study::parse_plan_file(text, "plan.toml");
    if (request) return;
    RC_ASSERT(request.error().kind == base::ErrorKind::kUsage);
    RC_ASSERT(request.error().line().find("plan.toml:") == 0);
    RC_ASSERT(request.error().line().find('\n') == std::string::npos);
  }));
}

}  // namespace
}  // namespace rollcall::property
