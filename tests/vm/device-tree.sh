#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the functions are called by check
#
# The driver on the node of a machine's device tree, which tests/kmd/nvdla_soc_glue.c makes a
# device of.
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/vm/seven.sh
. "${0%/*}/seven.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lenet=${NVDLA_REFERENCE_DATA:-/nonexistent}/loadables/nv_small/lenet_mnist
driver=/sys/bus/platform/drivers/nvdla
pci=/sys/bus/pci
function=$(basename "$(readlink -f $pci/drivers/nvdla/0000:*)")
core=$driver/nvdla-soc
tree=$(echo /proc/device-tree/soc-nvdla/nvdla@*)

# soon COMMAND...: it succeeds within ten seconds: a probe may be put off.
soon() {
	for _ in $(seq 100); do
		"$@" && return 0
		sleep 0.1
	done
	echo "not so after 10 s: $*"
	return 1
}

has_node() {
	for node in /dev/accel/accel* /dev/dri/renderD*; do
		[ -c "$node" ] && return 0
	done
	return 1
}

# hand_over DRIVER: the PCI function gets another driver.
hand_over() {
	echo "$function" >"$pci/devices/$function/driver/unbind" || return 1
	echo "$1" >"$pci/devices/$function/driver_override" || return 1
	echo "$function" >"$pci/drivers_probe" || return 1
	[ "$(basename "$(readlink "$pci/devices/$function/driver")")" = "$1" ]
}

becomes_soc() {
	insmod "${0%/*}/nvdla_soc_glue.ko" && hand_over nvdla_soc_glue && soon test -e "$core" && soon has_node
}

becomes_pci() {
	hand_over nvdla && rmmod nvdla_soc_glue && soon has_node
}

says_how_it_recovers() {
	if [ -e "$tree/resets" ]; then
		grep -x reset "$core/recovery"
	else
		grep -x none "$core/recovery" && dmesg | grep 'nvdla-soc: no reset line'
	fi
}

has_its_interrupt() {
	grep 'nvdla-soc *[0-9]* Level *nvdla-soc' /proc/interrupts
}

# sleeps_and_wakes: its clocks with it.
sleeps_and_wakes() {
	echo on >"$core/power/control" && echo auto >"$core/power/control" || return 1
	[ -e "$tree/clocks" ] || return 0
	count=/sys/kernel/debug/clk/nvdla-soc-0/clk_enable_count
	soon grep -qx 0 "$count" && echo on >"$core/power/control" && grep -x 1 "$count" &&
		echo auto >"$core/power/control" && soon grep -qx 0 "$count"
}

# on_its_node COMMAND...: with the name of the device's node in $node.
on_its_node() {
	soon has_node && "$@"
}

computes() {
	soon has_node && "${0%/*}/${1:-double}" "$node"
}

# pool_place: the pool's first address and its size, in $first and $size.
pool_place() {
	# Two cells of address, two of size.
	cells=$(hexdump -v -e '1/1 "%02x"' /proc/device-tree/reserved-memory/buffer@*/reg)
	first=$((0x$(echo "$cells" | cut -c 1-16))) size=$((0x$(echo "$cells" | cut -c 17-32)))
}

# computes_in_the_pool: SDP's destination, in the group of registers that was used, lies in the pool.
computes_in_the_pool() {
	echo on >"$core/power/control" && computes || return 1
	pool_place
	used=0
	for address in $(sed -n 's/^0x0b048 = //p' /sys/kernel/debug/*/nvdla-soc/registers); do
		[ $((address)) -ne 0 ] || continue
		[ $((address)) -ge $first ] && [ $((address)) -lt $((first + size)) ] || { echo "$address is not in the pool"; return 1; }
		used=$((used + 1))
	done
	echo auto >"$core/power/control"
	[ $used -gt 0 ] || { echo "no register has an address"; return 1; }
}

# fills_the_pool: buffers come from nowhere else, and the pool has room again afterwards.
fills_the_pool() {
	pool_place
	soon has_node && "${0%/*}/fill" "$node" $size && "${0%/*}/fill" "$node" $size
}

# The job fails, whatever the core made of it.
hangs() {
	soon has_node || return 1
	had=$(failed_jobs)
	# Below "accel", or "dri" for a render node.
	order=$(echo /sys/kernel/debug/*/nvdla-soc/inject/lose_interrupt)
	echo 1 >"$order" || return 1
	"${0%/*}/double" "$node"
	[ "$(failed_jobs)" -gt "$had" ] || { echo "no job failed"; return 1; }
}

failed_jobs() {
	dmesg | grep -c 'nvdla-soc: .*job failed: -110'
}

is_reset_after_a_hang() {
	hangs && grep -x reset "$core/recovery" && computes
}

is_given_up_after_a_hang() {
	hangs && grep -x dead "$core/recovery" && dmesg | grep 'buffers of its job are never freed'
}

rebind() {
	echo nvdla-soc >"$driver/unbind" || return 1
	! has_node || { echo "$node is still there"; return 1; }
	echo nvdla-soc >"$driver/bind" && soon has_node
}

check "the node probes" becomes_soc
check "the driver says how the core recovers" says_how_it_recovers
check "the interrupt is the node's, a level" has_its_interrupt
check "the core sleeps and wakes" sleeps_and_wakes
check "the core computes" computes
[ ! -e "$tree/memory-region" ] || check "the core computes in the pool" computes_in_the_pool
if [ -e /proc/device-tree/reserved-memory/buffer@*/no-map ]; then
	check "a full pool refuses a buffer" fills_the_pool
	check "the core computes after that" computes
fi
[ ! -e "${0%/*}/double32" ] || check "a program of 32 bits has it compute" computes double32
if ! dmesg | grep -q 'nvdla-soc: .*nv_small'; then
	skip "LeNet reads a seven" "the network is for nv_small"
elif [ -d "$lenet" ]; then
	check "LeNet reads a seven" on_its_node reads_a_seven "$lenet"
else
	skip "LeNet reads a seven" "no reference data for nv_small"
fi
check "the core sleeps and wakes again" sleeps_and_wakes
check "the core computes after that" computes
check "the driver can be unbound from it and bound again" rebind
check "the core computes after that, too" computes
if [ -e "$tree/resets" ]; then
	check "a core that hangs is reset" is_reset_after_a_hang
else
	check "a core that hangs is given up" is_given_up_after_a_hang
	check "it can be bound again if it is idle" rebind
	check "then it computes" computes
fi
check "the core becomes a PCI function again" becomes_pci
done_testing
