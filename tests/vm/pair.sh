#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the functions are called by check
#
# Two cores at once: each has its own node and state, and may go without the other.
#   pair.sh UAPI-TEST
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"

uapi_test=$1
driver=/sys/bus/pci/drivers/nvdla
data=${NVDLA_REFERENCE_DATA:-/nonexistent}/loadables
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

function_of() {
	basename "$(readlink -f "/sys/class/accel/$1/device")"
}

two_functions() {
	[ "$(function_of accel0)" != "$(function_of accel1)" ]
}

# on NODE NAME COMMAND...: run it with a node of the two.
on() {
	NVDLA_DEVICE=/dev/accel/$1 "$2" "$3" >"$work/$1.log" 2>&1 || { cat "$work/$1.log"; return 1; }
}

# at_once COMMAND ARGUMENT...: "COMMAND NODE ARGUMENT..." for both nodes at the same time.
at_once() {
	command=$1
	shift
	"$command" accel0 "$@" >"$work/first" 2>&1 &
	first=$!
	"$command" accel1 "$@" || return 1
	wait "$first" || { cat "$work/first"; return 1; }
}

# is_golden NODE NAME [ARGUMENT...]
is_golden() {
	node=$1
	name=$2
	shift 2
	nvdla-run --device "/dev/accel/$node" --loadable "$data/${name}_fbuf" \
		--output "$work/$node.dimg" "$@" && cmp "$work/$node.dimg" "$data/golden/$name.dimg"
}

different_work() {
	is_golden accel0 CONV_D_L0_0 --repeat 50 >"$work/first" 2>&1 &
	first=$!
	is_golden accel1 CDP_L0_0 --repeat 50 || return 1
	wait "$first" || { cat "$work/first"; return 1; }
}

goes_alone() {
	is_golden accel0 CONV_D_L0_0 --repeat 200 >"$work/first" 2>&1 &
	first=$!
	other=$(function_of accel1)
	for _ in 1 2 3; do
		echo "$other" >"$driver/unbind" || return 1
		[ ! -e /dev/accel/accel1 ] || { echo "the node of $other is still there"; return 1; }
		echo "$other" >"$driver/bind" || return 1
		is_golden accel1 SDP_X1_L0_0 || return 1
	done
	wait "$first" || { cat "$work/first"; return 1; }
}

check "there are two nodes of two functions" two_functions
check "both do what user space expects" at_once on "$uapi_test" --gtest_filter='SubmitTest.*:SramTest.*'
if [ -d "$data" ]; then
	check "both give golden bytes at once" at_once is_golden CONV_D_L0_0 --repeat 50
	check "each with its own work" different_work
	check "one is unbound and bound while the other runs" goes_alone
else
	skip "loadables" "no reference data: set NVDLA_REFERENCE_DATA"
fi
done_testing
