#!/usr/bin/env bash
# kill -9 on the launcher in the middle: no process of it is left; with --resume
# the finished runs stay untouched and the rest is done.
source "$(dirname "$0")/lib.sh"

plan=(--node sim --time-scale 0.02 --topology 1x20 --topology 20x1 --arm native --arm legacy --runs 3)
"$rollcall" run "${plan[@]}" --out E >out 2>err &
launcher=$!
some_done() { [ "$(ls E/runs 2>/dev/null | wc -l)" -ge 3 ]; }
await some_done
# Taken at the moment in which they are seen: between two runs there are none.
some_alive() { children=$(pgrep -P "$launcher") && [ "$(wc -w <<<"$children")" -ge 10 ]; }
await some_alive
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
# Nor does it show as a result what was changed afterwards.
cp -r E changed && echo >>changed/environment.json
expect_exit 4 "$rollcall" run --resume --quiet --out changed
expect_one_line "environment.json was changed"

# Interrupted between the plan and the rest: nothing was run, so it can be begun.
mkdir -p early/runs && cp E/plan.json early/
expect_exit 0 "$rollcall" run --resume --quiet --out early
# A run that another plan made is no part of this experiment.
expect_exit 0 "$rollcall" run --node sim --quiet --time-scale 0.03 --topology 1x20 --arm legacy --runs 1 --out other
cp -r E mixed && rm -r mixed/SHA256SUMS mixed/derived mixed/runs/001-*
cp -r other/runs/001-1x20-legacy-r1 mixed/runs/
expect_exit 2 "$rollcall" run --resume --quiet --out mixed
expect_one_line "belongs to another experiment|two runs have the number 1"
