#!/usr/bin/env bash
# The path of a real node. Its driver is stood in for here, which every run must say:
# what was measured on a stand-in is never a result of a real node.
source "$(dirname "$0")/lib.sh"
probe=$ROLLCALL_PREFIX/bin/rollcall-probe
on_node() { "$rollcall" sim exec --profile instant "$@"; }

expect_exit 3 on_node -- "$rollcall" run --node real --quiet --topology 1x3 --arm native --arm legacy --runs 1 --out E
expect_equal "reasons" "$(reasons E | sort -u)" wrong_driver
jq -e '.node == "real" and .processes_before == [] and .device_name != "" and (has("time_scale") | not)' \
  E/runs/001-*/run.json >/dev/null || fail "the record of the run"
jq -e '.driver.node.cuinit_result == 0 and (.driver.view.view | type == "string")' E/environment.json >/dev/null ||
  fail "the environment does not describe the driver"
expect_equal "right ones" "$(count_class E self)" 3

# auto: the machine's own where there is a GPU, and it says which. A stand-in is no GPU.
expect_exit 0 on_node -- "$rollcall" run --topology 1x1 --arm native --runs 1 --profile instant --out inner
expect_exit 0 on_node -- "$rollcall" run --topology 1x1 --arm native --runs 1 --out auto
grep -q "itself runs on a simulated node" err || { cat err; fail "auto does not say what it chose"; }
expect_exit 0 "$rollcall" run --topology 1x1 --arm native --runs 1 --out auto-sim --node auto
if grep -q "own node" err; then skip "this machine has a GPU"; fi
grep -q "no GPU to use here, so the simulated node" err || fail "auto does not say what it chose"

# Somebody else is on the GPU.
cat >busy.sh <<SH
"$probe" hold primary <fifo >ready 2>/dev/null &
holder=\$!
for i in \$(seq 100); do grep -q ready ready && break; sleep 0.05; done
"$rollcall" run --node real --quiet --topology 1x1 --arm native --runs 1 --out busy
status=\$?
kill \$holder
exit \$status
SH
mkfifo fifo
exec 9<>fifo
expect_exit 3 on_node -- bash busy.sh
case $(reasons busy) in *gpu_not_idle*) ;; *) fail "not gpu_not_idle: $(reasons busy)" ;; esac
jq -e '(.processes_before | length) == 1' busy/runs/001-*/run.json >/dev/null || fail "who was there is not recorded"

# No driver; a driver without a device; NVML that is missing or refuses.
expect_exit 1 "$rollcall" run --node real --quiet --topology 1x1 --arm native --out none
expect_one_line "--node real: .*libcuda"
[ ! -e none ] || fail "a folder was made"
expect_exit 1 on_node -- env CUDA_VISIBLE_DEVICES= "$rollcall" run --node real --quiet --topology 1x1 --arm native --out none
expect_one_line "--node real: .*no.*device"
sed 's/^gpus = 1/gpus = 0/' "$ROLLCALL_PREFIX/share/rollcall/profiles/instant.toml" >bare.toml
expect_exit 1 "$rollcall" sim exec --profile ./bare.toml -- "$rollcall" run --node real --quiet --topology 1x1 --arm native --out none
expect_one_line "--node real: cuInit returned 100"
expect_exit 2 on_node -- "$rollcall" run --node real --quiet --topology 1x1 --arm native --devices 0,1 --out none
expect_one_line "there is no device 1: this node has 1"
sed 's/^name = .*/&\n/' "$ROLLCALL_PREFIX/share/rollcall/profiles/instant.toml" >refusing.toml
printf '\n[nvml]\nrefuse = true\n' >>refusing.toml
expect_exit 3 "$rollcall" sim exec --profile ./refusing.toml -- \
  "$rollcall" run --node real --quiet --topology 1x2 --arm native --arm legacy --runs 1 --out refusing
case $(reasons refusing) in *idle_not_known*) ;; *) fail "not idle_not_known: $(reasons refusing)" ;; esac
# Whose numbers they would have been is not known; an arm without numbers does not need it.
expect_equal "runs whose numbering is not known" \
  "$(awk -F, '/numbering_not_known/ { print $6 }' refusing/derived/summary.csv)" legacy
expect_equal "failed discoveries" "$(count_class refusing discovery_failed)" 2
mkdir only-cuda
ln -s "$ROLLCALL_PREFIX/lib/rollcall/sim/libcuda.so.1" only-cuda/
expect_exit 3 "$rollcall" sim exec --profile instant -- env LD_LIBRARY_PATH="$PWD/only-cuda" \
  "$rollcall" run --node real --quiet --topology 1x2 --arm native --arm legacy --runs 1 --out missing
case $(reasons missing) in *idle_not_known*) ;; *) fail "not idle_not_known: $(reasons missing)" ;; esac
expect_equal "failed discoveries" "$(count_class missing discovery_failed)" 2

# One experiment is of one driver.
sed 's/^driver_version = .*/driver_version = "1.2.3"/' "$ROLLCALL_PREFIX/share/rollcall/profiles/instant.toml" >older.toml
"$rollcall" sim exec --profile study --time-scale 0.5 -- "$rollcall" run --node real --quiet --topology 1x3 --arm legacy \
  --runs 9 --out twice >twice.log 2>&1 &
outer=$!
first_done() { ls -d twice/runs/001-* >/dev/null 2>&1; }
await first_done
pkill -TERM -P "$outer" -x rollcall
wait "$outer" || true
expect_exit 2 "$rollcall" sim exec --profile ./older.toml -- "$rollcall" run --resume --quiet --out twice
expect_one_line "began with driver 580.159.04, found 1.2.3"
sed -i 's/"driver_version": .*/"driver_version": null,/' twice/environment.json
expect_exit 2 on_node -- "$rollcall" run --resume --quiet --out twice
expect_one_line "environment.json: expected the version of the driver"

# What belongs to a simulated node only is refused on a real one.
expect_exit 2 "$rollcall" run --node real --time-scale 0.1 --out none
expect_one_line "--time-scale: only a simulated node has this"
