#!/bin/sh
# SPDX-License-Identifier: MIT
#
# shellcheck disable=SC2317 # the functions are called by check
#
# The driver is bound to the device model's PCI function, and comes and goes cleanly.
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/vm/node.sh
. "${0%/*}/node.sh"

driver=/sys/bus/pci/drivers/nvdla

function_of_driver() {
	for entry in "$driver"/0000:*; do
		[ -e "$entry" ] && echo "$entry" && return
	done
	echo "no PCI function is bound to $driver" >&2
	return 1
}

has_class() {
	class=$(cat "$(function_of_driver)/class")
	[ "$class" = 0x120000 ] || { echo "the class is $class"; return 1; }
}

reload() {
	rmmod nvdla || return 1
	[ ! -e "$node" ] || { echo "$node is still there"; return 1; }
	insmod "/lib/modules/$(uname -r)/nvdla.ko" || return 1
	[ -c "$node" ] || { echo "$node did not come back"; return 1; }
}

rebind() {
	address=$(basename "$(function_of_driver)")
	echo "$address" >"$driver/unbind" || return 1
	[ ! -e "$node" ] || { echo "$node is still there"; return 1; }
	echo "$address" >"$driver/bind" || return 1
	[ -c "$node" ] || { echo "$node did not come back"; return 1; }
}

check "the accel node is a character device" test -c "$node"
check "the driver is bound to a PCI function" function_of_driver
check "the function is a processing accelerator" has_class
check "the module can be unloaded and loaded again" reload
check "the driver can be unbound and bound again" rebind
done_testing
