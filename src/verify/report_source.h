// What a report is made of, read from an evidence folder: by the command that writes
// it and by the check that derives it again, which must not differ.
#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "report/document.h"

namespace rollcall::verify {

// `finished`: the folder is sealed. Documents that are not there are empty.
base::Result<report::ReportSource> read_report_source(const std::filesystem::path& folder,
                                                      std::vector<evidence::Run> runs, bool finished);

// The text of a file; empty if it is not there.
base::Result<std::string> text_if_there(const std::filesystem::path& file);

}  // namespace rollcall::verify
