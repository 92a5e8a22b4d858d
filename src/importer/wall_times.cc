// See wall_times.h.
#include "importer/wall_times.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <tuple>

#include "analysis/statistics.h"
#include "analysis/times.h"
#include "importer/csv_columns.h"

namespace rollcall::importer {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kMaxRepetition = 999'999'999;

// Whether the time is shown so when it is rounded to the table's last digit; a tie may be
// rounded either way.
bool rounds_to(int64_t ns, const Decimal& shown) {
  return std::abs(ns - shown.ns) <= shown.unit_ns / 2;
}

}  // namespace

base::Result<WallTimes> WallTimes::parse(std::string_view csv, const std::string& where) {
  const auto rows = evidence::parse_csv(csv, where);
  if (!rows) return tl::unexpected<base::Error>(rows.error());
  if (auto good = check_table(*rows, {"topology", "arm", "run", "external_wall_s"}, where); !good)
    return tl::unexpected<base::Error>(good.error());
  const evidence::CsvRow& header = rows->front();
  WallTimes times;
  times.where_ = where;
  std::map<std::tuple<evidence::Topology, std::string, int>, size_t> seen;
  for (size_t i = 1; i < rows->size(); ++i) {
    const std::string at = fmt::format("{}:{}", where, i + 1);
    const auto cell = [&](const char* column) { return (*rows)[i][*column_of(header, column)]; };
    Row row;
    row.line = i + 1;
    row.arm = cell("arm");
    row.text = cell("external_wall_s");
    const auto topology = evidence::Topology::parse(cell("topology"));
    if (!topology) return base::usage_error(at, topology.error().what);
    row.topology = *topology;
    const auto repetition = parse_count(cell("run"), kMaxRepetition);
    if (!repetition || *repetition < 1) {
      return base::usage_error(at,
                               fmt::format("run: expected a whole number from 1, found '{}'", cell("run")));
    }
    row.repetition = static_cast<int>(*repetition);
    const auto [first, fresh] = seen.emplace(std::tuple(row.topology, row.arm, row.repetition), row.line);
    if (!fresh) {
      return base::usage_error(at, fmt::format("the run of {}, {}, run {} has a time in line {} already",
                                               row.topology.text(), row.arm, row.repetition, first->second));
    }
    if (row.text.empty()) continue;
    const auto wall = parse_decimal(row.text, kNsPerSecond);
    if (!wall) {
      return base::usage_error(
          at, fmt::format("external_wall_s: expected seconds as a decimal number, found '{}'", row.text));
    }
    row.wall = *wall;
    times.rows_.push_back(std::move(row));
  }
  return times;
}

void WallTimes::join(evidence::RunRecord& record) {
  for (Row& row : rows_) {
    if (row.topology != record.topology || row.arm != record.arm || row.repetition != record.repetition)
      continue;
    row.used = true;
    const auto own = analysis::external_wall_ns(record);
    if (!own) {
      record.stated_wall_ns = row.wall.ns;
    } else if (!rounds_to(*own, row.wall)) {
      differences_.push_back(fmt::format("{}:{}: run {} has the external wall time {} s, and {} s here",
                                         where_, row.line, record.id(), analysis::seconds_text(*own),
                                         row.text));
    }
  }
}

std::vector<std::string> WallTimes::unused() const {
  std::vector<std::string> lines;
  for (const Row& row : rows_) {
    if (row.used) continue;
    lines.push_back(fmt::format("{}:{}: no run {} {} {}", where_, row.line, row.topology.text(), row.arm,
                                row.repetition));
  }
  return lines;
}

}  // namespace rollcall::importer
