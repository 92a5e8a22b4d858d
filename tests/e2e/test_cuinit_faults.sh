#!/usr/bin/env bash
# A worker that crashes, hangs, exits or is killed inside cuInit, and a driver that
# refuses: its own row unresolved, the run invalid with the reason.
source "$(dirname "$0")/lib.sh"

profile() {
  sed "s/^name *=.*/name = \"faulty\"/" "$ROLLCALL_SOURCE/profiles/study.toml" >faulty.toml
  printf '\n[[fault]]\nnth_cuinit = 2\naction = "%s"\n' "$1" >>faulty.toml
}

for action in crash exit kill stop fail; do
  profile "$action"
  expect_exit 3 "$rollcall" run "${quick[@]}" --profile ./faulty.toml --topology 1x4 --arm legacy --runs 1 \
    --worker-timeout 4 --out "E-$action"
  expect_equal "unresolved ($action)" "$(count_class "E-$action" unresolved)" 1
  expect_equal "self ($action)" "$(count_class "E-$action" self)" 3
  reasons=$(column "E-$action/derived/summary.csv" invalid_reasons)
  case $action in
    stop) expected=deadline ;;
    fail) expected=cuinit_failed ;;
    *) expected=worker_died ;;
  esac
  grep -q "$expected" <<<"$reasons" || fail "reasons of $action: $reasons"
done
# No figure is made up for the worker that has none.
expect_equal "cuinit_ms of the refused worker" "$(jq -s '[.[] | select(.cuinit_result == 999)] | length' E-fail/runs/*/workers.jsonl)" 1
