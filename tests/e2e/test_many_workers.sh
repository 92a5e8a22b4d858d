#!/usr/bin/env bash
# A thousand workers on one cache: all have records.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run --node sim --profile instant --quiet --topology 1x1000 --arm native --runs 1 --out E
expect_equal "records" "$(wc -l <E/runs/*/workers.jsonl)" 1000
expect_equal "with a time" "$(jq -s 'map(select(.cuinit_ns > 0 and .cuinit_result == 0)) | length' E/runs/*/workers.jsonl)" 1000
expect_exit 0 "$rollcall" run --node sim --profile instant --quiet --topology 500x2 --arm legacy --runs 1 --out F
expect_equal "classified" "$(tail -n +2 F/derived/pid-mapping-summary.csv | wc -l)" 1000
