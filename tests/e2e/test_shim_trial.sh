#!/usr/bin/env bash
# A shim that cannot be loaded costs one line, before anything is run or written.
source "$(dirname "$0")/lib.sh"

refused() { # LIBRARY PATTERN [PLAN-LINES]
  printf '[study]\ntopologies = ["1x1"]\narms = ["bad"]\nruns = 1\n[arm.bad]\npreload = "%s"\nidentity = "none"\n%s\n' \
    "$1" "${3:-}" >plan.toml
  expect_exit 2 "$rollcall" run plan.toml "${quick[@]}" --worker-timeout 5 --out E
  expect_one_line "$2"
  [ ! -e E ] || fail "a folder was made"
}
foreign=$ROLLCALL_TEST_BIN/libforeign_shim.so
printf 'not a library\n' >text.so
refused text.so "plan.toml:6:11: text.so|text.so: is not an ELF library"
refused none.so "cannot find the shim"
refused . "is not a file"
# e_machine, at offset 18: 183 is 64-bit Arm.
cp "$foreign" arm.so
printf '\xb7' | dd of=arm.so bs=1 seek=18 conv=notrunc status=none
refused arm.so "is built for 64-bit Arm"
cp "$ROLLCALL_PREFIX/bin/rollcall-worker" program.so
printf '\x02' | dd of=program.so bs=1 seek=16 conv=notrunc status=none
refused program.so "no shared object"
refused "$ROLLCALL_TEST_BIN/libmissing_symbol_shim.so" "cannot be loaded: .*undefined symbol"
refused "$foreign" "while it was being loaded: ended by SIGSEGV" 'env = { FOREIGN_SHIM_MODE = "crash-in-load" }'
refused "$foreign" "while it was being loaded" 'env = { FOREIGN_SHIM_MODE = "close-early" }'
head -c 3000 "$foreign" >cut.so
refused cut.so "cut.so"
# One that never comes back from its constructor (at the latest after 30 s).
refused "$foreign" "does not come back from being loaded" 'env = { FOREIGN_SHIM_MODE = "hang-in-load" }'
