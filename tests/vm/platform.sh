#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the functions are called by check
#
# The core as a platform device with clocks and a reset line, which tests/kmd/nvdla_pci_glue.c
# makes of the PCI function.
#   platform.sh UAPI-TEST POWER-TEST
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"

uapi_test=$1
power_test=$2
here=${0%/*}
driver=/sys/bus/platform/drivers/nvdla
pci=/sys/bus/pci
function=$(basename "$(readlink -f /sys/class/accel/accel0/device)")
data=${NVDLA_REFERENCE_DATA:-/nonexistent}/loadables
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# hand_over DRIVER: the PCI function gets another driver.
hand_over() {
	echo "$function" >"$pci/devices/$function/driver/unbind" || return 1
	echo "$1" >"$pci/devices/$function/driver_override" || return 1
	echo "$function" >"$pci/drivers_probe" || return 1
	[ "$(basename "$(readlink "$pci/devices/$function/driver")")" = "$1" ]
}

become_platform() {
	insmod "$here/nvdla_pci_glue.ko" "$@" && hand_over nvdla_pci_glue || return 1
	device=$(basename "$driver"/nvdla-nv-full.*)
	[ -e "$driver/$device" ] || { echo "the driver is bound to no platform device"; return 1; }
	node=/dev/accel/$(ls "$driver/$device/accel")
	export NVDLA_DEVICE="$node"
}

become_pci() {
	hand_over nvdla && rmmod nvdla_pci_glue || return 1
	echo >"$pci/devices/$function/driver_override"
}

# becomes BUS [PARAMETER...]: one of the above, in this shell: it sets $device and $node.
becomes() {
	bus=$1
	shift
	status=0
	"become_$bus" "$@" >"$work/become" 2>&1 || status=1
	check "the core becomes a device of: $bus $*" said_and_ended "$work/become" "$status"
}

said_and_ended() {
	cat "$1"
	return "$2"
}

# Tests of the PCI function skip themselves.
passes() {
	"$@" >"$work/log" 2>&1 || { grep -v -e ' RUN ' -e ' OK ' -e ' SKIPPED ' "$work/log"; return 1; }
}

# clocks ON: whether both clocks are on (1) or off (0), as soon as the core's state has settled.
clocks() {
	for _ in $(seq 300); do
		on=$(cat /sys/kernel/debug/clk/"$function"-*/clk_enable_count | tr -d '\n')
		[ "$on" = "$1$1" ] && return 0
		sleep 0.1
	done
	echo "enable counts are $on"
	return 1
}

stays_awake_on_demand() {
	echo on >"$driver/$device/power/control" && clocks 1 && echo auto >"$driver/$device/power/control"
}

# is_golden NAME
is_golden() {
	nvdla-run --device "$node" --loadable "$data/${1}_fbuf" --output "$work/$1.dimg" &&
		cmp "$work/$1.dimg" "$data/golden/$1.dimg"
}

is_golden_after_sleep() {
	is_golden "$1" && clocks 0 && is_golden "$1"
}

rebind() {
	echo "$device" >"$driver/unbind" || return 1
	[ ! -e "$node" ] || { echo "$node is still there"; return 1; }
	clocks 0 || return 1
	echo "$device" >"$driver/bind" || return 1
	[ -c "$node" ] || { echo "$node did not come back"; return 1; }
}

says_that_there_is_no_reset() {
	dmesg | grep 'nvdla-nv-full.*no reset line' && recovers_by none
}

# recovers_by HOW: what the driver says of that in sysfs.
recovers_by() {
	said=$(cat "$driver/$device/recovery")
	[ "$said" = "$1" ] || { echo "recovery is $said"; return 1; }
}

# The core is idle when its interrupt is lost, but that is not for the driver to guess.
hang_gives_it_up() {
	echo 1 >"/sys/kernel/debug/accel/$device/inject/lose_interrupt" || return 1
	! is_golden "$1" || { echo "no interrupt was lost"; return 1; }
	recovers_by dead && dmesg | grep 'buffers of its job are never freed'
}

# The loadables' names are words.
loadables() {
	[ -d "$data" ] || { skip "loadables" "no reference data: set NVDLA_REFERENCE_DATA"; return; }
	for name in "$@"; do
		check "$name gives its golden bytes before and after a sleep" is_golden_after_sleep "$name"
	done
}

# First, since kernels before 7.0 never forget that there is a reset line.
becomes platform reset=0 share=1
check "without a reset line the driver says what that means" says_that_there_is_no_reset
loadables SDP_X1_L0_0
check "a core that no reset brings back can be unbound and bound again" rebind
if [ -d "$data" ]; then
	check "it computes as before" is_golden CONV_D_L0_0
	check "a core that hangs is given up" hang_gives_it_up SDP_X1_L0_0
	check "one that is idle can be bound again" rebind
	check "it computes again" is_golden SDP_X1_L0_0
fi
becomes pci

becomes platform
check "a reset line is there for a core that hangs" recovers_by reset
check "an idle core has no clocks" clocks 0
check "a core that must not sleep has them" stays_awake_on_demand
check "the driver can be unbound from it and bound again" rebind
NVDLA_TEST_CORE_CLOCK_HZ=1000000000
export NVDLA_TEST_CORE_CLOCK_HZ
# Which tasks are refused, who runs when and whom fences wake does not depend on the bus: that was tried on the PCI function.
elsewhere='*Canary*:*TwoClients*:Isolation.*:TimelineTest.*:ContextTest.*:ClientTest.*:*PipelineTest.*:DebugTest.*:WallTest.*'
# On the debug kernel all of it takes ten minutes, and was tried on the PCI function, too.
case $(uname -r) in
*-debug) elsewhere="$elsewhere:*Prime*:*Fault*:*Unplug*:*Prepared*:*Result*:*Sram*" ;;
esac
check "it is what user space expects" passes "$uapi_test" --gtest_brief=1 --gtest_filter="-$elsewhere"
unset NVDLA_TEST_CORE_CLOCK_HZ
check "it sleeps and wakes" passes "$power_test" --gtest_filter='PowerTest.*'
loadables SDP_X1_L0_0 CONV_D_L0_0 CDP_L0_0
# It stays one: when the guest powers off, the driver has to shut it down.
done_testing
