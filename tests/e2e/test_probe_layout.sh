#!/usr/bin/env bash
# The layouts of the regions, and which of them a file has.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" probe layout
! grep -vqE '^(rollcall|hami-core)\.[^ ]+ = [0-9]+$' out || fail "a line is not name = number"
expect_equal "names that are there twice" "$(cut -d' ' -f1 out | sort | uniq -d)" ""
for line in "rollcall.slot.assigned_pid.offset = 4120" "rollcall.region_size_bytes = 528384" \
  "hami-core.slot_count = 1024" "hami-core.region_size_bytes = 2008952"; do
  grep -qxF "$line" out || fail "no line '$line'"
done
expect_exit 0 "$rollcall" probe layout --json
expect_equal "offset" "$(jq '.layouts[0].numbers["slot.assigned_pid.offset"]' out)" 4120

expect_exit 0 "$rollcall" sim exec --profile instant -- bash -c '
  for i in 1 2; do ROLLCALL_SHIM_DISCOVERY=legacy CUDA_DEVICE_MEMORY_SHARED_CACHE=own.region LD_PRELOAD='"$ROLLCALL_PREFIX"'/lib/rollcall/librollcall_shim.so \
    '"$ROLLCALL_TEST_BIN"'/cuda_dlsym; done'
expect_exit 0 "$rollcall" probe layout own.region --json
expect_equal "region" "$(jq -c '[.layout, .version, .size_bytes, .slots_used, .misfit]' out)" '["rollcall","1.1",528384,2,""]'

head -c 1000000 /dev/zero >blank
printf '\xd0\xf6\x2f\x01\x01\0\0\0\x02\0\0\0' >short # HAMi-core's magic and version, and no more
printf 'Hello, world' >other
head -c 528000 own.region >shortened
: >empty
for file in blank short other shortened empty; do
  expect_exit 4 "$rollcall" probe layout "$file"
  expect_one_line "$file"
done
expect_exit 2 "$rollcall" probe layout missing
expect_one_line "missing.*No such file"
expect_exit 2 "$rollcall" probe layout .
mkfifo pipe
expect_exit 2 "$rollcall" probe layout pipe

# As it lies in evidence, compressed.
expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x2 --arm legacy --runs 1 --out kept
expect_exit 0 "$rollcall" probe layout kept/runs/001-*/regions/cache_0.region.zst
grep -qx "layout = rollcall" out || { cat out; fail "a region of the evidence is not recognised"; }
grep -qx "slots_used = 2" out || fail "its slots are not counted"
