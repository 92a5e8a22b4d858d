#!/usr/bin/env bash
# Too few descriptors or processes allowed: which limit, how much is needed, what
# to set; before a folder is made.
source "$(dirname "$0")/lib.sh"

expect_exit 1 prlimit --nofile=100:100 "$rollcall" run "${quick[@]}" --topology 1x100 --out E
expect_one_line "RLIMIT_NOFILE.*need [0-9]+.*limit is 100.*ulimit -n [0-9]+"
[ ! -e E ] || fail "a folder was made"
# A low soft limit alone is raised.
expect_exit 0 prlimit --nofile=64:20000 "$rollcall" run "${quick[@]}" --topology 1x20 --arm native --runs 1 --out F

[ "$(id -u)" -eq 0 ] || skip "only root can become a user with few processes"
cp -r "$ROLLCALL_PREFIX/bin" "$ROLLCALL_PREFIX/lib" "$ROLLCALL_PREFIX/share" .
mkdir -m 777 open && chmod 755 "$work"
expect_exit 1 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all prlimit --nproc=30:30 \
  "$work/bin/rollcall" run "${quick[@]}" --topology 1x100 --out open/E
expect_one_line "RLIMIT_NPROC.*ulimit -u [0-9]+"
[ ! -e open/E ] || fail "a folder was made"
