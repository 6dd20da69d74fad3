#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the functions are called by check
#
# A core that slept forgot its registers and tables; what it computes is the same.
#   power.sh POWER-TEST
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/vm/node.sh
. "${0%/*}/node.sh"

program=$1
driver=/sys/bus/pci/drivers/nvdla
function=$(basename "$device")
data=${NVDLA_REFERENCE_DATA:-/nonexistent}/loadables
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# passes FILTER: the cases of the program given pass, and none of them is skipped.
passes() {
	said=$("$program" --gtest_filter="$1" 2>&1) || { echo "$said"; return 1; }
	case $said in
	*SKIPPED*) echo "$said"; return 1 ;;
	esac
}

falls_asleep() {
	for _ in $(seq 300); do
		[ "$(cat "$driver/$function/power/runtime_status")" = suspended ] && return 0
		sleep 0.1
	done
	grep . "$driver/$function"/power/runtime_*
	return 1
}

is_in_d3() {
	falls_asleep || return 1
	state=$(cat "$driver/$function/power_state")
	[ "$state" = D3hot ] || { echo "the function is in $state"; return 1; }
}

# is_golden NAME [ARGUMENT...]
is_golden() {
	name=$1
	shift
	nvdla-run --device "$node" --loadable "$data/${name}_fbuf" --output "$work/$name.dimg" "$@" &&
		cmp "$work/$name.dimg" "$data/golden/$name.dimg"
}

is_golden_after_sleep() {
	is_golden "$1" && falls_asleep && is_golden "$1"
}

unbind_asleep() {
	falls_asleep || return 1
	echo "$function" >"$driver/unbind" || return 1
	[ ! -e "$node" ] || { echo "$node is still there"; return 1; }
	echo "$function" >"$driver/bind" || return 1
	[ -c "$node" ] || { echo "$node did not come back"; return 1; }
}

unload_asleep() {
	falls_asleep || return 1
	rmmod nvdla || return 1
	insmod "/lib/modules/$(uname -r)/nvdla.ko" || return 1
	falls_asleep
}

# The system sleeps and wakes three times while a program runs.
sleeps_in_mid_run() {
	is_golden CDP_L0_0 --repeat 200 >"$work/run" 2>&1 &
	run=$!
	for _ in 1 2 3; do
		sleep 0.2
		echo freeze >/sys/power/state || return 1
	done
	wait "$run" || { cat "$work/run"; return 1; }
}

check "an idle core sleeps and works, whoever does what" passes 'PowerTest.*'
check "an idle core's function is in D3hot" is_in_d3
check "the driver can be unbound from a core that sleeps" unbind_asleep
check "the module can be unloaded while the core sleeps" unload_asleep
if [ -d "$data" ]; then
	for name in BDMA_L0_0 SDP_X1_L0_0 CONV_D_L0_0 PDP_L0_0 CDP_L0_0 RBK_L0_0; do
		check "$name gives its golden bytes before and after a sleep" is_golden_after_sleep "$name"
	done
else
	skip "loadables" "no reference data: set NVDLA_REFERENCE_DATA"
fi

# As deep as a test can: the kernel's Documentation/power/basic-pm-debugging.rst.
if echo platform >/sys/power/pm_test; then
	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	insmod "${0%/*}/nvdla_sleep_guard.ko"
	for name in JobsGoOnAfterwards TheCoreMayBeAsleepAlready AJobThatTakesTooLongFailsAsEver; do
		check "the system sleeps: $name" passes "SystemSleepTest.$name"
	done
	[ ! -d "$data" ] || check "the system sleeps in mid-run" sleeps_in_mid_run
	check "another client sees nothing after a sleep" passes 'Events/TwoClientsAcross.*/Sleep'
	echo devices >/sys/power/pm_test
	check "another client sees nothing after a sleep with power" passes 'Events/TwoClientsAcross.*/Sleep'
	for name in JobsGoOnAfterwards TheCoreMayBeAsleepAlready; do
		check "the system sleeps, the core has power: $name" passes "SystemSleepTest.$name"
	done
	rmmod nvdla_sleep_guard
	echo none >/sys/power/pm_test
else
	skip "the system sleeps" "this kernel has no PM_SLEEP_DEBUG"
fi
done_testing
