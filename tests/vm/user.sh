#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the functions are called by check
#
# An ordinary user, "user", who is in the group "render": may run networks, and nothing that
# concerns others. "nobody" is not in the group.
# shellcheck source=tests/vm/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/vm/node.sh
. "${0%/*}/node.sh"

picture=${0%/*}/picture.png
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 777 "$work"
# Tests before this one may have made the node anew, and nobody here gives it to the group then.
chgrp render "$node" && chmod 660 "$node"

# edges USER DEVICE NAME: the example on the example picture.
edges() {
	su "$1" -c "nvdla-edges --device $2 --input $picture --output $work/$3.png"
}

is_member() {
	su user -c 'id -un' | grep -x user && su user -c 'id -Gn' | grep -w render
}

inference_works() {
	edges user "$node" user && edges root embedded root && cmp "$work/user.png" "$work/root.png"
}

# refused USER WORD COMMAND: fails as that user, and says WORD.
refused() {
	if said=$(su "$1" -c "$3" 2>&1); then
		echo "it succeeded: $said"
		return 1
	fi
	case $said in
	*"$2"*) ;;
	*) echo "no word of $2: $said"; return 1 ;;
	esac
}

# The files are there, and root may.
root_may() {
	enable=$device/counters/enable
	echo 1 >"$enable" && [ "$(cat "$enable")" = 1 ] && echo 0 >"$enable" && echo 1 >"$device/counters/reset" &&
		cat "$device/counters_conv/operations" && echo 1 >"$debug/reset"
}

check "the user is one of the group" is_member
check "the user's inference gives the bytes that root's gives" inference_works
check "root may write the driver's files" root_may
for file in counters/enable counters/reset power/control driver/unbind; do
	check "the user may not write $file" refused user 'ermission denied' "echo 1 >$device/$file"
done
check "the user may not read counters of everybody's jobs" \
	refused user 'ermission denied' "cat $device/counters_conv/operations"
check "nvdla-top says that the counters are for root" refused user 'as root' 'nvdla-top --once'
check "the user may not reset the core" refused user 'ermission denied' "echo 1 >$debug/reset"
check "the user may not see the core's registers" refused user 'ermission denied' "cat $debug/registers"
check "the user's inference works after that" inference_works
check "who is not in the group is told of it" refused nobody 'adduser USER render' \
	"nvdla-edges --device $node --input $picture --output $work/none.png"
done_testing
