// "Did you mean …?": the nearest valid name for a mistyped one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::base {

// Levenshtein distance: insertions, deletions and replacements each cost one.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// The valid name with the smallest distance; the first of equals. Empty if
// there are no valid names.
inline std::string nearest(std::string_view name, const std::vector<std::string>& valid) {
  const auto best = std::min_element(valid.begin(), valid.end(), [&](const auto& a, const auto& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  return best == valid.end() ? std::string() : *best;
}

// "did you mean 'x'?" for the nearest valid name, or nothing where not even half of
// the longer of both names agrees: a far-fetched guess helps nobody.
inline std::string did_you_mean(std::string_view name, const std::vector<std::string>& valid) {
  const std::string best = nearest(name, valid);
  if (best.empty() || 2 * edit_distance(name, best) > std::max(name.size(), best.size()) + 1) return {};
  return "did you mean '" + best + "'?";
}

}  // namespace rollcall::base
