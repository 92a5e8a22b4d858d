#!/usr/bin/env bash
# What goes inside other people's processes needs libc and nothing else, and shows
# nothing but what it stands in front of.
source "$(dirname "$0")/lib.sh"

lib=$ROLLCALL_PREFIX/lib/rollcall
for file in "$lib/librollcall_shim.so" "$lib/sim/libcuda.so.1" "$lib/sim/libnvidia-ml.so.1" \
  "$ROLLCALL_PREFIX/bin/rollcall-worker" "$ROLLCALL_PREFIX/bin/rollcall-namespace" \
  "$ROLLCALL_PREFIX/lib/libhostpid.so"; do
  # The dynamic loader belongs to libc: it serves thread-local storage. So does libdl.
  expect_equal "libraries of $(basename "$file")" \
    "$(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(ld-linux|libdl\.so\.2)')" libc.so.6
  ! nm -D --undefined-only "$file" | grep -E '_ZN|__cxa_(throw|guard)|__asan|__tsan|__ubsan' ||
    fail "$(basename "$file") uses the C++ library or a sanitizer"
  ! readelf -SW "$file" | grep -q '\.ctors' || fail "$(basename "$file") has constructors"
done
expect_equal "names that the shim shows" "$(nm -D --defined-only "$lib/librollcall_shim.so" | awk '{ print $3 }' | sort | tr '\n' ' ')" \
  "cuCtxCreate cuCtxCreate_v2 cuCtxCreate_v3 cuCtxCreate_v4 cuDevicePrimaryCtxRetain cuGetProcAddress cuGetProcAddress_v2 cuInit dlsym "
! nm -D --defined-only "$lib/sim/libcuda.so.1" | awk '{ print $3 }' | grep -v '^cu[A-Z]' || fail "other names in libcuda"
! nm -D --defined-only "$lib/sim/libnvidia-ml.so.1" | awk '{ print $3 }' | grep -v '^nvml[A-Z]' || fail "other names in NVML"

# These two go into containers of other people, whose C library may be as old as 2.28.
for file in "$lib/librollcall_shim.so" "$ROLLCALL_PREFIX/lib/libhostpid.so"; do
  newest=$(objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
  expect_equal "the older of GLIBC_2.28 and what $(basename "$file") needs" \
    "$(printf 'GLIBC_2.28\n%s\n' "$newest" | sort -V | head -n 1)" "$newest"
done
