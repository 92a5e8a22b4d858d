#!/usr/bin/env bash
# A topology that is none: one line that says what to do, exit 2, nothing left behind.
source "$(dirname "$0")/lib.sh"

for topology in 0x5 1x x 1x-2 99999x99999 "" " 1x2" 1x2x3 +1x2 01x2 1X2 4097x1 1x99999999999999999999; do
  expect_exit 2 "$rollcall" run "${quick[@]}" --topology "$topology" --out E
  expect_one_line "topology"
  [ ! -e E ] || fail "a folder was made for '$topology'"
done
expect_exit 2 "$rollcall" run "${quick[@]}" --topology 1x2 --topology 1x2 --out E
expect_one_line "twice"
