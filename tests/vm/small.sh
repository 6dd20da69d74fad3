#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the functions are called by check
#
# The driver on another core, nv_small: it knows which one it is, and a network for that gives what hardware gives.
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/vm/node.sh
. "${0%/*}/node.sh"

data=${NVDLA_REFERENCE_DATA:-/nonexistent}/loadables
lenet=$data/nv_small/lenet_mnist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/vm/seven.sh
. "${0%/*}/seven.sh"

knows_its_core() {
	dmesg | grep 'nv_small, hardware version 0x303031'
}

# refused FILE SAID: what is for another core ends with that.
refused() {
	! nvdla-run --device "$node" "$data/$1" 2>"$work/said" && grep "$2" "$work/said"
}

check "the driver says which core it has" knows_its_core
if [ -d "$lenet" ]; then
	check "LeNet reads a seven" reads_a_seven "$lenet"
	check "a network for nv_large is refused by name" refused nv_large/convonly/nv_large_int8_default.nvdla 'the network is for nv_large, but the device'
else
	skip "loadables" "no reference data for nv_small"
fi
done_testing
