// dlsym, interposed. Nearly every look-up of a program is none of our business,
// and it must see exactly what it would have seen without us: RTLD_NEXT and the
// search order depend on the address of the *caller*, so such a call may not be
// forwarded by an ordinary function (the caller would then be the shim). The
// hook is therefore a few instructions that ask whether the name is ours and
// otherwise jump, not call, to the real dlsym with the caller's frame untouched.
#include <dlfcn.h>

#include "base/clock.h"
#include "shim/added_time.h"
#include "shim/hooks.h"
#include "shim/real.h"

using namespace rollcall;
using namespace rollcall::shim;

// What to answer instead of the real dlsym; null: ask the real one.
extern "C" __attribute__((visibility("hidden"), used)) void* rollcall_shim_lookup(void* handle,
                                                                                  const char* name) {
  know_real_dlsym();
  // All names that concern us begin with "cu". The pseudo-handles are left to
  // the real dlsym: it finds our exported hooks by itself for a caller before
  // us, and for one after us must not.
  if (name == nullptr || name[0] != 'c' || name[1] != 'u' || handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
    return nullptr;
  }
  const int64_t start_ns = base::monotonic_ns();
  if (find_hook(name) == nullptr) return nullptr;
  const int64_t real_start_ns = base::monotonic_ns();
  void* found = real_dlsym(handle, name);
  const int64_t real_end_ns = base::monotonic_ns();
  void* answer = substitute(name, found);
  add_time(base::monotonic_ns() - start_ns - (real_end_ns - real_start_ns));
  return answer;
}

#if defined(__x86_64__)

__asm__(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call rollcall_shim_lookup
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jnz 1f
  movq rollcall_shim_real_dlsym(%rip), %rax
  testq %rax, %rax
  jz 1f
  jmp *%rax
1:
  ret
  .cfi_endproc
  .size dlsym, .-dlsym
)");

#else

// Elsewhere an ordinary forwarding function: right for every real handle, but a
// look-up with RTLD_NEXT is then answered as if the shim had asked.
extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  void* answer = rollcall_shim_lookup(handle, name);
  return answer != nullptr ? answer : real_dlsym(handle, name);
}

#endif
