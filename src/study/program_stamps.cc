// See program_stamps.h. A stamp rather than a hash: it is asked before and after every run.
#include "study/program_stamps.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "study/broker.h"

namespace rollcall::study {
namespace {

std::string stamp_of(const std::filesystem::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return "gone";
  return fmt::format("{}:{} {} {}.{} {}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

}  // namespace

ProgramStamps::ProgramStamps(const Paths& paths, const Plan& plan) {
  std::vector<std::filesystem::path> files = {paths.worker, paths.shim};
  if (plan.node == evidence::NodeKind::kSimulated) {
    files.insert(files.end(),
                 {paths.simgpud, paths.sim_dir / "libcuda.so.1", paths.sim_dir / "libnvidia-ml.so.1"});
  }
  if (plan.isolation == evidence::Isolation::kPid) files.push_back(paths.namespace_holder);
  if (needs_broker(plan)) files.push_back(paths.hostpidd);
  for (const Arm& arm : plan.shims) files.emplace_back(arm.preload);
  for (const std::filesystem::path& file : files) stamps_.emplace_back(file, stamp_of(file));
}

std::filesystem::path ProgramStamps::changed() const {
  for (const auto& [file, stamp] : stamps_) {
    if (stamp_of(file) != stamp) return file;
  }
  return {};
}

}  // namespace rollcall::study
