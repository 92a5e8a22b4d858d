// CSV as spreadsheets and line tools expect it.
#include <gtest/gtest.h>

#include "evidence/csv.h"

namespace rollcall::evidence {
namespace {

std::string written(const CsvRow& row) {
  std::string csv;
  append_csv_row(csv, row);
  return csv;
}

using Rows = std::vector<CsvRow>;

TEST(CsvWriter, QuotesOnlyWhatItMust) {
  EXPECT_EQ(written({"a", "", "b c", "1.5"}), "a,,b c,1.5\n");
  EXPECT_EQ(written({"a,b"}), "\"a,b\"\n");
  EXPECT_EQ(written({"say \"x\""}), "\"say \"\"x\"\"\"\n");
  EXPECT_EQ(written({"two\nlines", "cr\r"}), "\"two\nlines\",\"cr\r\"\n");
}

TEST(CsvWriter, ALoneEmptyFieldIsNotAnEmptyLine) {
  EXPECT_EQ(written({""}), "\"\"\n");
}

TEST(CsvReader, ReadsBothLineEndsAndALastRowWithoutOne) {
  EXPECT_EQ(parse_csv("a,b\r\nc,d\ne,", "t"), (Rows{{"a", "b"}, {"c", "d"}, {"e", ""}}));
  EXPECT_EQ(parse_csv("", "t"), Rows{});
  EXPECT_EQ(parse_csv("\n", "t"), Rows{{""}});
}

TEST(CsvReader, ReadsQuotedFields) {
  EXPECT_EQ(parse_csv("\"a,\"\"b\"\"\n\",\"\"\n", "t"), (Rows{{"a,\"b\"\n", ""}}));
}

TEST(CsvReader, NamesTheLineOfAFault) {
  const auto line_of = [](const char* csv) {
    const auto rows = parse_csv(csv, "t.csv");
    return rows ? "accepted" : rows.error().where;
  };
  EXPECT_EQ(line_of("a\nb\"c\n"), "t.csv:2");
  EXPECT_EQ(line_of("a\n\"b\"c\n"), "t.csv:2");
  EXPECT_EQ(line_of("a\n\"b\n\nc"), "t.csv:2");
  EXPECT_EQ(line_of("\"x\ny\"\na\rb\n"), "t.csv:3");
}

}  // namespace
}  // namespace rollcall::evidence
