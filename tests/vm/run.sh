#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run in the guest: every test of the plan given, in the shared folder. For each it leaves
# NAME.log (what it printed), NAME.status (how it ended) and, if it is GoogleTest's,
# NAME.xml. Status 137 means it was killed for taking too long.
set -u

while read -r name kind seconds program arguments; do
	output="$PWD/$name"
	case $kind in
	gtest) arguments="--gtest_output=xml:$output.xml $arguments" ;;
	esac
	# shellcheck disable=SC2086 # a list of words
	timeout -s KILL "$seconds" "$program" $arguments >"$output.log" 2>&1 </dev/null
	status=$?
	echo "$status" >"$output.status"
	echo "$name: status $status"
done <"$1"
