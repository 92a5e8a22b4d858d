// Writer and reader are each other's inverse: whatever bytes the fields hold,
// reading what was written gives them back.
#include "evidence/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace rollcall::evidence {
namespace {

bool needs_quotes(std::string_view field) {
  return field.find_first_of(",\"\r\n") != std::string_view::npos;
}

class CsvReader {
 public:
  CsvReader(std::string_view csv, const std::string& where) : rest_(csv), where_(where) {}

  base::Result<std::vector<CsvRow>> rows() {
    std::vector<CsvRow> result;
    while (!rest_.empty()) {
      CsvRow row;
      bool more = true;
      while (more) {
        auto field = take_field();
        if (!field) return tl::unexpected<base::Error>(field.error());
        row.push_back(std::move(*field));
        auto comma = take_separator();
        if (!comma) return tl::unexpected<base::Error>(comma.error());
        more = *comma;
      }
      result.push_back(std::move(row));
    }
    return result;
  }

 private:
  base::Result<std::string> take_field() {
    if (!rest_.starts_with('"')) {
      const std::string_view field = rest_.substr(0, rest_.find_first_of(",\r\n"));
      if (field.find('"') != std::string_view::npos)
        return wrong("a quote inside a field that is not quoted");
      rest_.remove_prefix(field.size());
      return std::string(field);
    }
    std::string field;
    const size_t opened_at = line_;
    rest_.remove_prefix(1);
    for (;;) {
      const size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) {
        line_ = opened_at;
        return wrong("a quote that is never closed");
      }
      field += rest_.substr(0, quote);
      line_ += static_cast<size_t>(
          std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) return field;
      field += '"';
      rest_.remove_prefix(1);
    }
  }

  // True for a comma, false for the end of a row or of the text.
  base::Result<bool> take_separator() {
    if (rest_.empty()) return false;
    if (rest_.starts_with(',')) {
      rest_.remove_prefix(1);
      return true;
    }
    const size_t end = rest_.starts_with("\r\n") ? 2 : rest_.starts_with('\n') ? 1 : 0;
    if (end == 0) return wrong("expected a comma or the end of the row after a field");
    rest_.remove_prefix(end);
    ++line_;
    return false;
  }

  [[nodiscard]] tl::unexpected<base::Error> wrong(std::string what) const {
    return base::usage_error(fmt::format("{}:{}", where_, line_), std::move(what));
  }

  std::string_view rest_;
  const std::string& where_;
  size_t line_ = 1;
};

}  // namespace

void append_csv_row(std::string& csv, const CsvRow& row) {
  // A row of one empty field would be an empty line, which some readers skip.
  const bool lone_empty = row.size() == 1 && row.front().empty();
  const char* separator = "";
  for (const std::string& field : row) {
    csv += separator;
    separator = ",";
    if (!lone_empty && !needs_quotes(field)) {
      csv += field;
      continue;
    }
    csv += '"';
    for (const char c : field) {
      if (c == '"') csv += '"';
      csv += c;
    }
    csv += '"';
  }
  csv += '\n';
}

base::Result<std::vector<CsvRow>> parse_csv(std::string_view csv, const std::string& where) {
  return CsvReader(csv, where).rows();
}

}  // namespace rollcall::evidence
