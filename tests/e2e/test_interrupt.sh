#!/usr/bin/env bash
# SIGTERM: the workers end, the finished runs are kept, the way to go on is told.
source "$(dirname "$0")/lib.sh"

"$rollcall" run --node sim --time-scale 0.05 --topology 1x20 --arm legacy --runs 3 --out E >out 2>err &
launcher=$!
some_done() { [ "$(ls E/runs 2>/dev/null | wc -l)" -ge 1 ]; }
await some_done
some_alive() { [ "$(children_of "$launcher" rollcall-worker | wc -l)" -ge 10 ]; }
await some_alive
children=$(pgrep -P "$launcher")

# Two launchers never write one experiment.
expect_exit 2 "$rollcall" run --resume --quiet --out E
expect_one_line "another"

kill -TERM "$launcher"
status=0
wait "$launcher" || status=$?
expect_equal "exit status" "$status" 1
grep -q "interrupted.*--resume --out E" err || { cat err; fail "the way to go on is not told"; }
for pid in $children; do [ ! -e "/proc/$pid" ] || fail "process $pid is left"; done
[ ! -e E/SHA256SUMS ] || fail "an unfinished folder is sealed"
expect_exit 0 "$rollcall" run --resume --quiet --out E
expect_equal "runs" "$(ls E/runs | wc -l)" 3
