// Tables that people hand in: columns by name, in any order, others ignored.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "evidence/csv.h"

namespace rollcall::importer {

// The place of a column in the header; unset if it is not there.
inline std::optional<size_t> column_of(const evidence::CsvRow& header, std::string_view name) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<size_t>(found - header.begin());
}

// Refused: a column that is needed and not there, and a row of another length than the header.
inline base::Result<void> check_table(const std::vector<evidence::CsvRow>& rows,
                                      std::initializer_list<std::string_view> needed,
                                      const std::string& where) {
  if (rows.empty()) return base::usage_error(where + ":1", "expected a header row, found an empty file");
  for (const std::string_view name : needed) {
    if (column_of(rows.front(), name)) continue;
    return base::usage_error(where + ":1",
                             fmt::format("no column {}; expected {}", name, fmt::join(needed, ",")));
  }
  for (const std::string& name : rows.front()) {
    if (std::count(rows.front().begin(), rows.front().end(), name) == 1) continue;
    return base::usage_error(where + ":1", fmt::format("the column '{}' twice: which is meant?", name));
  }
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].size() == rows.front().size()) continue;
    return base::usage_error(
        fmt::format("{}:{}", where, i + 1),
        fmt::format("{} fields, and {} columns in the header", rows[i].size(), rows.front().size()));
  }
  return {};
}

}  // namespace rollcall::importer
