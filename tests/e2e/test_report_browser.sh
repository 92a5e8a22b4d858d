#!/usr/bin/env bash
# A report as a reader meets it: opened from the disk in a browser. What is checked is
# told in browser/check_report.py.
source "$(dirname "$0")/lib.sh"

for program in chromium chromedriver; do
  command -v "$program" >/dev/null || skip "no $program here; scripts/setup installs it"
done
# Debian's own: another one that comes first in PATH has no selenium.
/usr/bin/python3 -c 'import selenium' 2>/dev/null || skip "no python3-selenium here; scripts/setup installs it"

expect_exit 0 "$rollcall" run --node sim --profile instant --quiet --topology 1x4 --topology 1x8 --topology 4x2 \
  --arm native --arm legacy --runs 2 --out E
expect_exit 0 "$rollcall" report E
/usr/bin/python3 "$ROLLCALL_SOURCE/tests/e2e/browser/check_report.py" E/derived/report.html \
  --kinds matrix,timeline,ecdf,wall,growth
