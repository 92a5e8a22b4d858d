// Two experiments side by side, as one reads it: first whether something became slower
// or a wrong identity appeared, then condition by condition. At most 100 columns.
#pragma once

#include <string>

#include "analysis/compare.h"

namespace rollcall::report {

std::string comparison_text(const analysis::Comparison& comparison);

// The same facts as one JSON document, ending with a newline.
std::string comparison_json(const analysis::Comparison& comparison);

}  // namespace rollcall::report
