#!/usr/bin/env bash
# In every case that the simulated node has no worker holds a wrong PID, and each knows
# what can be known there. Small here; scripts/identity_matrix runs it with 250 workers.
source "$(dirname "$0")/lib.sh"

unshare --pid --mount --ipc --fork --mount-proc true 2>/dev/null || skip "namespaces cannot be made here"
"$ROLLCALL_SOURCE/scripts/identity_matrix" --rollcall "$rollcall" --out "$work/matrix" --runs 1 --neighbours 4 \
  --profile instant 1x20 20x1 >table 2>err || { cat table err >&2; fail "a PID is wrong, or not known"; }
expect_equal "cases" "$(grep -cE '^\| (global|translated) ' table)" 32
grep -qx 'wrong PIDs: 0' table || fail "no count of wrong PIDs"

# The control: in the same cases the old algorithm is wrong where caches are isolated.
"$rollcall" run --node sim --quiet --time-scale 0.05 --view global --topology 20x1 --arm legacy --runs 1 --out legacy >out 2>err ||
  true
[ "$(count_class legacy peer)" -gt 0 ] || fail "legacy shows no peer: this test could not see a fault"
