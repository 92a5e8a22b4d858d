// Columns aligned with blanks, and words wrapped, for the reports on a terminal.
// Widths are counted in characters, not bytes: "±" and "×" are one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rollcall::report {

inline constexpr size_t kMaxColumns = 100;

// The text with control characters made harmless and cut to `max_width`
// characters: names come from the user, and a terminal obeys what it is sent.
std::string printable(std::string_view text, size_t max_width);

enum class Align { kLeft, kRight };

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
  // The rest of the row says something instead of holding cells.
  void add_with_note(std::vector<std::string> cells, std::string note) {
    rows_.push_back({std::move(cells), std::move(note)});
  }

  // Each line indented by two blanks and ended; columns two blanks apart.
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Breaks at blanks so that no line is longer than kMaxColumns, if no word is;
// lines after the first are indented.
std::string wrapped(std::string_view text, size_t indent);

}  // namespace rollcall::report
