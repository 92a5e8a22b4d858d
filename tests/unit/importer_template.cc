// How path names carry what a log is of.
#include <gtest/gtest.h>

#include "importer/path_template.h"

namespace rollcall::importer {
namespace {

using Match = PathTemplate::Match;

PathTemplate parsed(const std::string& text) {
  auto result = PathTemplate::parse(text, "--layout");
  EXPECT_TRUE(result) << (result ? "" : result.error().line());
  return result.value_or(PathTemplate());
}
std::string fault(const std::string& text) {
  const auto result = PathTemplate::parse(text, "--layout");
  EXPECT_FALSE(result) << text;
  EXPECT_EQ(result ? base::ErrorKind::kFailure : result.error().kind, base::ErrorKind::kUsage);
  return result ? "" : result.error().line();
}
Match match(const PathTemplate& layout, size_t index, std::string_view name) {
  Bindings bindings;
  return layout.match(index, name, bindings);
}

TEST(ImporterTemplateTest, NamesCarryEveryVariable) {
  const PathTemplate layout = parsed("{arm}-{topology}-run{run}/cache_{cache}.log");
  ASSERT_EQ(layout.names(), 2U);
  Bindings bindings;
  ASSERT_EQ(layout.match(0, "hami-10x2-run03", bindings), Match::kYes);
  EXPECT_EQ(bindings.of(Variable::kArm), "hami");
  EXPECT_EQ(bindings.of(Variable::kTopology), "10x2");
  EXPECT_EQ(bindings.of(Variable::kRun), "03") << "as it is spelt";
  ASSERT_EQ(layout.match(1, "cache_7.log", bindings), Match::kYes);
  EXPECT_EQ(layout.fill(bindings), "hami-10x2-run03/cache_7.log");
}

TEST(ImporterTemplateTest, AnArmMayHoldWhatSeparatesVariables) {
  const PathTemplate layout = parsed("{arm}-{topology}-run{run}");
  Bindings bindings;
  ASSERT_EQ(layout.match(0, "hami-node-lock-1x20-run1", bindings), Match::kYes);
  EXPECT_EQ(bindings.of(Variable::kArm), "hami-node-lock");
}

TEST(ImporterTemplateTest, WhatIsNoTopologyOrNumberDoesNotMatch) {
  const PathTemplate layout = parsed("{arm}-{topology}-run{run}");
  for (const char* name :
       {"hami-10x-run1", "hami-010x2-run1", "hami-10x2-run", "hami-10x2-run1x", "-10x2-run1",
        "hami-10x2-run-1", "hami-10x2-run1234567890", "hami-5000x1-run1", ".hami-1x1-run1"}) {
    EXPECT_EQ(match(layout, 0, name), Match::kNo) << name;
  }
}

TEST(ImporterTemplateTest, AVariableThatStandsTwiceIsTheSameTwice) {
  const PathTemplate layout = parsed("{arm}/{arm}.{topology}.{cache}");
  Bindings bindings;
  ASSERT_EQ(layout.match(0, "native", bindings), Match::kYes);
  EXPECT_EQ(layout.match(1, "hami.1x1.0", bindings), Match::kNo);
  EXPECT_EQ(layout.match(1, "native.1x1.0", bindings), Match::kYes);
}

TEST(ImporterTemplateTest, ANameThatReadsInTwoWaysIsNotRead) {
  EXPECT_EQ(match(parsed("{arm}-x{arm}y{run}"), 0, "a-xay1"), Match::kYes);
  EXPECT_EQ(match(parsed("{run}1{cache}"), 0, "21112"), Match::kAmbiguous);
}

TEST(ImporterTemplateTest, DoubledBracesAreBraces) {
  const PathTemplate layout = parsed("{{{arm}}}.{{x}}");
  Bindings bindings;
  ASSERT_EQ(layout.match(0, "{hami}.{x}", bindings), Match::kYes);
  EXPECT_EQ(bindings.of(Variable::kArm), "hami");
}

TEST(ImporterTemplateTest, ErrorsNameTheCharacter) {
  EXPECT_NE(fault("{arm}-{topolgy}").find("character 7: unknown variable '{topolgy}'"), std::string::npos);
  EXPECT_NE(fault("{arm}-{topolgy}").find("did you mean 'topology'"), std::string::npos);
  EXPECT_NE(fault("ab{arm").find("character 3"), std::string::npos);
  EXPECT_NE(fault("ab}c").find("character 3"), std::string::npos);
  EXPECT_NE(fault("{arm}{run}").find("character 6"), std::string::npos);
  EXPECT_NE(fault("/{arm}").find("absolute"), std::string::npos);
  EXPECT_NE(fault("{arm}//x").find("character 7"), std::string::npos);
  EXPECT_NE(fault("{arm}/../x").find("'..'"), std::string::npos);
  EXPECT_NE(fault("").find("character 1"), std::string::npos);
  EXPECT_NE(fault("{arm}/").find("character 7"), std::string::npos);
  EXPECT_NE(fault("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a").find("16 names"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::importer
