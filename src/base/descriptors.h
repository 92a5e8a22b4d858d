// What a server needs of the operating system before it serves: enough descriptors,
// and an address. For our own programs.
#pragma once

#include <sys/un.h>

#include <string>

#include "base/error.h"

namespace rollcall::base {

// Raises the soft limit of open files to `wanted`, or as far as the hard limit lets
// it; returns what it is then.
Result<size_t> raise_descriptor_limit(size_t wanted);

// The address of a Unix socket at `path`, which has to fit into it.
Result<sockaddr_un> unix_address(const std::string& path);

}  // namespace rollcall::base
