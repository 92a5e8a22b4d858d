// Wall times that a person measured with a stopwatch around the launcher's command, from a
// table `topology,arm,run,external_wall_s`. They are joined to runs that have none; one
// that was measured stands, and a difference is told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"
#include "importer/decimal.h"

namespace rollcall::importer {

inline constexpr size_t kMaxWallTimesBytes = size_t{16} << 20;

class WallTimes {
 public:
  WallTimes() = default;
  // Errors name the file and line. A row without a time says nothing.
  static base::Result<WallTimes> parse(std::string_view csv, const std::string& where);

  // Sets stated_wall_ns where the record has no wall time.
  void join(evidence::RunRecord& record);

  // Runs whose own wall time, rounded as the table is, is another one.
  [[nodiscard]] const std::vector<std::string>& differences() const { return differences_; }
  // Rows of no run that was joined.
  [[nodiscard]] std::vector<std::string> unused() const;
  [[nodiscard]] size_t rows() const { return rows_.size(); }

 private:
  struct Row {
    evidence::Topology topology;
    std::string arm;
    int repetition = 1;
    Decimal wall;
    std::string text;
    size_t line = 0;
    bool used = false;
  };
  std::vector<Row> rows_;
  std::vector<std::string> differences_;
  std::string where_;
};

}  // namespace rollcall::importer
