// Everything that a report says, decided once: HTML and Markdown only lay it out, so
// that they cannot differ in a number or a sentence. A pure function of the evidence.
//
// All text here is text: nothing is escaped yet, and names from the evidence may hold
// anything but control characters.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analysis/classify.h"
#include "analysis/estimate.h"
#include "analysis/summary.h"
#include "report/document.h"

namespace rollcall::report {

struct ReportTable {
  struct Column {
    std::string title;
    bool is_number = false;  // to the right
  };
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // a shorter row's last cell spans the rest
  // One for each row, or none at all: how many workers of each class, for a bar beside it.
  std::vector<std::array<int, analysis::kClasses.size()>> bars;
};

struct Fact {
  std::string name;
  std::string value;
};

// A command that a reader can copy, and what it does.
struct Step {
  std::string what;
  std::string command;
};

struct ReportModel {
  analysis::ExperimentSummary summary;

  std::string title;
  std::string measured_on;            // one line: on what, and under which conditions
  std::vector<std::string> findings;  // what was seen, first
  std::vector<std::string> question;
  std::vector<Fact> method;
  std::vector<Fact> environment;
  std::vector<Fact> programs;  // name and SHA-256 of what took part
  ReportTable classes;
  ReportTable knowledge;  // no rows: no arm claims two numbers
  ReportTable walls;
  ReportTable added;  // no rows: no arm tells what it adds
  ReportTable statistics;
  ReportTable outliers;  // no rows: none
  ReportTable invalid;   // no rows: none
  std::vector<std::string> interpretation;
  std::vector<std::string> limits;
  std::vector<Step> reproduce;
};
ReportModel build_model(const ReportSource& source);

// The parts of it that have a file of their own.
// What follows from the numbers beyond the findings: how much slower, how sure, how it grows.
std::vector<std::string> interpretation(const ReportModel& model);
// What the experiment cannot tell, each with its reason.
std::vector<std::string> limits(const ReportModel& model, const ReportSource& source);
// From plan.json, environment.json and import.json, as far as they are there.
std::vector<Fact> method_facts(const ReportModel& model, const ReportSource& source);
std::vector<Fact> environment_facts(const ReportSource& source);
std::vector<Fact> program_facts(const ReportSource& source);
// The numbers of the charts, as compact JSON.
std::string chart_data(const ReportModel& model, const ReportSource& source);

}  // namespace rollcall::report
