#!/usr/bin/env bash
# Of an arm that claims a host PID and an NVML PID the report says of each who knows it,
# in the terminal, in --json and in Markdown; of other arms there is no such table.
source "$(dirname "$0")/lib.sh"

# At cuInit the host PID is known; without a broker the NVML PID needs a context.
expect_exit 0 "$rollcall" run "${quick[@]}" --view global --topology 2x4 --arm tiered --runs 1 --out init
grep -q '^What the workers know' out || fail "no table"
grep -q 'every tiered worker knows its own host PID (8 of 8, ' out || fail "no sentence on the host PID"
! grep -q 'found its own PID' out || fail "one number is called the identity"
grep -q '^Time that the library adds' out || fail "not said what it adds"
expect_exit 0 "$rollcall" report init --format md
grep -qE '^\| 2x4 \| tiered \| 8 \| 8 [a-z-]+ \| ' out || fail "not in Markdown"

# With the first context the challenge tells the other.
expect_exit 0 "$rollcall" run "${quick[@]}" --topology 2x4 --arm tiered --workload context --runs 1 --json --out context
of() { jq ".conditions[-1]$1" out; }
expect_equal "host PIDs known" "$(of .knowledge.host.right)" 8
expect_equal "NVML PIDs known" "$(of .knowledge.nvml.right)" 8
expect_equal "wrong ones" "$(of .knowledge.host.wrong)/$(of .knowledge.nvml.wrong)" 0/0
expect_equal "workers that tell what was added" "$(of .added_ms.n)" 8

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 2x4 --arm legacy --runs 1 --out legacy
! grep -q 'What the workers know' out || fail "a table of arms that claim one number"
