#!/usr/bin/env bash
# A shim that we did not write, with a region and log lines of its own: the plan says how
# to read it, and every class comes out.
source "$(dirname "$0")/lib.sh"
shim=$ROLLCALL_TEST_BIN/libforeign_shim.so

plan() { # MODE
  cat >plan.toml <<TOML
[study]
topologies = ["2x3"]
arms = ["native", "foreign"]
runs = 1
[arm.foreign]
preload = "$shim"
cache_env = "FOREIGN_SHIM_CACHE"
identity = "log"
identity_kind = "host"
log_assigned = 'foreign\[(?P<own>\d+)\]: I am (?P<assigned>\d+)'
log_failed = 'foreign\[(?P<own>\d+)\]: gave up.*'
env = { FOREIGN_SHIM_MODE = "$1" }
TOML
}
for case in "right self" "wrong external" "fail discovery_failed" "silent unresolved"; do
  read -r mode class <<<"$case"
  plan "$mode"
  expect_exit 0 "$rollcall" run plan.toml "${quick[@]}" --out "$mode"
  expect_equal "workers that are $class in mode $mode" "$(count_class "$mode" "$class")" 6
  [ "$class" != self ] || grep -q "every foreign worker found its own PID (6 of 6)" out ||
    fail "the finding does not name the arm"
  expect_equal "source in mode $mode" "$(column "$mode/derived/pid-mapping-summary.csv" source | sort -u)" log
done
# A gate cannot be green where nothing was seen, whatever classes it asks for.
gate() { # MODE STATUS
  plan "$1"
  sed -i 's/^arms = .*/arms = ["legacy", "foreign"]/; s/^topologies = .*/topologies = ["5x2"]/' plan.toml
  expect_exit "$2" "$rollcall" run plan.toml "${quick[@]}" --fail-on peer,external --out "gate-$1"
}
gate right 0
gate wrong 5
gate silent 3
grep -q "unresolved: workers under test" err || fail "the gate does not say why"
tr -s " \n" " " <out | grep -q "10 could not be resolved (reasons: 10 not_in_log)" || fail "the finding does not give the reason"

jq -e '.shims[0].identity == "log" and (.shims[0].preload_sha256 | length) == 64' right/plan.json >/dev/null ||
  fail "the frozen plan does not hold the arm"

# Timed only: loaded and seen to be, but nothing is claimed of its workers.
plan right
sed -i 's/^identity = .*/identity = "none"/; /^log_/d; /^identity_kind/d' plan.toml
expect_exit 0 "$rollcall" run plan.toml "${quick[@]}" --out timed
grep -q "timed only" out || fail "the result does not say that it was timed only"
expect_equal "rows of workers" "$(wc -l <timed/derived/pid-mapping-summary.csv)" 1
jq -se 'all(.[]; .shim_loaded)' timed/runs/*-foreign-r1/workers.jsonl >/dev/null || fail "not seen to be loaded"

# Without a word on how to read it there is no guess.
expect_exit 2 "$rollcall" run "${quick[@]}" --topology 1x1 --arm native --shim "foreign=$shim" --out guess
expect_one_line "cannot tell how to read what it discovers"
[ ! -e guess ] || fail "a folder was made"

# Our own shim as anybody's: found by its region's magic.
printf '[study]\n[arm.ours]\nenv = { ROLLCALL_SHIM_DISCOVERY = "legacy" }\n' >ours.toml
expect_exit 0 "$rollcall" run ours.toml "${quick[@]}" --topology 1x3 --arm native \
  --shim "ours=$ROLLCALL_PREFIX/lib/rollcall/librollcall_shim.so" --runs 1 --out ours
expect_equal "right ones" "$(count_class ours self)" 3
expect_equal "source" "$(column ours/derived/pid-mapping-summary.csv source | sort -u)" rollcall
jq -e '.shims[0].identity == "rollcall"' ours/plan.json >/dev/null || fail "the frozen plan says another source"

# A library that changed is not what the experiment began with.
cp "$shim" mine.so
plan right
sed -i "s|^preload = .*|preload = \"mine.so\"|" plan.toml
"$rollcall" run plan.toml --node sim --quiet --time-scale 3 --out changed >changed.log 2>&1 &
launcher=$!
run_there() { ls -d changed/runs/001-* >/dev/null 2>&1; }
await run_there
kill -TERM "$launcher"
wait "$launcher" || true
[ ! -e changed/SHA256SUMS ] || fail "it was finished before it could be interrupted"
printf '\0' >>mine.so
expect_exit 2 "$rollcall" run --resume --out changed --quiet
expect_one_line "not the library that this experiment began with"
