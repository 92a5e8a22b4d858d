// What is written is read back as it was, whatever it says.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "evidence/compress.h"
#include "evidence/csv.h"
#include "generators.h"

namespace rollcall::property {
namespace {

// Small strings of the characters that matter to CSV meet more edges than long
// arbitrary ones.
rc::Gen<std::string> any_field() {
  return rc::gen::oneOf(rc::gen::container<std::string>(rc::gen::element(',', '"', '\n', '\r', 'a', ' ')),
                        rc::gen::arbitrary<std::string>());
}

TEST(RoundTrip, Topology) {
  EXPECT_TRUE(rc::check("parse(text(t)) == t", [] {
    const Topology topology = *any_topology(kMaxWorkers);
    RC_ASSERT(Topology::parse(topology.text()) == topology);
  }));
}

TEST(RoundTrip, EveryAcceptedTextIsTheTextOfItsTopology) {
  EXPECT_TRUE(rc::check("text(parse(s)) == s", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element('0', '1', '2', 'x', '-', ' '));
    const auto topology = Topology::parse(text);
    RC_CLASSIFY(topology.has_value());
    if (topology) RC_ASSERT(topology->text() == text);
  }));
}

TEST(RoundTrip, RunRecord) {
  EXPECT_TRUE(rc::check("parse_run(print_run(r)) == r", [] {
    const RunRecord record = *any_run_record(kMaxWorkers);
    const auto back = parse_run(print_run(record), "run.json");
    if (!back) RC_FAIL(back.error().line());
    RC_ASSERT(*back == record);
  }));
}

TEST(RoundTrip, WorkerRecord) {
  EXPECT_TRUE(rc::check("parse_worker(print_worker(w)) == w", [] {
    const WorkerRecord record = *any_worker(kMaxWorkers - 1);
    const std::string line = print_worker(record);
    RC_ASSERT(line.find('\n') == std::string::npos);
    const auto back = parse_worker(line, "workers.jsonl:1");
    if (!back) RC_FAIL(back.error().line());
    RC_ASSERT(*back == record);
  }));
}

TEST(RoundTrip, AnyBytesInARecordCanBeReadBackAndThenStayAsTheyAre) {
  EXPECT_TRUE(rc::check("printing settles after one reading", [] {
    WorkerRecord record;
    record.error = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    const auto once = parse_worker(print_worker(record), "workers.jsonl:1");
    if (!once) RC_FAIL(once.error().line());
    RC_ASSERT(parse_worker(print_worker(*once), "workers.jsonl:1") == *once);
  }));
}

TEST(RoundTrip, Csv) {
  EXPECT_TRUE(rc::check("parse_csv(write(rows)) == rows", [] {
    const auto rows =
        *rc::gen::container<std::vector<CsvRow>>(rc::gen::nonEmpty(rc::gen::container<CsvRow>(any_field())));
    std::string csv;
    for (const CsvRow& row : rows) append_csv_row(csv, row);
    RC_ASSERT(parse_csv(csv, "table.csv") == rows);
  }));
}

TEST(RoundTrip, Compression) {
  EXPECT_TRUE(rc::check("decompress(compress(b)) == b", [] {
    const auto bytes = *rc::gen::arbitrary<std::string>();
    const auto frame = compress(bytes);
    RC_ASSERT(frame.has_value());
    RC_ASSERT(decompress(*frame, bytes.size(), "frame") == bytes);
  }));
}

TEST(Reading, NeverFallsOverArbitraryText) {
  EXPECT_TRUE(rc::check("parsers return", [] {
    const auto text = *rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                                      rc::gen::container<std::string>(rc::gen::element(
                                          '{', '}', '[', ']', '"', ':', ',', '1', 'e', '-', 'a')));
    (void)parse_run(text, "run.json");
    (void)parse_worker(text, "workers.jsonl:1");
    (void)parse_csv(text, "table.csv");
    (void)decompress(text, 1000, "frame");
  }));
}

}  // namespace
}  // namespace rollcall::property
