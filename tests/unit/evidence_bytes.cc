// Checksums and compression, against known answers.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "evidence/compress.h"
#include "evidence/sha256.h"
#include "evidence_temporary_folder.h"

namespace rollcall::evidence {
namespace {

// The examples of FIPS 180-2.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, OfBytes) {
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  EXPECT_EQ(sha256_hex(""), kNothing);
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')), kMillionA);
}

TEST(Sha256, OfAFileInPieces) {
  const test::TemporaryFolder folder;
  folder.write("a", std::string(1'000'000, 'a'));
  folder.write("empty", "");
  EXPECT_EQ(sha256_file(folder.path() / "a"), kMillionA);
  EXPECT_EQ(sha256_file(folder.path() / "empty"), kNothing);
}

TEST(Sha256, OfAFileThatIsNotThereIsAnError) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(sha256_file(folder.path() / "missing"));
  EXPECT_FALSE(sha256_file(folder.path())) << "a folder";
}

TEST(Compress, GivesTheBytesBack) {
  std::string bytes;
  for (uint32_t i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * i % 251);
  for (const std::string& content : {std::string(), std::string("x"), bytes}) {
    const auto frame = compress(content);
    ASSERT_TRUE(frame);
    EXPECT_EQ(decompress(*frame, content.size(), "f"), content);
    EXPECT_EQ(*compress(content), *frame) << "the same every time";
  }
}

TEST(Compress, ARegionOfZerosBecomesSmall) {
  std::string region(2'000'000, '\0');
  region[1000] = 'x';
  EXPECT_LT(compress(region)->size(), 1000U);
}

TEST(Decompress, RefusesMoreThanItsLimit) {
  const auto frame = compress(std::string(1'000'000, '\0'));
  EXPECT_TRUE(decompress(*frame, 1'000'000, "f"));
  const auto refused = decompress(*frame, 999'999, "r.zst");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().line().find("r.zst"), std::string::npos);
}

TEST(Decompress, RefusesWhatIsDamagedCutOrContinued) {
  const std::string frame = compress("the quick brown fox jumps over the lazy dog").value();
  for (size_t length = 0; length < frame.size(); ++length) {
    EXPECT_FALSE(decompress(frame.substr(0, length), 1000, "f")) << length;
  }
  EXPECT_FALSE(decompress(frame + "x", 1000, "f"));
  EXPECT_FALSE(decompress(frame + frame, 1000, "f"));
  EXPECT_FALSE(decompress("not zstd at all", 1000, "f"));
  std::string flipped = frame;
  flipped[frame.size() - 8] ^= 1;
  EXPECT_FALSE(decompress(flipped, 1000, "f")) << "the checksum tells";
}

}  // namespace
}  // namespace rollcall::evidence
