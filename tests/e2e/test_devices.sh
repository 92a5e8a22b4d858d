#!/usr/bin/env bash
# Several GPUs. CUDA's first device follows CUDA_VISIBLE_DEVICES, NVML's does not: a shim
# that probes the one and lists the other never finds itself.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --gpus 2 --devices 1,0 --topology 1x5 --topology 2x3 --arm legacy \
  --runs 1 --out other
expect_equal "failed discoveries" "$(count_class other discovery_failed)" 11
expect_equal "devices in the table" "$(tail -n +2 other/derived/summary.csv | grep -c '"1,0"')" 2

expect_exit 0 "$rollcall" run "${quick[@]}" --gpus 2 --devices 0,1 --topology 1x5 --arm legacy --runs 1 --out same
expect_equal "right ones" "$(count_class same self)" 5

# Lists divided by '/' are dealt to the caches in turn.
expect_exit 0 "$rollcall" run "${quick[@]}" --gpus 2 --devices 0/1 --topology 4x1 --arm legacy-node-lock \
  --runs 1 --out dealt
expect_equal "failed discoveries, by cache" \
  "$(awk -F, 'NR > 1 && $9 == "discovery_failed" { print $6 }' dealt/derived/pid-mapping-summary.csv | tr '\n' ' ')" "1 3 "

# By UUID, as the node itself gives them.
uuid=$("$rollcall" sim exec --profile instant --gpus 2 -- "$ROLLCALL_PREFIX/bin/rollcall-probe" node | jq -r '.cuda_uuids[1]')
case $uuid in GPU-*) ;; *) fail "no UUID: '$uuid'" ;; esac
expect_exit 0 "$rollcall" run "${quick[@]}" --gpus 2 --devices "$uuid" --topology 1x3 --arm legacy --runs 1 --out uuid
expect_equal "failed discoveries on the second GPU" "$(count_class uuid discovery_failed)" 3

expect_exit 2 "$rollcall" run "${quick[@]}" --gpus 2 --devices 2 --out E
expect_one_line "--devices: there is no device 2: this node has 2"
expect_exit 2 "$rollcall" run "${quick[@]}" --devices 0,0 --out E
expect_one_line "named twice"
[ ! -e E ] || fail "a folder was made"
