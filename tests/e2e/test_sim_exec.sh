#!/usr/bin/env bash
# Any program on the simulated node; its exit status is returned and nothing is left.
source "$(dirname "$0")/lib.sh"

sim=("$rollcall" sim exec --profile instant --)
expect_exit 0 "${sim[@]}" "$ROLLCALL_TEST_BIN/cuda_linked"
expect_equal "cuInit" "$(cat out)" 0
expect_exit 7 "${sim[@]}" sh -c 'exit 7'
expect_exit 137 "${sim[@]}" sh -c 'kill -KILL $$'
expect_exit 127 "${sim[@]}" no-such-program
expect_exit 0 "${sim[@]}" sh -c 'echo "$LD_LIBRARY_PATH $ROLLCALL_SIM_SOCKET"'
read -r library_path socket <out
[ -e "${library_path%%:*}/libcuda.so.1" ] || fail "no stand-in on the library path"
[ ! -e "$socket" ] && [ ! -e "$(dirname "$socket")" ] || fail "the node's folder is left"
expect_exit 0 "$rollcall" sim exec --profile instant --gpus 0 -- "$ROLLCALL_TEST_BIN/cuda_linked"
expect_equal "cuInit without a device" "$(cat out)" 100
expect_exit 2 "$rollcall" sim exec --gpus 17 -- true
expect_exit 2 "$rollcall" sim exec --profile nowhere -- true
expect_exit 2 "$rollcall" sim exec --view sideways -- true
expect_exit 2 "$rollcall" sim exec

# The program is told to end when we are.
"$rollcall" sim exec --profile instant -- sh -c 'trap "echo told; exit 9" TERM; echo up; while :; do sleep 0.05; done' >out 2>err &
wrapper=$!
up() { grep -q up out; }
await up
kill -TERM "$wrapper"
status=0
wait "$wrapper" || status=$?
expect_equal "exit status" "$status" 9
grep -q told out || fail "the program was not told"
