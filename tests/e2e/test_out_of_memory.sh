#!/usr/bin/env bash
# Device memory that does not hold every worker's context: the rows say so, the run is
# invalid under that name, and nobody else's record suffers.
source "$(dirname "$0")/lib.sh"

sed 's/^memory_mib = .*/memory_mib = 1600/' "$ROLLCALL_PREFIX/share/rollcall/profiles/instant.toml" >small.toml
expect_exit 3 "$rollcall" run --profile ./small.toml --quiet --topology 1x5 --arm native --workload context --hold all \
  --runs 1 --out E
grep -q out_of_memory E/derived/summary.csv || fail "the run does not say out_of_memory"
workers=$(ls E/runs/*/workers.jsonl)
expect_equal "contexts that were made" "$(jq -s '[.[] | select(.context_result == 0)] | length' "$workers")" 3
expect_equal "workers that say why" \
  "$(jq -s '[.[] | select(.context_result == 2 and (.error | test("out of memory")))] | length' "$workers")" 2

# In a shim's probe, where the program under test notices nothing.
# The first worker keeps its context, so there is none for the probes of the others.
sed 's/^memory_mib = .*/memory_mib = 600/' "$ROLLCALL_PREFIX/share/rollcall/profiles/instant.toml" >tiny.toml
expect_exit 3 "$rollcall" run --profile ./tiny.toml --quiet --topology 1x3 --arm legacy --workload context --hold all \
  --runs 1 --out L
[ "$(count_class L discovery_failed)" -ge 1 ] || fail "no discovery failed"
[ "$(jq -s '[.[] | select(.discovery.reason == "out_of_memory")] | length' L/runs/*/workers.jsonl)" -ge 1 ] ||
  fail "no discovery says out_of_memory"
grep -q out_of_memory L/derived/summary.csv || fail "the run of the shim does not say out_of_memory"
