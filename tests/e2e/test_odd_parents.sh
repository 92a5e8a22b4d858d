#!/usr/bin/env bash
# What a parent may have left behind: closed or full standard streams, ignored
# signals, small file sizes, a /proc of other processes. No hang, no crash, no wrong
# success.
source "$(dirname "$0")/lib.sh"

run=("$rollcall" run --node sim --time-scale 0.02 --topology 1x5 --arm legacy --runs 1)

# Nobody reads what we say.
expect_exit 0 bash -c '"$@" --out A 2>&-' - "${run[@]}"
expect_exit 0 bash -c '"$@" --out B 2>/dev/full' - "${run[@]}"
expect_equal "self with standard error full" "$(count_class B self)" 5
expect_exit 2 bash -c '"$@" --arm nope --out C 2>/dev/full' - "${run[@]}"
expect_exit 1 bash -c '"$@" --quiet --out C >/dev/full' - "${run[@]}"
expect_exit 0 bash -c '"$@" --quiet --out D <&- >/dev/null' - "${run[@]}"

# Ignored signals of ours would change what the kernel does with our children.
expect_exit 7 env --ignore-signal=CHLD "$rollcall" sim exec --profile instant -- sh -c 'exit 7'
expect_exit 0 timeout 60 env --ignore-signal=CHLD "${run[@]}" --quiet --out F
expect_equal "self with SIGCHLD ignored" "$(count_class F self)" 5

# A small limit on file sizes: an error for us, nothing at all for the shim's host.
expect_exit 1 bash -c '(ulimit -f 0; "$@" --quiet --out G) 2>&1 | cat >&2; exit "${PIPESTATUS[0]}"' - "${run[@]}"
expect_one_line "File too large"
expect_exit 3 bash -c 'ulimit -f 100; "$@" --quiet --out H' - "${run[@]}" --fail-on peer
expect_equal "how workers ended" "$(jq -r .fate H/runs/*/workers.jsonl | sort -u)" finished
expect_equal "classes without a region" "$(column H/derived/pid-mapping-summary.csv class | sort -u)" unresolved

# Files that are no files.
mkfifo fifo
expect_exit 2 timeout 20 "$rollcall" run fifo --out I
expect_one_line "regular file"
expect_exit 2 timeout 20 "$rollcall" run --profile ./fifo --out I
expect_exit 2 "$rollcall" run --quiet --out ""
expect_one_line "--out"

# /proc of another PID namespace would tell about other processes.
unshare --pid --fork true 2>/dev/null || skip "making a PID namespace needs privileges"
expect_exit 1 unshare --pid --fork "${run[@]}" --quiet --out J
expect_one_line "/proc.*PID namespace"
unshare --pid --fork --mount-proc true 2>/dev/null || skip "mounting a /proc of its own needs privileges"
expect_exit 0 unshare --pid --fork --mount-proc "${run[@]}" --quiet --out K
expect_equal "self in a namespace of its own" "$(count_class K self)" 5
