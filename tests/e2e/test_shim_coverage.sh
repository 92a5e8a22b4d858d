#!/usr/bin/env bash
# Whichever way a program reaches cuInit, the shim is there: linked, dlopen and
# dlsym, cuGetProcAddress in both forms, and after a fork.
source "$(dirname "$0")/lib.sh"

shim=$ROLLCALL_PREFIX/lib/rollcall/librollcall_shim.so
under_shim() {
  "$rollcall" sim exec --profile instant -- env LD_PRELOAD="$shim" ROLLCALL_SHIM_DISCOVERY=legacy \
    CUDA_DEVICE_MEMORY_SHARED_CACHE="$work/region" ROLLCALL_SHIM_LOG=1 "$@"
}
slots() { "$ROLLCALL_TEST_BIN/region_dump" "$work/region"; }

for way in cuda_linked cuda_dlsym "cuda_proc_address 1" "cuda_proc_address 2" "cuda_proc_address self"; do
  rm -f region
  # shellcheck disable=SC2086
  set -- $way
  expect_exit 0 under_shim "$ROLLCALL_TEST_BIN/$1" ${2:-}
  expect_equal "cuInit ($way)" "$(sort -u out)" 0
  expect_equal "slots ($way)" "$(slots | wc -l)" 1
  expect_equal "own PID ($way)" "$(slots | awk '$1 == $3 && $2 == 3' | wc -l)" 1
done

rm -f region
expect_exit 0 under_shim "$ROLLCALL_TEST_BIN/cuda_fork"
expect_equal "slots of parent and child" "$(slots | awk '$1 == $3' | cut -d' ' -f1 | sort -n)" "$(tr ' ' '\n' <out | sort -n)"
