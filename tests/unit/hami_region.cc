// What a file must have to be read as HAMi-core's region, and which slots are
// found in one.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "hami_region_image.h"

namespace rollcall::hami {
namespace {

using test::HamiRegionImage;

RegionCheck check(const HamiRegionImage& image) {
  return check_region(image.bytes().size(), image.reader()).check;
}

TEST(HamiRegionTest, ARegionOfVersion12IsValid) {
  HamiRegionImage image;
  image.put_used(7);
  const RegionSummary found = check_region(image.bytes().size(), image.reader());
  EXPECT_EQ(found.check, RegionCheck::kValid);
  EXPECT_EQ(found.magic, 19920718);
  EXPECT_EQ(found.major, 1);
  EXPECT_EQ(found.minor, 2);
  EXPECT_EQ(found.size_bytes, 2008953);
  EXPECT_EQ(found.used_slots, 7);
}

TEST(HamiRegionTest, TheByteBehindTheLayoutMayBeMissing) {
  HamiRegionImage image;
  image.resize(2008952);
  EXPECT_EQ(check(image), RegionCheck::kValid);
  image.resize(2008951);
  EXPECT_EQ(check(image), RegionCheck::kTruncated);
}

TEST(HamiRegionTest, AFileThatGrewBeyondTheLayoutIsStillReadByIt) {
  HamiRegionImage image;
  image.resize(3000000);
  EXPECT_EQ(check(image), RegionCheck::kValid);
}

TEST(HamiRegionTest, AnotherVersionIsNamedAndNotRead) {
  for (const auto& [major, minor] : {std::pair{1, 1}, {1, 3}, {2, 2}, {0, 2}, {-1, 2}}) {
    HamiRegionImage image;
    image.put(4, major);
    image.put(8, minor);
    const RegionSummary found = check_region(image.bytes().size(), image.reader());
    EXPECT_EQ(found.check, RegionCheck::kOtherVersion) << major << "." << minor;
    EXPECT_EQ(found.major, major);
    EXPECT_EQ(found.minor, minor);
    EXPECT_FALSE(found.used_slots);
  }
}

TEST(HamiRegionTest, AnotherVersionMayHaveAnotherSize) {
  HamiRegionImage image;
  image.put(8, 3);
  image.resize(5000);
  EXPECT_EQ(check(image), RegionCheck::kOtherVersion);
}

TEST(HamiRegionTest, WithoutItsMagicItIsForeign) {
  HamiRegionImage image;
  image.put(0, 19920719);
  EXPECT_EQ(check(image), RegionCheck::kForeign);
  image.put(0, 0);
  image.put(4, 77);  // a version that HAMi-core would not have written before its magic
  EXPECT_EQ(check(image), RegionCheck::kForeign);
}

TEST(HamiRegionTest, BeforeItsMagicIsWrittenItIsBlank) {
  HamiRegionImage image;
  image.put(0, 0);
  EXPECT_EQ(check(image), RegionCheck::kBlank);  // the version is there already
  image.put(4, 0);
  image.put(8, 0);
  EXPECT_EQ(check(image), RegionCheck::kBlank);
  image.resize(0);
  EXPECT_EQ(check(image), RegionCheck::kBlank);
}

TEST(HamiRegionTest, OfAShortFileOnlyWhatIsThereCounts) {
  HamiRegionImage image;
  for (const size_t size : {4, 8, 11, 12, 1856, 2008899}) {
    image.resize(2008953);
    image = HamiRegionImage();
    image.resize(size);
    EXPECT_EQ(check(image), RegionCheck::kTruncated) << size;
  }
  image.resize(3);  // not even a magic
  EXPECT_EQ(check(image), RegionCheck::kForeign);
}

TEST(HamiRegionTest, AFileThatShrinksUnderTheReaderIsTruncated) {
  HamiRegionImage image;
  image.resize(0);
  EXPECT_EQ(check_region(2008953, image.reader()).check, RegionCheck::kTruncated);
  image = HamiRegionImage();
  image.resize(4096);  // the header is there, the end is gone
  EXPECT_EQ(check_region(2008953, image.reader()).check, RegionCheck::kTruncated);
}

TEST(HamiRegionTest, SlotsAreFoundByPidWhereverTheyLie) {
  HamiRegionImage image;
  image.put_slot(0, 11, 101);
  image.put_slot(63, 12, 0);
  image.put_slot(64, 13, 103);
  image.put_slot(1023, 14, -5);
  image.put_used(1);  // not believed
  const std::vector<Slot> expected = {{0, 11, 101}, {63, 12, 0}, {64, 13, 103}, {1023, 14, -5}};
  EXPECT_EQ(read_slots(image.reader()), expected);
}

TEST(HamiRegionTest, ASlotWithoutAPositivePidIsNobodys) {
  HamiRegionImage image;
  image.put_slot(3, 0, 101);  // its owner has left
  image.put_slot(4, -7, 102);
  image.put_used(1024);
  EXPECT_EQ(read_slots(image.reader()), std::vector<Slot>{});
}

TEST(HamiRegionTest, NothingIsReadBehindTheLastSlot) {
  HamiRegionImage image;
  image.put(1856 + 1960 * 1024, 4711);
  EXPECT_EQ(read_slots(image.reader()), std::vector<Slot>{});
}

TEST(HamiRegionTest, SlotsThatAreNotAllThereAreNone) {
  HamiRegionImage image;
  image.put_slot(0, 11, 101);
  image.resize(1856 + 1960 * 1024 - 1);
  EXPECT_FALSE(read_slots(image.reader()));
  EXPECT_EQ(find_slot(image.reader(), 11), (FoundSlot{SlotCheck::kUnreadable}));
}

TEST(HamiRegionTest, AProcessIsFoundByItsPid) {
  HamiRegionImage image;
  image.put_slot(5, 13, 0);
  image.put_slot(1023, 14, 104);
  EXPECT_EQ(find_slot(image.reader(), 14), (FoundSlot{SlotCheck::kFound, 104}));
  EXPECT_EQ(find_slot(image.reader(), 13), (FoundSlot{SlotCheck::kFound, 0}));
  EXPECT_EQ(find_slot(image.reader(), 104), (FoundSlot{SlotCheck::kNone}));
  EXPECT_EQ(find_slot(image.reader(), 0), (FoundSlot{SlotCheck::kNone}));
  EXPECT_EQ(find_slot(image.reader(), (int64_t{1} << 32) + 14), (FoundSlot{SlotCheck::kNone}));
}

TEST(HamiRegionTest, TwoSlotsOfOneProcessMustAgree) {
  HamiRegionImage image;
  image.put_slot(0, 14, 104);
  image.put_slot(1, 14, 104);
  EXPECT_EQ(find_slot(image.reader(), 14), (FoundSlot{SlotCheck::kFound, 104}));
  image.put_slot(1, 14, 105);
  EXPECT_EQ(find_slot(image.reader(), 14), (FoundSlot{SlotCheck::kTwoDiffer}));
}

// Reads the image, and lets somebody write to it before the n-th reading of slots
// (the first of each scan) or before each second look at one.
ReadAt changing(HamiRegionImage& image, std::function<void(bool second_look)> write) {
  return [&image, write = std::move(write)](void* buffer, size_t size, uint64_t offset) {
    if (offset >= kSlotsOffset) write(size == 8);
    return image.reader()(buffer, size, offset);
  };
}

TEST(HamiRegionTest, ASlotThatWasHalfWrittenIsReadAgain) {
  HamiRegionImage image;
  image.put_slot(0, 14, 9);  // the host PID of the slot's former owner
  const ReadAt read_at = changing(image, [&image](bool second_look) {
    if (second_look) image.put_slot(0, 14, 104);
  });
  EXPECT_EQ(find_slot(read_at, 14), (FoundSlot{SlotCheck::kFound, 104}));
}

TEST(HamiRegionTest, ASlotThatMovedAwayFromTheReaderIsLookedForAgain) {
  HamiRegionImage image;
  image.put_slot(1000, 14, 104);
  int readings = 0;
  const ReadAt read_at = changing(image, [&image, &readings](bool) {
    if (++readings != 2) return;  // behind what has been read
    image.put_slot(1000, 0, 0);
    image.put_slot(0, 14, 104);
  });
  EXPECT_EQ(find_slot(read_at, 14), (FoundSlot{SlotCheck::kFound, 104}));
}

TEST(HamiRegionTest, ASlotThatNeverSettlesIsNotBelieved) {
  HamiRegionImage image;
  image.put_slot(0, 14, 1);
  int32_t host_pid = 1;
  const ReadAt read_at = changing(image, [&](bool second_look) {
    if (second_look) image.put_slot(0, 14, ++host_pid);
  });
  EXPECT_EQ(find_slot(read_at, 14), (FoundSlot{SlotCheck::kUnsettled}));
  EXPECT_LE(host_pid, 10);  // and it gives up
}

TEST(HamiRegionTest, ARegionThatShrinksBetweenTwoReadingsIsUnreadable) {
  HamiRegionImage image;
  image.put_slot(1023, 14, 104);
  int readings = 0;
  const ReadAt read_at = changing(image, [&](bool) {
    if (++readings == 3) image.resize(100000);
  });
  EXPECT_EQ(find_slot(read_at, 14), (FoundSlot{SlotCheck::kUnreadable}));
}

TEST(HamiRegionTest, ARegionThatGrowsWhileItIsReadIsReadAsItsLayoutSays) {
  HamiRegionImage image;
  image.put_slot(1023, 14, 104);
  size_t size = image.bytes().size();
  const ReadAt read_at = changing(image, [&](bool) { image.resize(size += 5000); });
  EXPECT_EQ(check_region(image.bytes().size(), read_at).check, RegionCheck::kValid);
  EXPECT_EQ(find_slot(read_at, 14), (FoundSlot{SlotCheck::kFound, 104}));
}

TEST(HamiRegionTest, TheFieldsLieWithinTheLayoutInItsOrder) {
  size_t last = 0;
  for (const Field& field : region_fields()) {
    EXPECT_GE(field.offset, last) << field.name;
    EXPECT_LE(field.offset + field.size_bytes, kRegionBytes) << field.name;
    last = field.offset;
    if (std::string_view(field.name) == "slots[1024]") last -= 1;  // those of slot 0 follow
  }
}

}  // namespace
}  // namespace rollcall::hami
