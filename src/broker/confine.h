// What the broker gives up once its sockets are bound. It reads bytes from every
// container of the node and runs as root: whoever found a fault in it would find
// nothing to use it with. docs/hostpidd.md lists what is kept, and why.
#pragma once

#include "base/error.h"

namespace rollcall::broker {

// Every capability goes but CAP_SYS_PTRACE, where there is one: without it the kernel
// does not tell the PID namespace of other users' processes. Never a new privilege.
base::Result<void> drop_privileges();

// From now on a system call that the broker does not need ends the process at once.
// `writes_files`: whether it is to write metrics; otherwise no file can be opened for
// writing.
base::Result<void> install_filter(bool writes_files);

}  // namespace rollcall::broker
