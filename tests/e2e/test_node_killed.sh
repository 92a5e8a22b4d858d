#!/usr/bin/env bash
# simgpud killed in the middle: every worker unresolved, a clear reason, no hang,
# nobody left; and the next run has a node of its own.
source "$(dirname "$0")/lib.sh"

"$rollcall" run --node sim --time-scale 0.05 --topology 1x30 --arm legacy --runs 2 --out E >out 2>err &
launcher=$!
node() { [ -n "$(children_of "$launcher" simgpud)" ]; }
await node
workers() { [ "$(children_of "$launcher" rollcall-worker | wc -l)" -eq 30 ]; }
await workers
sleep 0.3
kill -KILL "$(children_of "$launcher" simgpud | head -1)"
status=0
wait "$launcher" || status=$?
expect_equal "exit status" "$status" 3
expect_equal "classes of the first run" "$(awk -F, '$4 == 1 { print $9 }' E/derived/pid-mapping-summary.csv | sort -u)" unresolved
expect_equal "reason" "$(sed -n 2p E/derived/summary.csv | grep -o node_died)" node_died
expect_equal "self in the second run" "$(awk -F, '$4 == 2 && $9 == "self"' E/derived/pid-mapping-summary.csv | wc -l)" 30
grep -q node_died err || fail "no clear error"
