#!/usr/bin/env bash
# A bundle that needs more than glibc, or that holds nothing, is found out.
source "$(dirname "$0")/lib.sh"

command -v zstd >/dev/null || skip "no zstd"
check=$ROLLCALL_SOURCE/scripts/check_bundle
pack() { tar --create "$1" | zstd --quiet -1 -o "$1.tar.zst"; }

# A program of this build tree, which is linked as usual.
mkdir -p usual/bin
cp "$ROLLCALL_PREFIX/bin/simgpud" usual/bin/
pack usual
expect_exit 1 "$check" usual.tar.zst
grep -q 'bin/simgpud needs libfmt' err || { cat err; fail "does not say what is needed"; }

mkdir -p empty/bin
pack empty
expect_exit 1 "$check" empty.tar.zst
grep -q 'no program in it' err || { cat err; fail "does not say that it is empty"; }

expect_exit 2 "$check" no-such-file.tar.zst
expect_exit 2 "$check"
