# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For scripts that run in the guest: the driver's node, and what there is of its device in sysfs and debugfs. A kernel that
# has no accel nodes makes render nodes.
for node in /dev/accel/accel0 /dev/dri/renderD*; do
	[ ! -c "$node" ] || break
done
device=$(readlink -f /sys/class/*/"${node##*/}"/device)
debug=$(echo /sys/kernel/debug/*/"${device##*/}")
