// Where the programs' companions lie: found from the path of the running
// program, so that a build tree, an installation and an unpacked bundle work
// alike, from any folder.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace rollcall::study {

struct Paths {
  std::filesystem::path self;              // the running program
  std::filesystem::path worker;            // bin/rollcall-worker
  std::filesystem::path namespace_holder;  // bin/rollcall-namespace
  std::filesystem::path probe;             // bin/rollcall-probe
  std::filesystem::path simgpud;           // bin/simgpud
  std::filesystem::path hostpidd;          // bin/hostpidd
  std::filesystem::path shim;              // lib/rollcall/librollcall_shim.so
  std::filesystem::path sim_dir;           // lib/rollcall/sim, with the stand-in driver libraries
  std::filesystem::path profile_dir;       // share/rollcall/profiles
  std::filesystem::path plan_dir;          // share/rollcall/plans
};

// From /proc/self/exe, which is <prefix>/bin/rollcall.
base::Result<Paths> find_paths();

// A file that is to be executed or loaded is there; else an error that says
// what is missing and where it was expected.
base::Result<void> require_file(const std::filesystem::path& file, const char* what);

}  // namespace rollcall::study
