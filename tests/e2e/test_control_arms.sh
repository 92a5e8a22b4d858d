#!/usr/bin/env bash
# The controls without a shim: what the driver's part of a probe costs, and nvmlInit
# alone; and the application's own first context in every arm.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x4 --arm native --arm native-context --arm nvml-only \
  --runs 1 --out E
summary=E/derived/summary.csv
[ "$(column $summary valid | sort -u)" = true ] || fail "not every run is valid: $(column $summary invalid_reasons)"
row() { awk -F, -v arm="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["arm"] == arm { print $c[name] }' "$3"; }
[ -n "$(row native-context control_p50_ms $summary)" ] || fail "native-context has no time of its probe"
[ -n "$(row nvml-only control_p50_ms $summary)" ] || fail "nvml-only has no time of nvmlInit"
expect_equal "probe in native" "$(row native control_p50_ms $summary)" ""
expect_equal "cuInit calls in nvml-only" "$(row nvml-only cuinit_ok $summary)" 0
expect_equal "classes in native-context" "$(row native-context self $summary)" ""
jq -se 'all(.[]; .control_result == 0 and .control_ns > 0 and .cuinit_result == 0 and (has("context_ns") | not))' \
  E/runs/*-native-context-r1/workers.jsonl >/dev/null || fail "records of native-context"
jq -se 'all(.[]; .control_result == 0 and (has("cuinit_result") | not))' \
  E/runs/*-nvml-only-r1/workers.jsonl >/dev/null || fail "records of nvml-only"

# The workload context comes on top of every arm that uses CUDA.
expect_exit 0 "$rollcall" run "${quick[@]}" --topology 1x3 --arm native --arm native-context --arm legacy \
  --workload context --runs 1 --out C
for arm in native native-context legacy; do
  first=$(row $arm first_context_p50_ms C/derived/summary.csv)
  own=$(row $arm context_p50_ms C/derived/summary.csv)
  awk -v first="$first" -v own="$own" 'BEGIN { exit !(own > 0 && first >= own) }' ||
    fail "$arm: first context after '$first' ms, of which the context itself '$own' ms"
done

expect_exit 2 "$rollcall" run "${quick[@]}" --arm nvml-only --workload context --out N
expect_one_line "'nvml-only' makes no context"
