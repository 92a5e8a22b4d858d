// One spelling for each topology, and a bound on its size.
#include <gtest/gtest.h>

#include <string>

#include "evidence/topology.h"

namespace rollcall::evidence {
namespace {

TEST(Topology, ReadsCachesAndWorkersPerCache) {
  const auto topology = Topology::parse("50x5");
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->caches(), 50);
  EXPECT_EQ(topology->workers_per_cache(), 5);
  EXPECT_EQ(topology->workers(), 250);
  EXPECT_EQ(topology->text(), "50x5");
}

TEST(Topology, NumbersWorkersCacheByCache) {
  const auto topology = Topology::parse("3x4").value();
  EXPECT_EQ(topology.cache_of(0), 0);
  EXPECT_EQ(topology.cache_of(3), 0);
  EXPECT_EQ(topology.cache_of(4), 1);
  EXPECT_EQ(topology.cache_of(11), 2);
}

TEST(Topology, RefusesEverythingElseAsWrongUsage) {
  for (const char* text : {"",
                           "x",
                           "1x",
                           "x1",
                           "0x5",
                           "5x0",
                           "1x-2",
                           "-1x2",
                           "+1x2",
                           "1X2",
                           "1x2x3",
                           " 1x2",
                           "1x2 ",
                           "1 x2",
                           "01x2",
                           "1x02",
                           "1.0x2",
                           "axb",
                           "1×2",
                           "9999999999999999999999x1",
                           "1x9999999999999999999999"}) {
    const auto topology = Topology::parse(text);
    ASSERT_FALSE(topology) << text;
    EXPECT_EQ(topology.error().kind, base::ErrorKind::kUsage);
    EXPECT_NE(topology.error().line().find(text), std::string::npos);
  }
  EXPECT_FALSE(Topology::parse(std::string("1x2\0", 4)));
}

TEST(Topology, BoundsTheNumberOfWorkers) {
  EXPECT_TRUE(Topology::parse("1x4096"));
  EXPECT_TRUE(Topology::parse("4096x1"));
  EXPECT_TRUE(Topology::parse("64x64"));
  EXPECT_FALSE(Topology::parse("1x4097"));
  const auto huge = Topology::parse("99999x99999");
  ASSERT_FALSE(huge);
  EXPECT_NE(huge.error().line().find("at most 4096"), std::string::npos);
  EXPECT_FALSE(Topology::parse("999999999x999999999"));
}

TEST(Topology, AnAbsurdlyLongTextMakesAShortError) {
  const auto topology = Topology::parse(std::string(100'000, '7'));
  ASSERT_FALSE(topology);
  EXPECT_LT(topology.error().line().size(), 300U);
}

}  // namespace
}  // namespace rollcall::evidence
