# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For scripts that run in the guest.

# reads_a_seven FOLDER: LeNet, compiled for nv_small, reads a picture of a seven: 0 2 0 0 0 0 0 124 0 0, behind which the
# tensor is padded. $node is the device, $work takes files.
reads_a_seven() {
	nvdla-run --device "$node" --loadable "$1/lenet_mnist.nvdla" --repeat 5 --input "$1/seven.pgm" --output "$work/prob.raw" &&
		printf '\0\002\0\0\0\0\0\174\0\0\0\0\0\0\0\0' | cmp - "$work/prob.raw"
}
