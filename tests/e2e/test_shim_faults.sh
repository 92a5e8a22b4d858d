#!/usr/bin/env bash
# Shims that misbehave once they run: each is named, costs its own workers' records, and
# never the launcher or what it has already written.
source "$(dirname "$0")/lib.sh"

run_foreign hang 3 --worker-timeout 2
expect_equal "reasons of a hang" "$(reasons hang)" deadline
expect_equal "unresolved after a hang" "$(count_class hang unresolved)" 2
run_foreign exit 3
expect_equal "reasons of an exit" "$(reasons exit)" worker_died
expect_equal "unresolved after an exit" "$(count_class exit unresolved)" 2
jq -se 'all(.[]; .exit_code == 7 and .fate == "died")' exit/runs/*/workers.jsonl >/dev/null || fail "how they ended"

# All descriptors closed: what the launcher needs of a worker lies in memory.
run_foreign close 0
expect_equal "right ones without descriptors" "$(count_class close self)" 2

# Nor does a worker that waits long without them take its launcher for gone.
expect_exit 0 "$rollcall" run plan.toml --node sim --time-scale 0.8 --quiet --topology 1x20 --hold all --out close-wait
expect_equal "right ones that waited" "$(count_class close-wait self)" 20

# A cache that grows without end is kept as far as it goes, or said not to be.
run_foreign grow 0
expect_equal "right ones" "$(count_class grow self)" 2
[ -s grow/regions/cache_0.region.zst ] || [ -s grow/runs/001-1x2-foreign-r1/regions/cache_0.region.zst ] ||
  fail "the region is not kept"

# A cache with HAMi-core's magic is read as such, and only if it is what it should be.
run_hami() { # MODE CLASS REASON
  printf '[study]\ntopologies = ["1x2"]\narms = ["foreign"]\nruns = 1\n[arm.foreign]\npreload = "%s"\n%s\n%s\n' \
    "$ROLLCALL_TEST_BIN/libforeign_shim.so" 'cache_env = "FOREIGN_SHIM_CACHE"' \
    "identity = \"hami-core\"
env = { FOREIGN_SHIM_MODE = \"$1\" }" >plan.toml
  expect_exit 0 "$rollcall" run plan.toml "${quick[@]}" --out "$1"
  expect_equal "$2 in mode $1" "$(count_class "$1" "$2")" 2
  expect_equal "reason in mode $1" "$(jq -r .discovery.reason "$1"/runs/*/workers.jsonl | sort -u)" "$3"
}
run_hami hami self ""
run_hami hami-grow self ""
run_hami hami-version unresolved region_other_version
run_hami hami-truncated unresolved region_truncated
run_hami right unresolved region_foreign
run_hami silent unresolved region_missing
# Without being told, by its magic.
printf '[study]\n[arm.foreign]\ncache_env = "FOREIGN_SHIM_CACHE"\nenv = { FOREIGN_SHIM_MODE = "hami" }\n' >plan.toml
expect_exit 0 "$rollcall" run plan.toml "${quick[@]}" --topology 1x2 --arm native --runs 1 \
  --shim "foreign=$ROLLCALL_TEST_BIN/libforeign_shim.so" --out auto
expect_equal "source" "$(column auto/derived/pid-mapping-summary.csv source | sort -u)" hami-core

for folder in hang exit close grow hami hami-grow hami-version hami-truncated; do
  (cd "$folder" && sha256sum --quiet -c SHA256SUMS) || fail "$folder does not agree with its checksums"
done
