// See paths.h.
#include "study/paths.h"

#include <unistd.h>

#include <system_error>

namespace rollcall::study {

base::Result<Paths> find_paths() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return base::system_failure("/proc/self/exe", "read", error.value(), "is /proc mounted?");
  const std::filesystem::path prefix = self.parent_path().parent_path();
  // As /proc/PID/maps will show what is loaded from there: without symbolic links.
  std::filesystem::path lib = std::filesystem::weakly_canonical(prefix / "lib" / "rollcall", error);
  if (error) lib = prefix / "lib" / "rollcall";
  Paths paths;
  paths.self = self;
  paths.worker = prefix / "bin" / "rollcall-worker";
  paths.namespace_holder = prefix / "bin" / "rollcall-namespace";
  paths.hostpidd = prefix / "bin" / "hostpidd";
  paths.probe = prefix / "bin" / "rollcall-probe";
  paths.simgpud = prefix / "bin" / "simgpud";
  paths.shim = lib / "librollcall_shim.so";
  paths.sim_dir = lib / "sim";
  paths.profile_dir = prefix / "share" / "rollcall" / "profiles";
  paths.plan_dir = prefix / "share" / "rollcall" / "plans";
  return paths;
}

base::Result<void> require_file(const std::filesystem::path& file, const char* what) {
  if (access(file.c_str(), R_OK) == 0) return {};
  return base::system_failure(file.string(), std::string("read ") + what, errno,
                              "build the whole project (scripts/build), or put it back beside the program");
}

}  // namespace rollcall::study
