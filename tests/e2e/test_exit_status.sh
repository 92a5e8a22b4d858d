#!/usr/bin/env bash
# --fail-on: 5 where the class occurred, 3 where the experiment could not have
# seen it, 0 only where it was seen not to occur.
source "$(dirname "$0")/lib.sh"

run=("$rollcall" run "${quick[@]}" --runs 1)
expect_exit 5 "${run[@]}" --topology 12x1 --arm legacy --fail-on peer --out A
expect_exit 3 "${run[@]}" --topology 1x12 --arm legacy --fail-on peer --out B
expect_one_line "control_not_visible"
expect_exit 0 "${run[@]}" --topology 12x1 --arm legacy --arm legacy-node-lock --fail-on peer,external --out C
expect_exit 5 "${run[@]}" --topology 12x1 --arm legacy --arm legacy-node-lock --fail-on self --out D
# 5 wins over 3.
ROLLCALL_WORKER_FAULT=0:release:crash expect_exit 5 "${run[@]}" --topology 1x4 --topology 4x1 --arm legacy \
  --fail-on unresolved,peer --out F
expect_exit 0 "${run[@]}" --topology 1x3 --arm native --json --out G
jq -e . out >/dev/null || fail "--json does not print JSON"
expect_exit 2 "$rollcall" frobnicate
expect_exit 2 "$rollcall"
expect_exit 0 "$rollcall" --help
for command in run summarize sim "sim exec"; do
  # shellcheck disable=SC2086
  expect_exit 0 "$rollcall" $command --help
done
expect_exit 0 "$rollcall" --version
