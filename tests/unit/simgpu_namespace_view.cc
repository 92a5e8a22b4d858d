// Who sees whom, and under which number. The namespaces of these tests:
//   1 (the daemon's)
//   ├─ 2 ── 4
//   └─ 3
#include <gtest/gtest.h>

#include "simgpu/namespace_view.h"

namespace rollcall::simgpu {
namespace {

const NameChain kHost = {{1, 500}};
const NameChain kOtherHost = {{1, 501}};
const NameChain kOuter = {{1, 600}, {2, 7}};
const NameChain kSibling = {{1, 700}, {3, 7}};
const NameChain kInner = {{1, 800}, {2, 9}, {4, 1}};

TEST(TranslatedView, AProcessSeesItselfUnderItsOwnPid) {
  for (const NameChain& chain : {kHost, kOuter, kInner})
    EXPECT_EQ(translated_pid(chain, chain), chain.back().pid);
}

TEST(TranslatedView, TheOuterNamespaceSeesEverybodyUnderItsOwnNumbers) {
  EXPECT_EQ(translated_pid(kOtherHost, kHost), 501);
  EXPECT_EQ(translated_pid(kOuter, kHost), 600);
  EXPECT_EQ(translated_pid(kInner, kHost), 800);
  EXPECT_EQ(translated_pid(kInner, kOuter), 9);
}

TEST(TranslatedView, NobodySeesOutOrSideways) {
  EXPECT_EQ(translated_pid(kHost, kOuter), std::nullopt);
  EXPECT_EQ(translated_pid(kHost, kInner), std::nullopt);
  EXPECT_EQ(translated_pid(kOuter, kInner), std::nullopt);
  EXPECT_EQ(translated_pid(kSibling, kOuter), std::nullopt);
  EXPECT_EQ(translated_pid(kOuter, kSibling), std::nullopt);
  EXPECT_EQ(translated_pid(kInner, kSibling), std::nullopt);
}

TEST(TranslatedView, WithoutNamesNothingIsSeen) {
  EXPECT_EQ(translated_pid({}, kHost), std::nullopt);
  EXPECT_EQ(translated_pid(kHost, {}), std::nullopt);
}

TEST(GlobalView, EverybodySeesTheDaemonsNumbers) {
  for (const NameChain& caller : {kHost, kOuter, kInner}) {
    EXPECT_EQ(visible_pid(evidence::NvmlView::kGlobal, kInner, caller), 800);
    EXPECT_EQ(visible_pid(evidence::NvmlView::kGlobal, kSibling, caller), 700);
  }
  EXPECT_EQ(visible_pid(evidence::NvmlView::kTranslated, kSibling, kInner), std::nullopt);
}

TEST(ViewText, ReadsWhatItPrints) {
  for (const auto view : {evidence::NvmlView::kGlobal, evidence::NvmlView::kTranslated}) {
    EXPECT_EQ(parse_view(view_text(view)), view);
  }
  const auto wrong = parse_view("unknown");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, base::ErrorKind::kUsage);
}

}  // namespace
}  // namespace rollcall::simgpu
