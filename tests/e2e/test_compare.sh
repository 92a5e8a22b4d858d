#!/usr/bin/env bash
# Two experiments are compared condition by condition; not where they differ in something
# that matters and nobody said so, and not where the evidence was changed.
source "$(dirname "$0")/lib.sh"

tiny=(--node sim --quiet --topology 3x2 --arm native --arm legacy)
scale=(--time-scale 0.002)
expect_exit 0 "$rollcall" run "${tiny[@]}" "${scale[@]}" --runs 5 --out A
expect_exit 0 "$rollcall" run "${tiny[@]}" "${scale[@]}" --runs 5 --seed 2 --topology 1x2 --out B

# The same conditions, a verdict for each measure; what only one has is named.
expect_exit 0 "$rollcall" compare A B
[ ! -s err ] || fail "said on standard error: $(cat err)"
grep -q '^3x2 native: runs 5 in A, 5 in B$' out || fail "the condition is not compared"
grep -q '^Only in B, not compared: 1x2 native, 1x2 legacy\.$' out || fail "what only B has is not named"
grep -qE '^Of 10 times [0-9]+ slower, ' out || fail "no count of verdicts"
awk '{ if (gsub(/[^\x80-\xBF]/, "") > 100) exit 1 }' out || fail "wider than 100 columns"
expect_exit 0 "$rollcall" compare A B --json
expect_equal "verdicts" "$(jq '[.conditions[].measures[].verdict | select(IN("SAME", "FASTER", "SLOWER", "UNCLEAR"))] | length' out)" 10
expect_equal "every unclear one has a reason" \
  "$(jq '[.conditions[] | (.measures + .classes)[] | select((.verdict == "UNCLEAR") != (.reason != null))] | length' out)" 0
expect_equal "classes" "$(jq -c '[.conditions[] | .classes | length]' out)" '[0,5]'

# Few runs decide nothing, and say how many would.
expect_exit 0 "$rollcall" run "${tiny[@]}" "${scale[@]}" --runs 2 --out few
expect_exit 0 "$rollcall" compare A few --json
expect_equal "verdicts of few runs" "$(jq -c '[.conditions[].measures[] | .verdict] | unique' out)" '["UNCLEAR"]'
expect_equal "reasons of few runs" "$(jq -c '[.conditions[].measures[] | .reason] | unique' out)" '["few_runs"]'

# Another environment.
expect_exit 0 "$rollcall" run "${tiny[@]}" --time-scale 0.004 --runs 1 --workload context --out other
expect_exit 2 "$rollcall" compare A other
expect_one_line 'time_scale: A has 0.002, B has 0.004; workload: A has init, B has context; .*--allow time_scale --allow workload$'
[ ! -s out ] || fail "compared all the same"
expect_exit 2 "$rollcall" compare A other --allow time_scale
expect_one_line 'workload: A has init, B has context'
expect_exit 0 "$rollcall" compare A other --allow time_scale --allow workload
grep -q '^Differs, as allowed: workload: A has init, B has context\.$' out || fail "the difference is not named"
grep -q '^3x2 legacy → 3x2 legacy +context: ' out || fail "not matched across workloads"
expect_exit 2 "$rollcall" compare A B --allow drivr
expect_one_line "unknown field 'drivr'; did you mean 'driver'"

# What was not recorded on one side is not known to be the same.
cp -r B unrecorded && rm unrecorded/environment.json unrecorded/SHA256SUMS
expect_exit 2 "$rollcall" compare A unrecorded
grep -q 'cpu: A has .*, B has not known' err || fail "a missing record passes for the same"
grep -q 'the experiment is unfinished: compared are its 20 finished runs' err || fail "unfinished is not said"

# Evidence that was changed, or is none.
cp -r B changed && echo >>changed/plan.json
expect_exit 4 "$rollcall" compare A changed
expect_one_line 'changed/SHA256SUMS: .*plan.json'
expect_exit 2 "$rollcall" compare A nowhere
expect_one_line 'nowhere: expected an evidence folder'
expect_exit 2 "$rollcall" compare A A
expect_one_line 'same evidence'

# Nothing in common, or nothing valid: done, but nothing was shown.
expect_exit 0 "$rollcall" run --node sim --time-scale 0.002 --quiet --topology 2x1 --arm native --runs 1 --out elsewhere
expect_exit 3 "$rollcall" compare A elsewhere
expect_one_line 'no condition in common'
cp -r B broken && rm broken/SHA256SUMS
for record in broken/runs/*3x2-native*/workers.jsonl; do
  sed -i 's/"fate":"finished"/"fate":"died"/' "$record"
done
expect_exit 3 "$rollcall" compare A broken
grep -q '1 of 2 conditions could not be compared: no valid run, or nothing measured, on a side' err || fail "the missing one is not said"
grep -q 'no valid run in B, so nothing is compared' out || fail "the condition without valid runs is not named"
