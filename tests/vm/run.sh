#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run in the guest: every test of the plan given, in the shared folder. For each it leaves
# NAME.log (what it printed), NAME.status (its exit status and the seconds it took) and,
# if it is GoogleTest's, NAME.xml. After its time a test is killed, which is status 137.
set -u
# What tests of the runtime are to run on, which without it is the embedded device.
# shellcheck source=tests/vm/node.sh
. "${0%/*}/node.sh"
export NVDLA_DEVICE="$node"
# Where examples are that tests read.
export NVDLA_EXAMPLES=/usr/libexec/nvdla

while read -r name kind seconds program arguments; do
	output="$PWD/$name"
	case $kind in
	gtest) arguments="$arguments --gtest_output=xml:$output.xml" ;;
	esac
	began=$(cut -d . -f 1 /proc/uptime)
	# By its path, because a GoogleTest program with death tests starts itself again.
	program=$(command -v "$program" || echo "$program")
	# shellcheck disable=SC2086 # a list of words
	timeout -s KILL "$seconds" "$program" $arguments >"$output.log" 2>&1 </dev/null
	status=$?
	echo "$status $(($(cut -d . -f 1 /proc/uptime) - began))" >"$output.status"
	echo "$name: status $status"
done <"$1"
