#!/usr/bin/env bash
# --isolate pid needs rights: those of root, or a user namespace. Without either, one line
# says so before anything is made.
source "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
unshare --pid --mount --ipc --fork --mount-proc true 2>/dev/null || skip "no PID namespace can be made here"
chmod 755 . && mkdir -m 777 theirs
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
run=("$rollcall" run "${quick[@]}" --isolate pid --view translated --topology 2x3 --runs 1)
"${nobody[@]}" "$rollcall" --version >out 2>err || skip "another user cannot reach the programs"

# An ordinary user, in a user namespace of the launcher's own, in which it is who it is.
if "${nobody[@]}" unshare --user --map-current-user --pid --mount --ipc --fork --mount-proc true 2>err; then
  expect_exit 0 "${nobody[@]}" "${run[@]}" --out theirs/E
  expect_equal "right ones" "$(count_class theirs/E self)" 6
  expect_equal "owner of the evidence" "$(stat -c %u theirs/E/plan.json)" 65534
  jq -se 'all(.[]; .nspid[1] < 10)' theirs/E/runs/*/workers.jsonl >/dev/null || fail "not in a namespace"
  # Root that lacks the one capability, as in most containers.
  expect_exit 0 setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "${run[@]}" --out theirs/F
  expect_equal "right ones of a root without rights" "$(count_class theirs/F self)" 6
fi

# No user namespace to be had.
cat >without.sh <<'SH'
echo 0 >/proc/sys/user/max_user_namespaces || exit 77
exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$@"
SH
expect_exit 1 unshare --user --map-root-user bash without.sh "${run[@]}" --out theirs/G
expect_one_line "^rollcall: --isolate pid: .*CAP_SYS_ADMIN, or user namespaces"
# A namespace may be made, but no /proc mounted where a part of the old one is hidden.
cat >masked.sh <<'SH'
mount -t tmpfs none /proc/sys && exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$@"
SH
expect_exit 1 unshare --mount bash masked.sh "${run[@]}" --out theirs/G
expect_one_line "^rollcall: --isolate pid: .*mount /proc.*masked /proc"
[ ! -e theirs/G ] || fail "a folder was made"
