// Symbols of the C library that got a new version without a new meaning. A library
// that is preloaded into other people's containers must load where the C library is
// older than the one that it was built with: glibc 2.28, of 2018, is the floor. What is
// left to be called by its newest version is checked by a test.
//
// In those years dlopen and its like lay in libdl, so whoever uses this is linked with
// that, too: it is still there, empty, today.
#pragma once

#include <features.h>

#if defined(ROLLCALL_GUEST) && defined(__GLIBC__) && defined(__x86_64__)
#define ROLLCALL_OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#elif defined(ROLLCALL_GUEST) && defined(__GLIBC__) && defined(__aarch64__)
#define ROLLCALL_OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#else
#define ROLLCALL_OLD_SYMBOL(name) static_assert(true)
#endif
