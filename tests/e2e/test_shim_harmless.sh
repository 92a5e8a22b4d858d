#!/usr/bin/env bash
# The shim never breaks its host: silent unless asked, harmless when left behind,
# and a file that is not its own is left as it is.
source "$(dirname "$0")/lib.sh"

shim=$ROLLCALL_PREFIX/lib/rollcall/librollcall_shim.so
sim=("$rollcall" sim exec --profile instant -- env LD_PRELOAD="$shim")
program=$ROLLCALL_TEST_BIN/cuda_dlsym

# Not told to do anything: it does nothing.
expect_exit 0 "${sim[@]}" "$program"
expect_equal "output" "$(sort -u out)$(cat err)" 0
expect_exit 0 "${sim[@]}" ROLLCALL_SHIM_DISCOVERY=nonsense CUDA_DEVICE_MEMORY_SHARED_CACHE="$work/region" "$program"
[ ! -e region ] || fail "a region was made unasked"
expect_exit 0 env LD_PRELOAD="$shim" ls /
expect_equal "output on standard error" "$(cat err)" ""

legacy=("${sim[@]}" ROLLCALL_SHIM_DISCOVERY=legacy CUDA_DEVICE_MEMORY_SHARED_CACHE="$work/region")
check_left_alone() {  # WHAT MESSAGE
  sha256sum region >sum
  expect_exit 0 "${legacy[@]}" ROLLCALL_SHIM_LOG=1 "$program"
  expect_equal "cuInit ($1)" "$(sort -u out)" 0
  grep -q "$2" err || { cat err >&2; fail "$1: no clear error"; }
  sha256sum --quiet -c sum || fail "$1: the file was changed"
  expect_exit 0 "${legacy[@]}" "$program"
  expect_equal "output unasked ($1)" "$(cat err)" ""
}
echo "somebody's file" >region
check_left_alone foreign "not a Rollcall region"
rm region && expect_exit 0 "${legacy[@]}" "$program" && cp region good
truncate -s 5000 region
check_left_alone truncated "damaged"
cp good region && printf '\x02' | dd of=region bs=1 seek=8 conv=notrunc status=none
check_left_alone "another version" "another version"
# A maker that died after giving the file its size: it is simply set up again.
rm region && truncate -s "$(stat -c %s good)" region
expect_exit 0 "${legacy[@]}" ROLLCALL_SHIM_LOG=1 "$program"
expect_equal "slots after a half-made file" "$("$ROLLCALL_TEST_BIN/region_dump" region | awk '$2 == 3' | wc -l)" 1
rm region && mkdir region
expect_exit 0 "${legacy[@]}" "$program"
rmdir region && ln -s target region
expect_exit 0 "${legacy[@]}" "$program"
[ ! -e target ] || fail "a symbolic link was followed"

# cuInit's own result goes through untouched, without a driver behind it, too.
rm region
expect_exit 0 env LD_LIBRARY_PATH="$ROLLCALL_PREFIX/lib/rollcall/sim" LD_PRELOAD="$shim" \
  ROLLCALL_SHIM_DISCOVERY=legacy CUDA_DEVICE_MEMORY_SHARED_CACHE="$work/region" "$program"
expect_equal "cuInit without a node" "$(sort -u out)" 100
