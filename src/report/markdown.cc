// The model as Markdown: what a person commits beside the code or pastes into a review.
#include <fmt/format.h>

#include <cctype>

#include "report/document.h"
#include "report/model.h"

namespace rollcall::report {
namespace {

// Names come from the user; none of their characters may start any markup. "_" is left
// inside a word, where it starts none.
std::string escaped(std::string_view text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside_word = i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    const bool markup =
        std::string_view("\\`*|<>[]~&#").find(c) != std::string_view::npos || (c == '_' && !inside_word);
    if (markup) result += '\\';
    result += c;
  }
  return result;
}

void add_table(const ReportTable& table, std::string& text) {
  text += "|";
  for (const auto& column : table.columns) text += " " + escaped(column.title) + " |";
  text += "\n|";
  for (const auto& column : table.columns) text += column.is_number ? "---:|" : "---|";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      text += " " + (i < row.size() ? escaped(row[i]) + " " : std::string()) + "|";
    }
    text += "\n";
  }
  text += "\n";
}

void add_list(const std::vector<std::string>& sentences, std::string& text) {
  for (const std::string& sentence : sentences) text += "* " + escaped(sentence) + "\n";
  text += "\n";
}

void add_facts(const std::vector<Fact>& facts, std::string& text) {
  text += "| | |\n|---|---|\n";
  for (const Fact& fact : facts)
    text += fmt::format("| {} | {} |\n", escaped(fact.name), escaped(fact.value));
  text += "\n";
}

}  // namespace

std::string markdown_report(const ReportSource& source) {
  const ReportModel model = build_model(source);
  std::string text = "# " + escaped(model.title) + "\n\n";
  if (!source.finished) text += "**Unfinished experiment.**\n\n";
  for (const std::string& paragraph : model.question) text += escaped(paragraph) + "\n\n";
  if (!model.measured_on.empty()) text += escaped(model.measured_on) + "\n\n";

  text += "## Key result\n\n";
  add_list(model.findings, text);
  if (!model.classes.rows.empty()) add_table(model.classes, text);
  if (!model.knowledge.rows.empty()) {
    text += escaped(model.knowledge.caption) + ".\n\n";
    add_table(model.knowledge, text);
  }

  text += "## Performance\n\n";
  if (!model.walls.rows.empty()) {
    text += escaped(model.walls.caption) + ". \\* fewer than 5 runs.\n\n";
    add_table(model.walls, text);
  }
  if (!model.added.rows.empty()) {
    text += escaped(model.added.caption) + ".\n\n";
    add_table(model.added, text);
  }
  text += "## Interpretation\n\n";
  add_list(model.interpretation, text);
  text += "## What this cannot tell\n\n";
  add_list(model.limits, text);
  if (!model.invalid.rows.empty()) {
    text += "## Invalid runs\n\n" + escaped(model.invalid.caption) + ".\n\n";
    add_table(model.invalid, text);
  }
  if (!model.outliers.rows.empty()) {
    text += "## Outliers\n\n" + escaped(model.outliers.caption) + ".\n\n";
    add_table(model.outliers, text);
  }
  text += "## Method\n\n";
  add_facts(model.method, text);
  text += "## Environment\n\n";
  add_facts(model.environment, text);
  if (!model.programs.empty()) {
    text += "SHA-256 of what took part:\n\n";
    add_facts(model.programs, text);
  }
  text += "## Statistics\n\n" + escaped(model.statistics.caption) + ".\n\n";
  add_table(model.statistics, text);
  text += "## How to derive it again\n\n";
  for (const Step& step : model.reproduce) {
    text += fmt::format("{}:\n\n    {}\n\n", escaped(step.what), step.command);
  }
  text += fmt::format("Made by rollcall {}.\n", ROLLCALL_VERSION);
  return text;
}

}  // namespace rollcall::report
