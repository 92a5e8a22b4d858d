// The report of an experiment as one document: for a browser, or as Markdown.
// Both follow from the evidence alone, the same evidence gives the same bytes, and
// what they say in words follows from the numbers by fixed rules.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "evidence/records.h"

namespace rollcall::report {

// What the evidence folder holds, as text where the report only quotes it.
struct ReportSource {
  std::vector<evidence::Run> runs;  // in the order of their numbers
  std::string plan_json;            // empty: there is none (imported logs)
  std::string environment_json;     // empty: there is none
  std::string import_json;          // empty: not imported
  bool finished = true;             // SHA256SUMS is there
};

// One HTML file that opens offline: everything is in it, and it asks for nothing.
base::Result<std::string> html_report(const ReportSource& source);
std::string markdown_report(const ReportSource& source);

// What made an HTML report: "rollcall VERSION, vega SHA256". It stands in the
// document as <meta name="generator">: by another generator the same evidence gives
// other bytes, and that is no difference of the evidence.
std::string report_generator();

}  // namespace rollcall::report
