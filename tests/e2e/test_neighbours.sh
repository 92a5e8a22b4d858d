#!/usr/bin/env bash
# Processes without a shim that come and go: the legacy discovery takes some of them
# for itself. Without them it never holds the PID of no worker.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 10x5 --arm legacy --runs 2 --neighbours 4 --out with
[ "$(count_class with external)" -gt 0 ] || fail "no worker holds a neighbour's PID"
expect_equal "valid runs" "$(column with/derived/summary.csv valid | sort -u)" true
expect_equal "neighbours in the table" "$(column with/derived/summary.csv neighbours | sort -u)" 4
grep -q "4 neighbours" out || fail "the result does not mention them"

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 10x5 --arm legacy --runs 2 --out without
expect_equal "external without neighbours" "$(count_class without external)" 0

# They are gone with the launcher, however it ends.
"$rollcall" run --node sim --quiet --time-scale 0.5 --topology 1x40 --arm legacy --runs 1 --neighbours 2 --out killed &
launcher=$!
neighbours_run() { pgrep -f "rollcall-probe neighbours 2" -P "$launcher" >/dev/null; }
await neighbours_run
supervisor=$(pgrep -f "rollcall-probe neighbours 2" -P "$launcher")
kill -9 "$launcher"
wait "$launcher" 2>/dev/null || true
supervisor_gone() { ! kill -0 "$supervisor" 2>/dev/null; }
await supervisor_gone
