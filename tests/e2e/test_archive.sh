#!/usr/bin/env bash
# The same evidence gives the same archive wherever it lies and whatever its owners, modes and times;
# the archive is verified like the folder, and one that was tampered with is found out.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$rollcall" run "${quick[@]}" --profile instant --topology 1x2 --topology 2x1 --arm native \
  --arm legacy --runs 1 --out one
mkdir -p elsewhere/deep
cp -r one elsewhere/deep/two
find elsewhere -exec touch -d '2001-02-03' {} +
find elsewhere -type f -exec chmod 0700 {} +

expect_exit 0 "$rollcall" archive one --out one.tar.zst
cp out sums
sha256sum --quiet -c sums || fail "the printed checksum is not that of the archive"
(cd elsewhere && umask 077 && TAR_OPTIONS=--totals LC_ALL=C.UTF-8 "$rollcall" archive deep/two/ --out ../two.tar.zst >/dev/null 2>&1)
cmp one.tar.zst two.tar.zst || fail "the same evidence, other bytes"

# Any tar unpacks it, into one folder that sha256sum can check.
mkdir unpacked && zstd -dqc one.tar.zst | tar -xf - -C unpacked
expect_equal "folders in it" "$(ls unpacked | wc -l)" 1
(cd unpacked/rollcall-* && sha256sum --quiet -c SHA256SUMS) || fail "checksums inside"
expect_exit 0 "$rollcall" verify one.tar.zst
grep -q holds out || fail "does not hold"
expect_exit 0 "$rollcall" archive unpacked/rollcall-* --out three.tar.zst
cmp one.tar.zst three.tar.zst || fail "packed, unpacked and packed: other bytes"

# Nothing is overwritten; unfinished or changed evidence is not packed, and nothing is left.
expect_exit 2 "$rollcall" archive one --out one.tar.zst
expect_exit 2 "$rollcall" archive nowhere --out x.tar.zst
expect_exit 2 "$rollcall" archive one --out one/derived/x.tar.zst
expect_one_line 'whose seal it would break'
expect_exit 2 "$rollcall" report one --out "$PWD/one/runs/../x.html"
expect_exit 2 "$rollcall" summarize --input-dir one --output-dir one/tables
expect_exit 0 "$rollcall" verify one
cp -r one unfinished && rm unfinished/SHA256SUMS
expect_exit 2 "$rollcall" archive unfinished --out x.tar.zst
expect_one_line 'resume'
cp -r one changed && echo x >>changed/plan.json
expect_exit 4 "$rollcall" archive changed --out x.tar.zst
expect_one_line 'plan.json'
expect_exit 1 "$rollcall" archive one --out no-such-folder/x.tar.zst
PATH=/nowhere expect_exit 1 "$rollcall" archive one --out x.tar.zst
expect_one_line 'GNU tar is not installed'
[ -z "$(ls x.tar.zst* 2>/dev/null)" ] || fail "something is left of a failed archive"

# Bad archives: each is refused, and nothing is left in the temporary folder.
mkdir tmp && export TMPDIR=$PWD/tmp
bad() { # STATUS FILE
  expect_exit "$1" "$rollcall" verify "$2"
  [ -z "$(ls -A tmp)" ] || fail "verify left something in the temporary folder: $(ls -A tmp)"
}
head -c 2000 one.tar.zst >cut.tar.zst && bad 2 cut.tar.zst
: >empty.tar.zst && bad 2 empty.tar.zst
cat one.tar.zst one.tar.zst >twice.tar.zst && bad 2 twice.tar.zst
head -c 5000 /dev/urandom >noise.tar.zst && bad 2 noise.tar.zst
echo text | zstd -qc >text.tar.zst && bad 2 text.tar.zst
size=$(stat -c %s one.tar.zst)
for offset in $((size / 3)) $((size / 2)) $((size - 3)); do
  cp one.tar.zst flipped.tar.zst
  printf '\377\376' | dd of=flipped.tar.zst bs=1 seek="$offset" conv=notrunc status=none
  bad 2 flipped.tar.zst
done

# pack FOLDER: as a stranger would.
pack() { tar -cf - -C "$1" . | zstd -qc; }
mkdir forged && cp -r changed forged/e && pack forged >forged.tar.zst
expect_exit 4 "$rollcall" verify forged.tar.zst
grep -q 'plan.json: ' out || fail "the changed file in the archive is not named"
mkdir two-folders && cp -r one two-folders/a && cp -r one two-folders/b && tar -cf - -C two-folders a b | zstd -qc >both.tar.zst
bad 2 both.tar.zst
echo secret >outside
mkdir links && cp -r one links/e && rm links/e/plan.json && ln -s "$PWD/outside" links/e/plan.json
tar -cf - -C links e | zstd -qc >links.tar.zst
bad 4 links.tar.zst
tar -cPf - --transform 's,^one,../../escaped,' one | zstd -qc >escape.tar.zst
expect_exit 2 "$rollcall" verify escape.tar.zst
[ ! -e ../../escaped ] && [ ! -e escaped ] && [ ! -e tmp/escaped ] || fail "a member left the temporary folder"
# What follows the archive's end inside the frame was never sealed; it is not passed over.
for _ in 1 2 3; do
  { zstd -dqc one.tar.zst && head -c 100000 /dev/urandom; } | zstd -qc >junk.tar.zst
  bad 2 junk.tar.zst
done
# Folders that nobody may enter are the user's own all the same, and go.
mkdir closed && cp -r one closed/e && mkdir closed/e/locked && echo x >closed/e/locked/x
tar -cf - --mode='a-rwx' -C closed e | zstd -qc >closed.tar.zst
bad 4 closed.tar.zst
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  chmod 755 . && chmod 777 tmp && chmod 755 "$PWD"
  other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  if "${other[@]}" "$rollcall" --version >/dev/null 2>&1 && "${other[@]}" test -r closed.tar.zst; then
    expect_exit 4 "${other[@]}" "$rollcall" verify closed.tar.zst
    [ -z "$(ls -A tmp)" ] || fail "verify left something in the temporary folder: $(ls -A tmp)"
  fi
fi
truncate -s 70G sparse && mkdir bomb && cp -r one bomb/e && mv sparse bomb/e/sparse
tar -cSf - -C bomb e | zstd -qc >bomb.tar.zst
bad 2 bomb.tar.zst

# Killed in the middle: what was unpacked goes all the same.
mkdir big && cp -r one big/e && head -c 60000000 /dev/urandom >big/e/large && tar -cf - -C big e | zstd -1 -qc >large.tar.zst
"$rollcall" verify large.tar.zst >/dev/null 2>&1 &
verifier=$!
unpacking() { [ -n "$(ls -A tmp)" ]; }
await unpacking
kill -9 "$verifier"
wait "$verifier" 2>/dev/null || true
gone() { [ -z "$(ls -A tmp)" ]; }
await gone
