#!/usr/bin/env bash
# A plan file takes the options' names; the command line overrides it.
source "$(dirname "$0")/lib.sh"

cat >plan.toml <<'PLAN'
[study]
topologies = ["1x3", "3x1"]
arms = ["legacy"]
runs = 2
time-scale = 0.02
hold = "all"
order = "blocked"
PLAN
expect_exit 0 "$rollcall" run plan.toml --quiet --runs 1 --out E
expect_equal "rows" "$(tail -n +2 E/derived/summary.csv | wc -l)" 2
expect_equal "hold" "$(column E/derived/summary.csv hold | sort -u)" all
expect_equal "frozen runs" "$(jq .runs E/plan.json)" 1
expect_equal "plan hash in every run" "$(jq -r .plan_sha256 E/runs/*/run.json | sort -u)" \
  "$(sha256sum E/plan.json | cut -d' ' -f1)"
