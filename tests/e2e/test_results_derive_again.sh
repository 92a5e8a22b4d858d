#!/usr/bin/env bash
# What was measured on a GPU and is kept here agrees with its checksums, and every table
# in it is derived again from the raw records, byte for byte. A later version may add files.
source "$(dirname "$0")/lib.sh"

found=0
for archive in "$ROLLCALL_SOURCE"/results/h200/*.tar.zst; do
  name=$(basename "$archive" .tar.zst)
  zstd -dqc "$archive" | tar -xf -
  # Some were packed by hand, under their own name.
  [ -d "$name" ] || mv rollcall-* "$name"
  (cd "$name" && sha256sum --quiet -c SHA256SUMS) || fail "$name does not agree with its checksums"
  expect_exit 0 "$rollcall" summarize --input-dir "$name" --output-dir "again/$name"
  for table in "$name"/derived/*.csv; do
    cmp "$table" "again/$name/$(basename "$table")" || fail "$table is not what follows from the records"
  done
  [ "$(column "again/$name/statistics.csv" measure | grep -cx span_s)" -ge 1 ] || fail "$name has no statistics"
  [ "$(column "$name/derived/summary.csv" node | sort -u)" = real ] || fail "$name is not of a real node"
  [ "$(column "$name/derived/summary.csv" valid | sort -u)" = true ] || fail "$name has an invalid run"
  found=$((found + 1))
done
[ "$found" -ge 10 ] || fail "only $found archives"

# The finding, over all of them: everybody right on one cache while nobody keeps a
# context, hardly anybody on isolated ones.
totals() { # TOPOLOGY-PATTERN CLASS, of init runs with legacy and no neighbours
  awk -F, -v topology="$1" -v class="$2" '
    FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    $c["arm"] == "legacy" && $c["workload"] == "init" && $c["neighbours"] == 0 && $c["topology"] ~ topology { n += $c[class] }
    END { print n + 0 }' ./*/derived/summary.csv
}
expect_equal "workers on one cache that are not right" \
  "$(($(totals '^1x' peer) + $(totals '^1x' external) + $(totals '^1x' discovery_failed) + $(totals '^1x' unresolved)))" 0
[ "$(totals '^[^1]|^1[0-9]' peer)" -gt $((4 * $(totals '^[^1]|^1[0-9]' self))) ] || fail "isolated caches are mostly right"
