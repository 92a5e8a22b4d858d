// Padding by bytes would shift every line that has "±" in it.
#include "report/text_table.h"

#include <algorithm>

namespace rollcall::report {
namespace {

constexpr size_t kGap = 2;

// Characters of a UTF-8 text: all bytes but the continuation bytes.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, size_t width, Align align) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return align == Align::kLeft ? std::string(text) + blanks : blanks + std::string(text);
}

void append_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

}  // namespace

std::string printable(std::string_view text, size_t max_width) {
  std::string result;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    result += control ? '?' : c;
  }
  if (width_of(result) <= max_width) return result;
  while (width_of(result) >= max_width) {
    while ((static_cast<unsigned char>(result.back()) & 0xC0) == 0x80) result.pop_back();
    result.pop_back();
  }
  return result + "…";
}

std::string TextTable::text() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = width_of(columns_[i].title);
    for (const Row& row : rows_) {
      if (i < row.cells.size()) width = std::max(width, width_of(row.cells[i]));
    }
    widths.push_back(width);
  }
  const auto line_of = [&](const auto& cell_at, size_t count) {
    std::string line;
    for (size_t i = 0; i < count; ++i) {
      line += std::string(kGap, ' ') + padded(cell_at(i), widths[i], columns_[i].align);
    }
    return line;
  };
  std::string text;
  append_line(text, line_of([&](size_t i) { return columns_[i].title; }, columns_.size()));
  for (const Row& row : rows_) {
    std::string line = line_of([&](size_t i) { return row.cells[i]; }, row.cells.size());
    if (!row.note.empty()) line += std::string(kGap, ' ') + row.note;
    append_line(text, std::move(line));
  }
  return text;
}

std::string wrapped(std::string_view text, size_t indent) {
  std::string result;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const bool blank_line = line.find_first_not_of(' ') == std::string::npos;
    if (!blank_line && width_of(line) + 1 + width_of(word) > kMaxColumns) {
      append_line(result, line);
      line = std::string(indent, ' ');
    } else if (!blank_line) {
      line += ' ';
    }
    line += word;
  }
  append_line(result, line);
  return result;
}

}  // namespace rollcall::report
