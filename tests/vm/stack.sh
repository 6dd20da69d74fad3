#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the functions are called by check
#
# The whole stack: programs, runtime, driver, device. A result is right if it is the golden
# one, byte for byte, or the one that the model gives without a driver in between (how far
# that may be from a golden result is what tests on the host say).
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/vm/node.sh
. "${0%/*}/node.sh"

picture=${0%/*}/picture.png
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# example DEVICE NAME: the example network on the example picture.
example() {
	nvdla-edges --device "$1" --input "$picture" --output "$work/example-$2.png" \
		--timeline "$work/example-$2.svg" && grep -q '</svg>' "$work/example-$2.svg"
}

example_is_the_same() {
	example "$node" device && example embedded embedded &&
		cmp "$work/example-device.png" "$work/example-embedded.png"
}

it_is_no_chip() {
	example "$node" device | grep "nvdla-edges on $node (time of the device model, not of a chip)"
}

# What the driver counts for all processes: the example's operations, each once.
example_is_counted() {
	for engine in conv sdp pdp; do
		before=$(cat "$device/counters_$engine/counted_operations") || return 1
		example "$node" device || return 1
		after=$(cat "$device/counters_$engine/counted_operations")
		[ "$after" = $((before + 1)) ] || { echo "$engine: $before, then $after"; return 1; }
	done
}

# is_golden NAME [ARGUMENT...]
is_golden() {
	name=$1
	shift
	nvdla-run --device "$node" --loadable "$data/${name}_fbuf" --output "$work/$name.dimg" "$@" &&
		cmp "$work/$name.dimg" "$data/golden/$name.dimg"
}

# is_as_embedded LOADABLE [ARGUMENT...]
is_as_embedded() {
	loadable=$1
	shift
	for where in $node embedded; do
		nvdla-run --device "$where" --loadable "$data/$loadable" \
			--output "$work/${where##*/}.dimg" "$@" || return 1
	done
	cmp "$work/${node##*/}.dimg" "$work/embedded.dimg"
}

two_at_once() {
	is_golden CONV_D_L0_0 --repeat 20 >"$work/first" 2>&1 &
	first=$!
	is_golden SDP_X1_L0_0 --repeat 20 || return 1
	wait "$first" || { cat "$work/first"; return 1; }
}

# opened PID: wait until the process has the device open; its jobs follow at once.
opened() {
	for _ in $(seq 300); do
		for entry in "/proc/$1/fd"/*; do
			[ "$(readlink "$entry")" = "$node" ] && return 0
		done
		sleep 0.1
	done
	echo "process $1 never opened $node"
	return 1
}

killed_in_mid_run() {
	for _ in 1 2 3; do
		nvdla-run --device "$node" --loadable "$data/CONV_D_L0_0_fbuf" --repeat 1000000 >/dev/null 2>&1 &
		victim=$!
		opened "$victim" || return 1
		sleep 0.3
		kill -9 "$victim" || { echo "it ended before it was killed"; return 1; }
		wait "$victim"
		is_golden CONV_D_L0_0 || return 1
	done
}

# top_says TEXT: as nvdla-top has it in its JSON.
top_says() {
	nvdla-top --device "$node" --once --json --interval 0.1 >"$work/top.json" || return 1
	grep -q "$1" "$work/top.json" || { cat "$work/top.json"; return 1; }
}

top_counts() {
	enable=$device/counters/enable
	example "$node" top && top_says '"engine":"conv"[^}]*"operations":[1-9]' &&
		top_says '"counting":false' || return 1
	nvdla-top --once --enable | grep conv && [ "$(cat "$enable")" = 1 ] &&
		top_says '"counting":true'
	status=$?
	echo 0 >"$enable"
	return "$status"
}

top_shows_processes() {
	nvdla-run --device "$node" --loadable "$data/CONV_D_L0_0_fbuf" --repeat 1000000 >/dev/null 2>&1 &
	job=$!
	for _ in $(seq 300); do
		said=$(top_says "\"pid\":$job,\"command\":\"nvdla-run\".*\"interval_busy_ns\":{[^}]*\"conv\":[1-9]")
		status=$?
		[ "$status" = 0 ] && break
	done
	kill -9 "$job" || { echo "it ended before it was killed"; return 1; }
	wait "$job"
	[ "$status" = 0 ] || { echo "$said"; return 1; }
}

# refused WORD COMMAND...: fails, says WORD, and the kernel has nothing to say about it.
refused() {
	word=$1
	shift
	before=$(dmesg | wc -l)
	if said=$("$@" 2>&1); then
		echo "it succeeded: $said"
		return 1
	fi
	case $said in
	*"$word"*) ;;
	*) echo "no word of $word: $said"; return 1 ;;
	esac
	[ "$(dmesg | wc -l)" = "$before" ] || { dmesg | tail -n 3; return 1; }
}

# Documentation/failed-jobs.md has these commands: what the driver knows of a job that failed.
failure_is_recorded() {
	echo 1 >"$debug/inject/lose_interrupt" || return 1
	if said=$(example "$node" failed 2>&1); then
		echo "it succeeded without an interrupt"
		return 1
	fi
	for word in dmesg /sys/class/devcoredump; do
		case $said in
		*"$word"*) ;;
		*) echo "no word of $word: $said"; return 1 ;;
		esac
	done
	dmesg | tail -n 20 | grep "nvdla ${device##*/}: .*job failed: -110" || return 1
	# The dump appears after the job has ended.
	for _ in $(seq 100); do
		cat /sys/class/devcoredump/devcd*/data >"$work/dump.txt" 2>/dev/null && break
		sleep 0.1
	done
	echo 1 | tee /sys/class/devcoredump/devcd*/data
	head -n 1 "$work/dump.txt" | grep -x 'nvdla coredump 2' || return 1
	nvdla-info --dump "$work/dump.txt" | grep -x 'GLB.S_NVDLA_HW_VERSION = 0x[0-9a-f]*' || return 1
	for _ in $(seq 100); do
		set -- /sys/class/devcoredump/devcd*/data
		[ -e "$1" ] || return 0
		sleep 0.1
	done
	echo "$1 is still there"
	return 1
}

missing_device() {
	refused /dev/accel/accel7 nvdla-edges --device /dev/accel/accel7 --input "$picture" \
		--output "$work/none.png"
}

truncated_loadable() {
	for bytes in 0 7 100 1000; do
		head -c "$bytes" "$data/CONV_D_L0_0_fbuf" >"$work/cut.nvdla"
		refused cut.nvdla nvdla-run --device "$node" --loadable "$work/cut.nvdla" || return 1
	done
}

# Damaged files: an answer or an error in words, never a crash; what the kernel thinks
# of it is checked for the whole boot.
damaged_loadable() {
	size=$(wc -c <"$data/CONV_D_L0_0_fbuf")
	for part in 1 2 3 5 8 11 13 17 19 23 29 31; do
		offset=$((size * part / 32))
		cp "$data/CONV_D_L0_0_fbuf" "$work/damaged.nvdla"
		printf '\377' | dd of="$work/damaged.nvdla" bs=1 seek="$offset" conv=notrunc 2>/dev/null
		said=$(nvdla-run --device "$node" --loadable "$work/damaged.nvdla" --timeout 5000 2>&1)
		status=$?
		if [ "$status" -gt 4 ] || { [ "$status" -ne 0 ] && [ -z "$said" ]; }; then
			echo "byte $offset: exit status $status: $said"
			return 1
		fi
	done
	is_golden CONV_D_L0_0
}

check "the example gives the picture that the embedded device gives" example_is_the_same
check "times are said to be those of the device model" it_is_no_chip
check "the example's operations are in the driver's counters" example_is_counted
check "nvdla-top shows operations, and turns counters on when it is told to" top_counts
if [ -e /sys/class/devcoredump ]; then
	check "a failed job says where more is known, and there it is" failure_is_recorded
else
	skip "core dumps" "the kernel has none"
fi
check "a missing device is named" missing_device

data=${NVDLA_REFERENCE_DATA:-/nonexistent}/loadables
if [ -d "$data" ]; then
	for name in BDMA_L0_0 SDP_X1_L0_0 CONV_D_L0_0 PDP_L0_0 CDP_L0_0 RBK_L0_0; do
		check "$name gives its golden bytes" is_golden "$name"
	done
	check "NN_L0_0 is as on the embedded device" is_as_embedded NN_L0_0_fbuf
	for digit in "$data"/digits/*.pgm; do
		check "${digit##*/} is as on the embedded device" \
			is_as_embedded NN_L0_0_fbuf --input "$digit"
	done
	for network in conv_feat_odd/nv_full_int8_fast-math lenet_trained/nv_full_fp16_fast-math; do
		check "$network is as on the embedded device" is_as_embedded "compiled/$network.nvdla" \
			--input "$data/compiled/${network%/*}/in0.npy"
	done
	check "the same loadable again and again" is_golden CONV_D_L0_0 --repeat 50
	check "two processes at once" two_at_once
	check "nvdla-top shows whose work it is" top_shows_processes
	check "after a process was killed in mid-run" killed_in_mid_run
	check "a truncated loadable is refused" truncated_loadable
	check "a damaged loadable ends in words" damaged_loadable
else
	skip "loadables" "no reference data: set NVDLA_REFERENCE_DATA"
fi
done_testing
