// Asks a running broker as a client does, with both commands, and says what it answered:
// for a person at a node and for a liveness probe.
#pragma once

#include <string>

#include "base/error.h"

namespace rollcall::broker {

// What was answered, as lines. An error if there is no broker, or its answers do not hold
// or contradict what this process knows of itself.
base::Result<std::string> check_broker(const std::string& path, int64_t deadline_ms);

}  // namespace rollcall::broker
