// See truth_file.h.
#include "importer/truth_file.h"

#include <limits>
#include <set>
#include <tuple>

#include "evidence/topology.h"
#include "importer/csv_columns.h"
#include "importer/decimal.h"

namespace rollcall::importer {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kMaxPid = std::numeric_limits<int32_t>::max();

// CUresult is never negative; but a harness may write -1 for a worker that died.
std::optional<int> result_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto value = parse_count(text, std::numeric_limits<int32_t>::max());
  if (!value) return std::nullopt;
  return static_cast<int>(negative ? -*value : *value);
}

class RowReader {
 public:
  RowReader(const evidence::CsvRow& header, const evidence::CsvRow& row, std::string where)
      : header_(header), row_(row), where_(std::move(where)) {}

  int64_t count(std::string_view column, int64_t min, int64_t max) {
    const auto value = optional_count(column, min, max);
    if (!value) fail(column, fmt::format("a whole number from {} to {}", min, max));
    return value.value_or(min);
  }
  std::optional<int64_t> optional_count(std::string_view column, int64_t min, int64_t max) {
    const std::string text = cell(column);
    if (text.empty()) return std::nullopt;
    const auto value = parse_count(text, max);
    if (!value || *value < min) fail(column, fmt::format("a whole number from {} to {}", min, max));
    return value;
  }
  std::optional<int64_t> optional_ms(std::string_view column) {
    const std::string text = cell(column);
    if (text.empty()) return std::nullopt;
    const auto value = parse_decimal(text, kNsPerMs);
    if (!value) fail(column, "milliseconds as a decimal number");
    return value ? std::optional(value->ns) : std::nullopt;
  }
  std::optional<int> optional_result(std::string_view column) {
    const std::string text = cell(column);
    if (text.empty()) return std::nullopt;
    const auto value = result_of(text);
    if (!value) fail(column, "a result of cuInit");
    return value;
  }
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  std::string cell(std::string_view column) {
    const auto place = column_of(header_, column);
    return place ? row_[*place] : std::string();
  }
  void fail(std::string_view column, const std::string& expected) {
    if (error_) return;
    error_ = base::Error{base::ErrorKind::kUsage,
                         where_,
                         fmt::format("{}: expected {}, found '{}'", column, expected, cell(column)),
                         {}};
  }

  const evidence::CsvRow& header_;
  const evidence::CsvRow& row_;
  std::string where_;
  std::optional<base::Error> error_;
};

}  // namespace

base::Result<Truth> parse_truth(std::string_view csv, const std::string& where) {
  const auto rows = evidence::parse_csv(csv, where);
  if (!rows) return tl::unexpected<base::Error>(rows.error());
  if (auto good = check_table(*rows, {"slot", "cache", "pid"}, where); !good)
    return tl::unexpected<base::Error>(good.error());
  if (rows->size() > static_cast<size_t>(evidence::kMaxWorkers) + 1) {
    return base::usage_error(where, fmt::format("more than {} workers", evidence::kMaxWorkers));
  }
  Truth truth;
  truth.has_results = column_of(rows->front(), "cuinit_rc").has_value();
  truth.has_namespace_pids = column_of(rows->front(), "namespace_pid").has_value();
  std::set<std::pair<int, int>> places;
  for (size_t i = 1; i < rows->size(); ++i) {
    const std::string at = fmt::format("{}:{}", where, i + 1);
    RowReader reader(rows->front(), (*rows)[i], at);
    TruthRow row;
    row.slot = static_cast<int>(reader.count("slot", 0, std::numeric_limits<int32_t>::max()));
    row.cache = static_cast<int>(reader.count("cache", 0, evidence::kMaxWorkers - 1));
    row.pid = reader.count("pid", 1, kMaxPid);
    row.namespace_pid = reader.optional_count("namespace_pid", 1, kMaxPid);
    row.cuinit_rc = reader.optional_result("cuinit_rc");
    row.enter_ns = reader.optional_ms("enter_ms");
    row.return_ns = reader.optional_ms("return_ms");
    if (reader.error()) return tl::unexpected<base::Error>(*reader.error());
    if (!places.emplace(row.cache, row.slot).second) {
      return base::usage_error(at, fmt::format("slot {} of cache {} is there twice", row.slot, row.cache));
    }
    truth.rows.push_back(row);
  }
  std::sort(truth.rows.begin(), truth.rows.end(), [](const TruthRow& a, const TruthRow& b) {
    return std::tie(a.cache, a.slot) < std::tie(b.cache, b.slot);
  });
  return truth;
}

}  // namespace rollcall::importer
