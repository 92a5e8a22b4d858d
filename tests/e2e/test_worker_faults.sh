#!/usr/bin/env bash
# A worker that crashes, is killed, exits or hangs, before the gate, after it or
# while its evidence is read: its own row is unresolved, everybody else's is
# right, the run finishes and is invalid with the reason.
source "$(dirname "$0")/lib.sh"

for stage in start gate release finish; do
  for action in crash kill exit; do
    ROLLCALL_WORKER_FAULT="1:$stage:$action" expect_exit 3 "$rollcall" run "${quick[@]}" --topology 1x4 --arm legacy \
      --runs 1 --out "E-$stage-$action"
    expect_equal "row of the worker ($stage $action)" \
      "$(awk -F, '$5 == 1 { print $9 }' "E-$stage-$action/derived/pid-mapping-summary.csv")" unresolved
    expect_equal "other rows ($stage $action)" "$(count_class "E-$stage-$action" self)" 3
    expect_equal "reasons ($stage $action)" "$(column "E-$stage-$action/derived/summary.csv" invalid_reasons |
      grep -o worker_died)" worker_died
    jq -e '.variables.ROLLCALL_WORKER_FAULT' "E-$stage-$action/environment.json" >/dev/null ||
      fail "a run with faults passes for one without"
  done
done

for stage in gate release finish; do
  ROLLCALL_WORKER_FAULT="1:$stage:stop" expect_exit 3 "$rollcall" run "${quick[@]}" --topology 1x4 --arm legacy \
    --runs 1 --worker-timeout 3 --out "E-$stage-stop"
  expect_equal "row of the stopped worker ($stage)" \
    "$(awk -F, '$5 == 1 { print $9 }' "E-$stage-stop/derived/pid-mapping-summary.csv")" unresolved
  column "E-$stage-stop/derived/summary.csv" invalid_reasons | grep -q deadline || fail "no deadline ($stage)"
done
