#include "report/document.h"
namespace rollcall::report {
base::Result<std::string> html_report(const ReportSource&) {
  return base::failure("report", "not built");
}
std::string report_generator() {
  return "none";
}
}  // namespace rollcall::report
