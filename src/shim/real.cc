// The real dlsym is found with dlvsym, by the oldest version that the C library
// gives it on this architecture (the base version of its ABI): plain dlsym would
// find our own hook.
#include "shim/real.h"

#include <dlfcn.h>

#include <atomic>

#include "base/old_glibc.h"

ROLLCALL_OLD_SYMBOL(dlopen);
ROLLCALL_OLD_SYMBOL(dlvsym);

namespace rollcall::shim {
namespace {

#if defined(__x86_64__)
constexpr const char* kDlsymVersion = "GLIBC_2.2.5";
#elif defined(__aarch64__)
constexpr const char* kDlsymVersion = "GLIBC_2.17";
#else
#error "name the oldest version of dlsym in this architecture's C library"
#endif

using DlsymFn = void* (*)(void*, const char*);

}  // namespace

// Also read by the assembler in dlsym_hook.cc, which jumps through it.
extern "C" {
__attribute__((visibility("hidden"))) std::atomic<DlsymFn> rollcall_shim_real_dlsym{nullptr};
}

void know_real_dlsym() {
  if (rollcall_shim_real_dlsym.load(std::memory_order_acquire) != nullptr) return;
  rollcall_shim_real_dlsym.store(reinterpret_cast<DlsymFn>(dlvsym(RTLD_NEXT, "dlsym", kDlsymVersion)),
                                 std::memory_order_release);
}

void* real_dlsym(void* handle, const char* name) {
  know_real_dlsym();
  const DlsymFn real = rollcall_shim_real_dlsym.load(std::memory_order_acquire);
  return real != nullptr ? real(handle, name) : nullptr;
}

void* real_driver_function(const char* name) {
  if (void* function = real_dlsym(RTLD_NEXT, name)) return function;
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library != nullptr ? real_dlsym(library, name) : nullptr;
}

}  // namespace rollcall::shim
