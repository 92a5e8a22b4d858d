#!/usr/bin/env bash
# A read-only disk and a full one: one line that says what to do, exit 1, nothing
# half-written under a final name.
if [ "${1:-}" != inside ]; then
  unshare --mount true 2>/dev/null || { echo "SKIPPED: mounting needs privileges" >&2; exit 77; }
  exec unshare --mount bash "$0" inside
fi
source "$(dirname "$0")/lib.sh"
trap 'cd /; umount "$work"/ro "$work"/full* 2>/dev/null || true; rm -rf "$work"' EXIT

mkdir ro && mount -t tmpfs -o ro tmpfs ro
expect_exit 1 "$rollcall" run "${quick[@]}" --topology 1x2 --arm native --runs 1 --out ro/E
expect_one_line "ro/E.*Read-only"

# Sizes from "the first file does not fit" to "nearly enough".
for size_kib in 4 16 24 32 48 64 96 128; do
  mkdir "full$size_kib" && mount -t tmpfs -o "size=${size_kib}k,nr_inodes=1000" tmpfs "full$size_kib"
  expect_exit 1 "$rollcall" run "${quick[@]}" --topology 2x20 --arm legacy --runs 20 --out "full$size_kib/E"
  expect_one_line "No space left|simulated node|simgpud"
  [ ! -e "full$size_kib/E/SHA256SUMS" ] || fail "a sealed folder on a full disk"
  for run in "full$size_kib"/E/runs/*; do
    [ -e "$run" ] || continue
    jq -e . "$run/run.json" >/dev/null || fail "half a record in $run"
    expect_equal "records in $run" "$(jq -c . "$run/workers.jsonl" | wc -l)" 40
  done
done
