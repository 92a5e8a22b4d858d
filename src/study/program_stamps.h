// Whether the programs and libraries of an experiment stayed what they were: somebody who
// rebuilds while it runs would mix two programs in one table.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/paths.h"
#include "study/plan.h"

namespace rollcall::study {

class ProgramStamps {
 public:
  // Of what runs inside the workers, and of what plays their node.
  ProgramStamps(const Paths& paths, const Plan& plan);

  // The first file that is another than then, or gone; empty if all are the same.
  [[nodiscard]] std::filesystem::path changed() const;

 private:
  // Device, inode, size and both times, as text: what any way of writing a file changes.
  std::vector<std::pair<std::filesystem::path, std::string>> stamps_;
};

}  // namespace rollcall::study
