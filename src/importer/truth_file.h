// The launcher's own list of the workers that it started. Columns are found by name:
// slot, cache and pid must be there; cuinit_rc, enter_ms, return_ms and namespace_pid may be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rollcall::importer {

inline constexpr size_t kMaxTruthBytes = size_t{1} << 20;  // 4,096 workers are about 200 KB

struct TruthRow {
  int slot = 0;
  int cache = 0;
  int64_t pid = 0;                         // in the launcher's PID namespace
  std::optional<int64_t> namespace_pid{};  // in its own
  std::optional<int> cuinit_rc{};          // unset: it did not return
  std::optional<int64_t> enter_ns{};       // after the gate was opened
  std::optional<int64_t> return_ns{};
};
struct Truth {
  std::vector<TruthRow> rows;  // by cache, then slot
  bool has_results = false;    // there is a column cuinit_rc
  bool has_namespace_pids = false;
};
// Errors name the file and line.
base::Result<Truth> parse_truth(std::string_view csv, const std::string& where);

}  // namespace rollcall::importer
