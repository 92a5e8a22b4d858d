// CSV as of RFC 4180, but with a bare line feed at the end of a row, so that
// line tools (diff, cut, wc) see what they expect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rollcall::evidence {

using CsvRow = std::vector<std::string>;

// Appends one row. A field is quoted only where it must be. The row has at least one field.
void append_csv_row(std::string& csv, const CsvRow& row);

// All rows. Accepts CRLF as well as LF after a row; the last one may lack it.
// Refused with its line: a quote inside an unquoted field, text after a closing
// quote, a quote that is never closed, a bare CR.
base::Result<std::vector<CsvRow>> parse_csv(std::string_view csv, const std::string& where);

}  // namespace rollcall::evidence
