#!/usr/bin/env bash
# A name that does not exist: where, what, and the nearest that does. An option
# that is not there yet is a usage error and not a silent no-op.
source "$(dirname "$0")/lib.sh"

expect_exit 2 "$rollcall" run "${quick[@]}" --arm lagacy --out E
expect_one_line "unknown arm 'lagacy'.*did you mean 'legacy'"
expect_exit 2 "$rollcall" run "${quick[@]}" --profile studi --out E
expect_one_line "studi.*study"
expect_exit 2 "$rollcall" run "${quick[@]}" --workload contxt --out E
expect_one_line "did you mean 'context'"
expect_exit 2 "$rollcall" run "${quick[@]}" --runs 0 --out E
expect_one_line "expected 1 to"
expect_exit 2 "$rollcall" run "${quick[@]}" --runs many --out E
expect_exit 2 "$rollcall" run "${quick[@]}" --fail-on pear --out E
expect_one_line "unknown class 'pear'"

expect_exit 2 "$rollcall" rnu
expect_one_line "unknown command 'rnu'.*did you mean 'run'"
expect_exit 2 "$rollcall" run --topolgy 1x2
expect_one_line "--topolgy.*did you mean '--topology'"

for option in "--shim x=/y" "--isolate net" "--neighbours 400" "--broker=x" "--devices 7" "--arm tierd"; do
  # shellcheck disable=SC2086 # options and values are to be split
  expect_exit 2 "$rollcall" run --quiet --topology 1x1 --out E $option
  [ "$(wc -l <err)" -eq 1 ] || fail "more than one line for $option"
done

printf '[study]\narms = ["native"]\ntopolgies = ["1x2"]\n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:3.*topolgies.*did you mean 'topologies'"
printf '[study]\nruns = "three"\n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:2.*whole number"
printf '[study]\ntopologies = ["1x2", "1x"]\n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:2:.*topology"
printf '[study]\n\narms = ["native",\n  "lagacy"]\n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:4:.*unknown arm 'lagacy'.*did you mean 'legacy'"
printf '[study]\nprofile = "studi"\n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:2:.*studi.*did you mean 'study'"
printf '[study]\ntime-scale = 0\n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:2:.*above 0"
printf 'topologies = ["1x2"]\n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:1:.*under.*\[study\]"
printf '[study]\nruns = \n' >plan.toml
expect_exit 2 "$rollcall" run plan.toml --out E
expect_one_line "plan.toml:2"
printf 'name = "x"\nnot a profile' >p.toml
expect_exit 2 "$rollcall" run --profile ./p.toml --out E
expect_one_line "p.toml"
expect_exit 2 "$rollcall" run nowhere.toml --out E
expect_one_line "nowhere.toml"
[ ! -e E ] || fail "a folder was made"
