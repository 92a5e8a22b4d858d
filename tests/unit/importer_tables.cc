// The tables that people hand in, the regions, and how files become runs.
#include <gtest/gtest.h>
#include <zlib.h>

#include "evidence/compress.h"
#include "hami_region_image.h"
#include "importer/arrange.h"
#include "importer/decimal.h"
#include "importer/region_file.h"
#include "importer/truth_file.h"
#include "importer/wall_times.h"

namespace rollcall::importer {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000'000'000;

TEST(ImporterDecimalTest, IsExact) {
  EXPECT_EQ(parse_decimal("4258.36", kMs)->ns, 4'258'360'000);
  EXPECT_EQ(parse_decimal("16.48", kSecond)->ns, 16'480'000'000);
  EXPECT_EQ(parse_decimal("16.48", kSecond)->unit_ns, 10'000'000);
  EXPECT_EQ(parse_decimal("7", kSecond)->unit_ns, kSecond);
  EXPECT_EQ(parse_decimal("0.1234564999", kMs)->ns, 123'456);
  EXPECT_EQ(parse_decimal("0.1234565", kMs)->ns, 123'457);
  for (const char* text :
       {"", ".", "1.", ".5", "-1", "+1", " 1", "1e3", "1,5", "99999999999999999999", "1.5x"}) {
    EXPECT_FALSE(parse_decimal(text, kMs)) << text;
  }
}

TEST(ImporterTruthTest, ColumnsAreFoundByName) {
  const auto truth = parse_truth("pid,cache,slot,x\n620,1,3,a\n619,0,2,b\n", "w.csv");
  ASSERT_TRUE(truth);
  ASSERT_EQ(truth->rows.size(), 2U);
  EXPECT_EQ(truth->rows[0].pid, 619) << "by cache, then slot";
  EXPECT_FALSE(truth->has_results);
  EXPECT_FALSE(truth->rows[0].cuinit_rc);
}

TEST(ImporterTruthTest, AResultThatIsMissingIsNotZero) {
  const auto truth =
      parse_truth("slot,cache,pid,cuinit_rc,enter_ms,return_ms\n0,0,5,,0.5,\n1,0,6,-1,,2.25\n", "w.csv");
  ASSERT_TRUE(truth);
  EXPECT_TRUE(truth->has_results);
  EXPECT_FALSE(truth->rows[0].cuinit_rc);
  EXPECT_EQ(truth->rows[0].enter_ns, 500'000);
  EXPECT_FALSE(truth->rows[0].return_ns);
  EXPECT_EQ(truth->rows[1].cuinit_rc, -1);
}

TEST(ImporterTruthTest, ErrorsNameTheLine) {
  const auto fault = [](const char* csv) {
    const auto truth = parse_truth(csv, "w.csv");
    EXPECT_FALSE(truth) << csv;
    return truth ? std::string() : truth.error().line();
  };
  EXPECT_NE(fault("").find("w.csv:1"), std::string::npos);
  EXPECT_NE(fault("slot,cache\n0,0\n").find("w.csv:1: no column pid"), std::string::npos);
  EXPECT_NE(fault("slot,cache,pid\n0,0,5\n1,0\n").find("w.csv:3"), std::string::npos);
  EXPECT_NE(fault("slot,cache,pid\n0,0,0\n").find("w.csv:2: pid"), std::string::npos);
  EXPECT_NE(fault("slot,cache,pid\n0,0,\n").find("w.csv:2: pid"), std::string::npos);
  EXPECT_NE(fault("slot,cache,pid\n0,0,5\n0,0,6\n").find("w.csv:3: slot 0 of cache 0 is there twice"),
            std::string::npos);
  EXPECT_NE(fault("slot,cache,pid,return_ms\n0,0,5,1e3\n").find("w.csv:2: return_ms"), std::string::npos);
}

evidence::RunRecord run_of(const char* topology, const char* arm, int repetition) {
  evidence::RunRecord record;
  record.number = 1;
  record.topology = *evidence::Topology::parse(topology);
  record.arm = arm;
  record.repetition = repetition;
  return record;
}

TEST(ImporterTruthTest, AColumnThatStandsTwiceIsRefused) {
  const auto truth = parse_truth("slot,cache,pid,pid\n0,0,5,6\n", "w.csv");
  ASSERT_FALSE(truth);
  EXPECT_EQ(truth.error().kind, base::ErrorKind::kUsage);
  EXPECT_NE(truth.error().line().find("the column 'pid' twice"), std::string::npos);
}

TEST(ImporterWallTimesTest, AreJoinedWhereNothingWasMeasured) {
  auto times =
      WallTimes::parse("topology,arm,run,external_wall_s\n1x250,hami,1,16.48\n1x250,hami,2,\n", "t.csv");
  ASSERT_TRUE(times);
  auto first = run_of("1x250", "hami", 1);
  auto second = run_of("1x250", "hami", 2);
  times->join(first);
  times->join(second);
  EXPECT_EQ(first.stated_wall_ns, 16'480'000'000);
  EXPECT_FALSE(second.stated_wall_ns) << "an empty time says nothing";
  EXPECT_TRUE(times->differences().empty());
  EXPECT_TRUE(times->unused().empty());
}

TEST(ImporterWallTimesTest, WhatWasMeasuredStandsAndADifferenceIsTold) {
  for (const auto& [text, differs] : std::vector<std::pair<std::string, bool>>{{"16.48", false},
                                                                               {"16.5", false},
                                                                               {"16", false},
                                                                               {"16.49", true},
                                                                               {"16.484", false},
                                                                               {"16.4840", true}}) {
    auto times = WallTimes::parse("topology,arm,run,external_wall_s\n1x250,hami,1," + text + "\n", "t.csv");
    ASSERT_TRUE(times);
    auto record = run_of("1x250", "hami", 1);
    record.last_gone_ns = 17'000'000'000;
    record.collect_ns = 516'100'000;  // 16.4839 s
    times->join(record);
    EXPECT_FALSE(record.stated_wall_ns);
    EXPECT_EQ(times->differences().size(), differs ? 1U : 0U) << text;
  }
}

TEST(ImporterWallTimesTest, ARowOfNoRunIsTold) {
  auto times = WallTimes::parse("topology,arm,run,external_wall_s\n1x250,hami,4,1.0\n", "t.csv");
  ASSERT_TRUE(times);
  auto record = run_of("1x250", "hami", 1);
  times->join(record);
  ASSERT_EQ(times->unused().size(), 1U);
  EXPECT_NE(times->unused()[0].find("t.csv:2: no run 1x250 hami 4"), std::string::npos);
}

TEST(ImporterWallTimesTest, ErrorsNameTheLine) {
  for (const char* row :
       {"1x,hami,1,1\n", "1x1,hami,0,1\n", "1x1,hami,1,1s\n", "1x1,hami,1\n", "1x1,hami,1,-1\n"}) {
    const auto times = WallTimes::parse(std::string("topology,arm,run,external_wall_s\n") + row, "t.csv");
    ASSERT_FALSE(times) << row;
    EXPECT_EQ(times.error().where, "t.csv:2") << row;
    EXPECT_EQ(times.error().kind, base::ErrorKind::kUsage);
  }
  EXPECT_FALSE(WallTimes::parse("topology,arm,run,external_wall_s\n1x1,a,1,1\n1x1,a,1,2\n", "t.csv"));
  EXPECT_FALSE(WallTimes::parse("topology,arm,run\n", "t.csv"));
}

FoundLog log_at(const std::string& path, const PathTemplate& layout) {
  FoundLog log{path, {}};
  EXPECT_EQ(layout.match(0, path, log.bindings), PathTemplate::Match::kYes) << path;
  return log;
}
base::Result<std::vector<RunFiles>> arranged(const std::string& layout,
                                             const std::vector<std::string>& paths) {
  const PathTemplate parsed = *PathTemplate::parse(layout, "--layout");
  std::vector<FoundLog> logs;
  for (const std::string& path : paths) logs.push_back(log_at(path, parsed));
  return arrange(logs);
}

TEST(ImporterArrangeTest, RunsAreInOneOrderWhateverThatOfTheFiles) {
  const auto runs = arranged("{arm}.{topology}.{run}.{cache}",
                             {"n.2x1.1.1", "h.10x1.1.0", "n.2x1.1.0", "n.2x1.10.0", "n.2x1.9.0"});
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 4U);
  EXPECT_EQ(runs->at(0).logs.size(), 2U);
  EXPECT_EQ(runs->at(0).logs[1].cache, 1);
  EXPECT_EQ(runs->at(1).repetition, 9);
  EXPECT_EQ(runs->at(2).repetition, 10);
  EXPECT_EQ(runs->at(3).topology.text(), "10x1");
}

TEST(ImporterArrangeTest, WorkersAreCountedThroughTheRunOrWithinTheirCache) {
  const auto through = arranged("{arm}.{topology}.{worker}", {"h.2x2.0", "h.2x2.3"});
  ASSERT_TRUE(through);
  EXPECT_EQ(through->at(0).logs[1].cache, 1);
  EXPECT_EQ(through->at(0).logs[1].worker, 3);
  EXPECT_EQ(through->at(0).repetition, 1) << "without {run} there is one";
  const auto within = arranged("{arm}.{topology}.{cache}.{worker}", {"h.2x2.0.1", "h.2x2.1.0", "h.2x2.1.1"});
  ASSERT_TRUE(within);
  EXPECT_EQ(within->at(0).logs[1].worker, 2);
  EXPECT_EQ(within->at(0).logs[2].worker, 3);
  EXPECT_FALSE(arranged("{arm}.{topology}.{cache}.{worker}", {"h.2x2.0.3", "h.2x2.1.0"}));
}

TEST(ImporterArrangeTest, WhatDoesNotFitIsRefusedByName) {
  const auto fault = [](const std::string& layout, const std::vector<std::string>& paths) {
    const auto runs = arranged(layout, paths);
    EXPECT_FALSE(runs);
    return runs ? std::string() : runs.error().line();
  };
  const std::string layout = "{arm}.{topology}.{run}.{cache}";
  EXPECT_NE(fault(layout, {"h.2x2.1.2"}).find("h.2x2.1.2: cache 2, but 2x2 has the caches 0 to 1"),
            std::string::npos);
  EXPECT_NE(fault(layout, {"h.2x2.1.1", "h.2x2.1.01"}).find("h.2x2.1.01: stands for the same as h.2x2.1.1"),
            std::string::npos);
  EXPECT_NE(fault(layout, {"h.2x2.1.0", "h.2x2.01.1"}).find("a second spelling"), std::string::npos);
  EXPECT_NE(fault(layout, {"h.2x2.0.0"}).find("counted from 1"), std::string::npos);
}

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(ImporterRegionTest, IsUnpackedByWhatItIs) {
  const std::string region(300'000, 'r');
  EXPECT_EQ(unpack_region(region, "r"), region);
  EXPECT_EQ(unpack_region(gzip(region), "r"), region);
  EXPECT_EQ(unpack_region(*evidence::compress(region), "r"), region);
  EXPECT_EQ(unpack_region("", "r"), "");
}

TEST(ImporterRegionTest, ASlotIsFoundByItsPid) {
  test::HamiRegionImage image;
  image.put_slot(0, 615, 620);
  image.put_slot(900, 616, 0);
  image.put_slot(3, 617, 1);
  image.put_slot(4, 617, 2);
  const RegionReading region = read_region(image.bytes());
  ASSERT_EQ(region.fault, nullptr);
  EXPECT_EQ(region.verdict_of(615), (hami::Verdict{hami::Says::kAssigned, 620, ""}));
  EXPECT_EQ(region.verdict_of(616), (hami::Verdict{hami::Says::kFailed, 0, "no_host_pid"}));
  EXPECT_EQ(region.verdict_of(617), (hami::Verdict{hami::Says::kContradicting, 0, "two_slots"}));
  EXPECT_EQ(region.verdict_of(618), (hami::Verdict{hami::Says::kNothing, 0, "no_slot"}));
  EXPECT_STREQ(read_region("x").fault, "region_foreign");
  EXPECT_STREQ(read_region("").fault, "region_damaged");
  EXPECT_STREQ(read_region(image.bytes(1'000'000)).fault, "region_truncated");
}

TEST(ImporterRegionTest, WhatIsDamagedOrTooLargeIsRefused) {
  const std::string packed = gzip(std::string(300'000, 'r'));
  EXPECT_FALSE(unpack_region(packed.substr(0, packed.size() / 2), "r"));
  EXPECT_FALSE(unpack_region(packed.substr(0, packed.size() - 1), "r"));
  EXPECT_FALSE(unpack_region(packed + "x", "r"));
  EXPECT_FALSE(unpack_region(gzip(std::string(kMaxRegionBytes + 1, 'r')), "r"));
  const std::string frame = *evidence::compress(std::string(300'000, 'r'));
  EXPECT_FALSE(unpack_region(frame.substr(0, frame.size() - 1), "r"));
  EXPECT_FALSE(unpack_region(frame + "x", "r"));
  EXPECT_FALSE(unpack_region(*evidence::compress(std::string(kMaxRegionBytes + 1, 'r')), "r"));
}

}  // namespace
}  // namespace rollcall::importer
