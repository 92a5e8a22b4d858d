// The hooks as a table: which driver functions the shim stands in front of, and
// where the real ones are kept. A program reaches a driver function by linking,
// by dlopen and dlsym, or by cuGetProcAddress (the runtime library uses the last
// two); the table serves all of them, so that no way around it is left.
#pragma once

namespace rollcall::shim {

struct Hook {
  const char* name;
  void* (*replacement)();  // a function, not the address: so that the table is a constant
  // Remembers `function` as the real one. False if another is already known: a
  // second driver library in one process is left alone.
  bool (*remember)(void* function);
};

// The hook for a driver function's exact name; null if there is none.
const Hook* find_hook(const char* name);

// For a look-up of `name` that found `function`: the replacement if the function
// is the one we stand in front of, else `function` unchanged.
void* substitute(const char* name, void* function);

}  // namespace rollcall::shim
