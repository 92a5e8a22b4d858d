// What a file turns out to be, judged by its header and size: ours, nobody's yet,
// or somebody else's.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "shim/region.h"
#include "shim_region_image.h"

namespace rollcall::shim {
namespace {

using test::RegionImage;

void blank(RegionHeader& header) {
  header.magic.store(0);
  header.major = header.minor = header.slots = header.slot_size_bytes = 0;
}

TEST(RegionCheck, AFileAsWeMakeItIsValid) {
  RegionImage image;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kValid);
}

TEST(RegionCheck, ALaterMinorVersionIsStillOurs) {
  RegionImage image;
  image.header().minor = 7;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kValid);
}

TEST(RegionCheck, AnotherMajorVersionIsSaidToBeOneWhateverItsSizes) {
  RegionImage image;
  image.header().major = kRegionMajor + 1;
  image.header().slots = 7;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kOtherVersion);
  EXPECT_EQ(check_region(image.header(), 5000), RegionCheck::kOtherVersion);
}

TEST(RegionCheck, OurMagicWithSizesThatDoNotFitIsDamage) {
  RegionImage image;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes - 1), RegionCheck::kDamaged);
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes + 1), RegionCheck::kDamaged);
  image.header().slots = kRegionSlots - 1;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kDamaged);
  image.header().slots = kRegionSlots;
  image.header().slot_size_bytes = 64;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kDamaged);
}

TEST(RegionCheck, AnEmptyFileAndAnUntouchedOneOfOurSizeAreBlank) {
  RegionImage image;
  blank(image.header());
  EXPECT_EQ(check_region(image.header(), 0), RegionCheck::kBlank);
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kBlank);
}

TEST(RegionCheck, AnyStepOfASetUpThatEndedBeforeItsMagicIsBlank) {
  RegionImage image;
  blank(image.header());
  image.header().major = kRegionMajor;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kBlank);
  image.header().slots = kRegionSlots;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kBlank);
  image.header().slot_size_bytes = sizeof(RegionSlot);
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kBlank);
}

TEST(RegionCheck, EverythingElseIsForeign) {
  RegionImage image;
  blank(image.header());
  EXPECT_EQ(check_region(image.header(), 1), RegionCheck::kForeign);
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes + 1), RegionCheck::kForeign);
  image.header().reserved[sizeof image.header().reserved - 1] = 1;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kForeign);
  image.header().reserved[sizeof image.header().reserved - 1] = 0;
  image.header().slots = 12;
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kForeign);
  image.header().slots = 0;
  image.header().magic.store(kRegionMagic ^ 1);
  EXPECT_EQ(check_region(image.header(), kRegionSizeBytes), RegionCheck::kForeign);
}

TEST(RegionText, TheMagicReadsAsOurName) {
  RegionImage image;
  EXPECT_EQ(image.bytes(8), "RLCREG01");
}

TEST(RegionText, EveryReasonHasItsOwnCode) {
  std::set<std::string> codes;
  for (uint32_t i = 1; i <= 9; ++i) codes.insert(to_text(static_cast<Reason>(i)));
  EXPECT_EQ(codes.size(), 9U);
  EXPECT_EQ(codes.count("unknown"), 0U);
  EXPECT_EQ(codes.count(""), 0U);
  EXPECT_STREQ(to_text(Reason::kNone), "");
  EXPECT_STREQ(to_text(Reason::kEqualCounts), "equal_counts");
  EXPECT_STREQ(to_text(static_cast<Reason>(4711)), "unknown");
}

TEST(RegionText, TiersThatWeDoNotKnowAreSaidToBeUnknown) {
  EXPECT_STREQ(to_text(Tier::kNone), "");
  EXPECT_STREQ(to_text(Tier::kSnapshotDiff), "snapshot-diff");
  EXPECT_STREQ(to_text(static_cast<Tier>(99)), "unknown");
}

TEST(RegionText, ARefusalSaysThatTheFileIsLeftAsItIs) {
  for (const auto join : {Region::Join::kForeign, Region::Join::kOtherVersion, Region::Join::kDamaged}) {
    EXPECT_NE(std::string(to_text(join)).find("left as it is"), std::string::npos);
  }
}

}  // namespace
}  // namespace rollcall::shim
