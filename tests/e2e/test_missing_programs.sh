#!/usr/bin/env bash
# A missing companion is named before anything is started.
source "$(dirname "$0")/lib.sh"

mkdir -p prefix
cp -r "$ROLLCALL_PREFIX/bin" "$ROLLCALL_PREFIX/lib" "$ROLLCALL_PREFIX/share" prefix/
for companion in bin/rollcall-worker bin/simgpud lib/rollcall/librollcall_shim.so lib/rollcall/sim/libcuda.so.1; do
  mv "prefix/$companion" saved
  expect_exit 1 prefix/bin/rollcall run "${quick[@]}" --topology 1x1 --out E
  expect_one_line "$(basename "$companion")"
  [ ! -e E ] || fail "a folder was made without $companion"
  mv saved "prefix/$companion"
done
mv prefix/bin/rollcall-namespace saved
expect_exit 1 prefix/bin/rollcall run "${quick[@]}" --topology 1x1 --isolate pid --out E
expect_one_line "rollcall-namespace"
[ ! -e E ] || fail "a folder was made without rollcall-namespace"
expect_exit 0 prefix/bin/rollcall run "${quick[@]}" --topology 1x1 --arm native --runs 1 --out without
mv saved prefix/bin/rollcall-namespace
# A worker that cannot be executed is an error, not an exit status to be guessed at.
echo "not a program" >prefix/bin/rollcall-worker
expect_exit 1 prefix/bin/rollcall run "${quick[@]}" --topology 1x1 --arm native --out E
expect_one_line "rollcall-worker.*execute"

# The study works from any folder, also from a copy.
cp "$ROLLCALL_PREFIX/bin/rollcall-worker" prefix/bin/
expect_exit 0 prefix/bin/rollcall run "${quick[@]}" --topology 1x2 --arm legacy --runs 1 --out F
mkdir "with blank" && cp -r prefix/* "with blank/"
expect_exit 1 "with blank/bin/rollcall" run "${quick[@]}" --topology 1x2 --arm legacy --runs 1 --out G
expect_one_line "blank or a colon"
