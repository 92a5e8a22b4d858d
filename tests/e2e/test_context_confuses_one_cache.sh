#!/usr/bin/env bash
# One cache is right only while nobody keeps a context: a living neighbour's own
# context appears inside the window. With workload init nobody is wrong.
source "$(dirname "$0")/lib.sh"

options=("${quick[@]}" --arm legacy --topology 1x12 --hold all --runs 1)
expect_exit 0 "$rollcall" run "${options[@]}" --workload context --out C
[ "$(count_class C peer)" -gt 0 ] || fail "nobody holds a peer's PID"
grep -q "only while nobody keeps a context" out || fail "the finding is not told"
column C/derived/summary.csv context_p50_ms | grep -q '[0-9]' || fail "no time to the first context"
expect_exit 0 "$rollcall" run "${options[@]}" --workload init --out I
expect_equal "self with workload init" "$(count_class I self)" 12
expect_equal "time to a context that nobody made" "$(column I/derived/summary.csv context_p50_ms)" ""
