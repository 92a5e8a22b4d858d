#!/usr/bin/env bash
# kill -9 on the launcher in the middle: no process of it is left; with --resume
# the finished runs stay untouched and the rest is done.
source "$(dirname "$0")/lib.sh"

plan=(--node sim --time-scale 0.02 --topology 1x20 --topology 20x1 --arm native --arm legacy --runs 3)
"$rollcall" run "${plan[@]}" --out E >out 2>err &
launcher=$!
some_done() { [ "$(ls E/runs 2>/dev/null | wc -l)" -ge 3 ]; }
await some_done
some_alive() { [ "$(children_of "$launcher" rollcall-worker | wc -l)" -ge 10 ]; }
await some_alive
children=$(pgrep -P "$launcher")
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null || true
all_gone() { local pid; for pid in $children; do [ ! -e "/proc/$pid" ] || return 1; done; }
await all_gone
[ ! -e E/SHA256SUMS ] || fail "an unfinished folder is sealed"
find E/runs -type f -exec sha256sum {} + | sort >before

# Options of a plan do not go with --resume; another experiment is another folder.
expect_exit 2 "$rollcall" run --resume --out E --runs 5
expect_one_line "frozen plan"
cp -r E edited && sed -i 's/"runs": 3/"runs": 2/' edited/plan.json
expect_exit 2 "$rollcall" run --resume --quiet --out edited
expect_one_line "not the plan that this experiment began with"
expect_exit 0 "$rollcall" run --resume --quiet --out E
sha256sum --quiet -c before || fail "a finished run was touched"
expect_equal "runs" "$(ls E/runs | wc -l)" 12
expect_equal "valid runs" "$(column E/derived/summary.csv valid | grep -c true)" 12
[ -e E/environment-resumed-1.json ] || fail "the second environment is not recorded"
(cd E && sha256sum --quiet -c SHA256SUMS) || fail "checksums"

# Resuming what is finished changes nothing.
find E -type f -exec sha256sum {} + | sort >sealed
expect_exit 0 "$rollcall" run --resume --quiet --out E
find E -type f -exec sha256sum {} + | sort | cmp - sealed
