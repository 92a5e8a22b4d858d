// How NVML numbers processes on this node: said by whoever starts the broker, or measured
// by rollcall-probe. The broker itself never touches the driver.
#pragma once

#include <string>

#include "base/error.h"
#include "hostpid/hostpid.h"

namespace rollcall::broker {

struct View {
  hostpid_nvml_view view = HOSTPID_VIEW_UNKNOWN;
  std::string reason;  // why it is unknown, where it was to be measured
};

// "measure", "global", "translated" or "unknown". Measuring starts rollcall-probe, which
// lies beside this program, and takes a moment; call it before serving, from the main
// thread. What cannot be measured is unknown, never an error.
base::Result<View> find_view(const std::string& wanted);

}  // namespace rollcall::broker
