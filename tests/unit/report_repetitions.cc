// Means of repeated answers: only of what every one of them has as a number.
#include <gtest/gtest.h>

#include "report/repetitions.h"

namespace rollcall::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(Repetitions, MeanAndDeviationOfEveryNumber) {
  const std::vector<Json> documents = {{{"a_ms", 1.0}, {"n", 4}, {"same", true}},
                                       {{"a_ms", 3.0}, {"n", 4}, {"same", true}}};
  const auto keys = repeated_keys(documents);
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].key, "a_ms");
  EXPECT_DOUBLE_EQ(*keys[0].value.mean, 2.0);
  EXPECT_NEAR(*keys[0].value.sd, 1.41421356, 1e-8);
  EXPECT_NE(repetitions_text(documents).find("2.000"), std::string::npos);
  const Json json = Json::parse(repetitions_json(documents));
  EXPECT_EQ(json["repetitions"].size(), 2U);
  EXPECT_EQ(json["mean"]["a_ms"], 2.0);
}

TEST(Repetitions, OneHasNoDeviation) {
  const std::vector<Json> documents = {{{"a_ms", 1.0}}};
  EXPECT_EQ(repetitions_text(documents).find("±"), std::string::npos);
  EXPECT_TRUE(Json::parse(repetitions_json(documents))["sd"]["a_ms"].is_null());
}

TEST(Repetitions, AKeyThatOneLacksHasNoMean) {
  EXPECT_TRUE(repeated_keys({{{"a_ms", 1.0}}, {{"b_ms", 1.0}}}).empty());
  EXPECT_TRUE(repeated_keys({{{"a_ms", 1.0}}, {{"a_ms", nullptr}}}).empty());
  EXPECT_TRUE(repeated_keys({}).empty());
}

}  // namespace
}  // namespace rollcall::report
