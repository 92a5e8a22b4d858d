// The hooks on the ways to a context: the primary one retained, or one created. For the
// arm `tiered`; the others are passed through.
#pragma once

#include <cstddef>

#include "shim/hooks.h"

namespace rollcall::shim {

extern const Hook kContextHooks[];
extern const size_t kContextHookCount;

// Under which of the hooks' names cuGetProcAddress(`symbol`, `cuda_version`) gives its
// function; `symbol` itself if it has one form only.
const char* context_symbol(const char* symbol, int cuda_version);

}  // namespace rollcall::shim
