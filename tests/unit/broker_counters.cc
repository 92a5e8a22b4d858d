// What is counted, as OpenMetrics text.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "broker/counters.h"

namespace rollcall::broker {
namespace {

using hostpid::Command;
using hostpid::WireStatus;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Counters, EndsAsOpenMetricsDoes) {
  const std::string text = metrics_text({}, {});
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_EQ(text.find("# EOF"), text.rfind("# EOF"));
}

TEST(Counters, RequestsByCommandAndStatus) {
  Counters counters;
  counters.count_request(Command::kPid, WireStatus::kOk, 1000);
  counters.count_request(Command::kExtended, WireStatus::kOk, 1000);
  counters.count_request(Command::kExtended, WireStatus::kPeerGone, 1000);
  const std::string text = metrics_text(counters, {});
  EXPECT_TRUE(has_line(text, R"(hostpidd_requests_total{command="pid",status="ok"} 1)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_requests_total{command="pid",status="peer_gone"} 0)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_requests_total{command="extended",status="ok"} 1)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_requests_total{command="extended",status="peer_gone"} 1)"));
}

TEST(Counters, RefusalsByCause) {
  Counters counters;
  for (size_t cause = 0; cause < kRefusals; ++cause) {
    for (size_t i = 0; i <= cause; ++i) counters.count_refusal(static_cast<Refusal>(cause));
  }
  const std::string text = metrics_text(counters, {});
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="tenant_bound"} 1)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="total_bound"} 2)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="evicted"} 3)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="timeout"} 4)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="hang_up"} 5)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="invalid"} 6)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="peer_gone"} 7)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="no_descriptors"} 8)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_refusals_total{cause="ending"} 9)"));
}

// A value at a bucket's end belongs to it; buckets are cumulative; the last has them all.
TEST(Counters, TheHistogramIsCumulative) {
  Counters counters;
  counters.count_request(Command::kPid, WireStatus::kOk, 10'000);         // 10 us
  counters.count_request(Command::kPid, WireStatus::kOk, 10'001);         // a little more
  counters.count_request(Command::kPid, WireStatus::kOk, 2'000'000'000);  // 2 s
  const std::string text = metrics_text(counters, {});
  EXPECT_TRUE(has_line(text, R"(hostpidd_answer_seconds_bucket{le="1e-05"} 1)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_answer_seconds_bucket{le="2e-05"} 2)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_answer_seconds_bucket{le="0.5"} 2)"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_answer_seconds_bucket{le="+Inf"} 3)"));
  EXPECT_TRUE(has_line(text, "hostpidd_answer_seconds_count 3"));
  EXPECT_TRUE(has_line(text, "hostpidd_answer_seconds_sum 2.000020001"));
}

TEST(Counters, TheMoment) {
  Moment moment;
  moment.waiting = 7;
  moment.tenants = 3;
  moment.start_time_s = 1700000000.25;
  moment.view = HOSTPID_VIEW_TRANSLATED;
  const std::string text = metrics_text({}, moment);
  EXPECT_TRUE(has_line(text, "hostpidd_connections_waiting 7"));
  EXPECT_TRUE(has_line(text, "hostpidd_tenants_waiting 3"));
  EXPECT_TRUE(has_line(text, "hostpidd_start_time_seconds 1700000000.250"));
  EXPECT_TRUE(has_line(text, R"(hostpidd_nvml_view{view="translated"} 1)"));
}

// Each family is told once, by a type that both text formats have, before its samples;
// and every counter's samples end in _total.
TEST(Counters, EverySampleBelongsToTheFamilyAboveIt) {
  std::istringstream lines(metrics_text({}, {}));
  std::set<std::string> families;
  std::string family, type;
  for (std::string line; std::getline(lines, line);) {
    if (line == "# EOF" || line.starts_with("# HELP ")) continue;
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      words >> family >> type;
      EXPECT_TRUE(families.insert(family).second) << family;
      EXPECT_TRUE(type == "counter" || type == "gauge" || type == "histogram") << line;
      continue;
    }
    const std::string name = line.substr(0, line.find_first_of("{ "));
    if (type == "counter") {
      EXPECT_EQ(name, family + "_total");
    } else if (type == "gauge") {
      EXPECT_EQ(name, family);
    } else {
      EXPECT_TRUE(name.starts_with(family + "_")) << line;
    }
  }
  EXPECT_GE(families.size(), 9U);
}

}  // namespace
}  // namespace rollcall::broker
