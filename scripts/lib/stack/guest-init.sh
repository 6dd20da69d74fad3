#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# init, the first process of the guest, and its only service: it prepares the machine, loads the
# driver, runs one command (or a shell), reports the result to the host and powers off. Its settings
# are in /etc/vm.conf. It talks to the host through virtio ports named nvdla.*, so that the
# command's output never mixes with the kernel's.

/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin HOME=/root TERM="${TERM:-linux}" LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
# Leave the names of tasks out of traces: to record them, the kernel patches its scheduler while it
# runs, and an emulated processor may still execute the old instructions.
echo 0 2>/dev/null >/sys/kernel/tracing/options/record-cmd
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr
chmod 1777 /tmp /dev/shm
ip link set lo up 2>/dev/null

load_driver=no device=no debugger=no user=no driver_parameters='' directory=/ size=''
# shellcheck source=/dev/null
. /etc/vm.conf

# This script prefers the shell's builtins, because starting a process takes milliseconds on an
# emulated processor.

# port NAME: print the path of the virtio port nvdla.NAME, or /dev/null without one.
port() {
	for entry in /sys/class/virtio-ports/*; do
		name=
		read -r name 2>/dev/null <"$entry/name"
		if [ "$name" = "nvdla.$1" ]; then
			echo "/dev/${entry##*/}"
			return
		fi
	done
	echo /dev/null
}

modules=/lib/modules/$(uname -r)
# If the virtio ports are behind an IOMMU, they appear some time after the IOMMU's driver was
# loaded.
[ ! -f "$modules/virtio_iommu.ko" ] || insmod "$modules/virtio_iommu.ko"
tries=0
while [ "$(port control)" = /dev/null ] && [ $tries -lt 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
exec 9>"$(port control)"
tell() {
	echo "$*" >&9
}
tell init

# leaks WHEN: report memory to which no pointer is left, if the kernel has kmemleak (kmemleak=on).
leaks() {
	[ -e /sys/kernel/debug/kmemleak ] || return 0
	# kmemleak does not report objects younger than five seconds: their only address may be in a register.
	sleep 6
	# Scan twice: kmemleak reports an object only if its contents are the same as in the scan
	# before.
	for _ in 1 2; do
		echo scan >/sys/kernel/debug/kmemleak || return 0
	done
	found=$(cat /sys/kernel/debug/kmemleak)
	[ -n "$found" ] || return 0
	tell "problem memory leaks $1: see the end of the kernel's log"
	echo "$found" | while read -r line; do
		echo "kmemleak: $line" >/dev/kmsg
	done
	echo clear >/sys/kernel/debug/kmemleak
}

finish() {
	leaks "while the driver was loaded"
	# Unload the driver: failing to unload, or a kernel message while it unloads, is a bug of the driver.
	if [ -d /sys/module/nvdla ] && ! rmmod nvdla 2>/tmp/rmmod; then
		tell "problem nvdla.ko cannot be unloaded: $(cat /tmp/rmmod)"
	fi
	leaks "after it was unloaded"
	# The kernel stops checking locks after the first report of a lock error, and after any other report that
	# taints it.
	if [ -e /proc/lockdep_stats ] && ! grep -q 'debug_locks: *1$' /proc/lockdep_stats; then
		tell "problem lock checking switched itself off: everything after that went unchecked"
	fi
	# cat, because the shell's own read asks for single bytes, and a file of /proc/sys returns
	# only its first byte.
	tell "tainted $(cat /proc/sys/kernel/tainted)"
	dmesg >"$(port kernel)"
	tell "end"
	exec 9>&-
	poweroff -f
}

give_up() {
	tell "failure $*"
	finish
}

load() {
	[ -f "$1" ] || return 0
	while read -r name; do
		[ -d "/sys/module/$name" ] || insmod "$modules/$name.ko" 2>/tmp/insmod ||
			give_up "$name.ko cannot be loaded: $(cat /tmp/insmod)"
	done <"$1"
}

load "$modules/order"

index=0
while eval "folder=\${mount_$index:-}" && [ -n "$folder" ]; do
	mkdir -p "$folder"
	mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144,cache=mmap" "mount$index" "$folder" ||
		give_up "the shared folder $folder cannot be mounted"
	index=$((index + 1))
done

# wait_for_debugger: tell the host the addresses of the driver's sections, and bind the driver when the host says that a
# debugger is connected.
wait_for_debugger() {
	# grep, because the shell's own read asks for single bytes, and these files return only
	# their first byte.
	(cd /sys/module/nvdla/sections && grep . .[!.]*) | while IFS=: read -r section address; do
		tell "section $section $address"
	done
	tell "debugger"
	read -r _ <"$(port input)"
	echo 1 >/sys/bus/pci/drivers_autoprobe
	for function in /sys/bus/pci/devices/*; do
		[ -e "$function/driver" ] || echo "${function##*/}" >/sys/bus/pci/drivers_probe
	done
}

if [ -f "$modules/nvdla.ko" ]; then
	load "$modules/nvdla.order"
	if [ "$load_driver" = yes ]; then
		[ "$debugger" = no ] || echo 0 >/sys/bus/pci/drivers_autoprobe
		# shellcheck disable=SC2086 # module parameters
		insmod "$modules/nvdla.ko" $driver_parameters 2>/tmp/insmod ||
			give_up "nvdla.ko cannot be loaded: $(cat /tmp/insmod)"
		[ "$debugger" = no ] || wait_for_debugger
		if [ "$device" = yes ]; then
			node=/dev/accel/accel
			# Kernels without accel nodes have a render node instead.
			[ -d /sys/class/accel ] || node=/dev/dri/renderD
			ls "$node"* >/dev/null 2>&1 ||
				give_up "nvdla.ko was loaded and made no ${node}N"
			# Let the group "render" use the device, as the udev rule of the Debian
			# package does (scripts/debian/nvdla-tools.udev).
			chgrp render "$node"*
			chmod 660 "$node"*
		fi
	fi
fi
read -r uptime _ </proc/uptime
tell "ready $uptime"

out='' err='' # processes that copy the command's output

# leftovers: kill the processes that the command or the shell left running. The status is false if
# there are none.
leftovers() {
	some=1
	for entry in /proc/[0-9]*; do
		pid=${entry#/proc/}
		case $pid in
		1 | "$out" | "$err") ;;
		# Kernel threads and ended processes have no /proc/PID/exe.
		*) [ ! -e "$entry/exe" ] || { kill -9 "$pid" 2>/dev/null && some=0; } ;;
		esac
	done
	return $some
}

# end_leftovers: kill such processes and wait until they have ended, because they keep the driver and
# the pipes in use.
end_leftovers() {
	tries=0
	while leftovers && [ $tries -lt 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}

if [ ! -f /etc/vm.command ]; then
	cd "$directory" || cd /
	# shellcheck disable=SC2086 # two settings
	[ -z "$size" ] || stty -F /dev/hvc0 $size
	printf 'nvdla guest, Linux %s; "exit" powers it off.\n' "$(uname -r)" >/dev/hvc0
	export PS1='nvdla guest:\w\$ '
	shell='sh -l'
	if [ "$user" = yes ]; then
		chown user /dev/hvc0
		shell='su user'
	fi
	setsid sh -c "exec $shell </dev/hvc0 >/dev/hvc0 2>&1"
	tell "exit 0"
	end_leftovers
	finish
fi

# A virtio port can be opened only once, but a program may open /dev/stderr again. So the command
# writes to pipes.
mkfifo -m 666 /run/stdout /run/stderr
cat /run/stdout >"$(port stdout)" &
out=$!
cat /run/stderr >"$(port stderr)" &
err=$!
(
	exec 9>&-
	cd "$directory" || exit 125
	[ "$user" = no ] || exec setsid su user -c '. /etc/vm.command' </dev/null
	exec setsid sh /etc/vm.command </dev/null
) >/run/stdout 2>/run/stderr
tell "exit $?"

end_leftovers
wait
finish
