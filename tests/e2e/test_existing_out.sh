#!/usr/bin/env bash
# Nothing is overwritten: an existing --out is refused and left as it is.
source "$(dirname "$0")/lib.sh"

mkdir E && echo mine >E/file
expect_exit 2 "$rollcall" run "${quick[@]}" --topology 1x1 --arm native --runs 1 --out E
expect_one_line "exists"
expect_equal "what was there" "$(ls E) $(cat E/file)" "file mine"
expect_exit 2 "$rollcall" run --resume --quiet --out E
expect_one_line "plan.json"
expect_exit 2 "$rollcall" run --resume --quiet
expect_one_line "--out"
