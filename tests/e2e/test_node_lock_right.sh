#!/usr/bin/env bash
# One lock for the whole node: isolated caches, and everybody finds himself.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 10x2 --arm legacy-node-lock --arm legacy --runs 1 --out E
expect_equal "self with the node lock" "$(awk -F, '$6 == "legacy-node-lock"' E/derived/summary.csv | cut -d, -f13)" 20
grep -q "legacy-node-lock" out || fail "the arm is not in the result"
