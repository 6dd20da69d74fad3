#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run at each start of an installed Debian 13: installs the packages, and after a reboot uses,
# upgrades and purges them. The folder it is in is shared with the host and has the repositories
# of two versions, a network, its input and its output, and models.
share=${0%/*}
boot=$(($(cat "$share/boot" 2>/dev/null || echo 0) + 1))
echo "$boot" >"$share/boot"
exec >"$share/tap-$boot" 2>"$share/errors-$boot"
# shellcheck source=tests/vm/tap.sh
. "$share/tap.sh"

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
packages='nvdla-dkms nvdla-tools nvdla-sim libnvdla0 libnvdla-dev nvdla-host-onnx python3-nvdla'
device=/dev/accel/accel0

# take_from FOLDER: make it the only place that apt takes packages from.
take_from() {
	echo "deb [trusted=yes] file:$share/$1 ./" >/etc/apt/sources.list
	rm -f /etc/apt/sources.list.d/*
	apt-get -q update
}

# Every file of the system but for what package managers, logs and the module index write down.
files() {
	find / -xdev \( -path /var/log -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg \
		-o -path "/var/lib/dkms/mok.*" -o -path /tmp -o -path /root -o -path /home -o -path /var/lib/systemd -o -path /var/tmp \) -prune \
		-o ! -path '/lib/modules/*/modules.*' ! -path '/usr/lib/modules/*/modules.*' -print | sort
}

infer() {
	rm -f /tmp/output.dimg
	runuser -u "$1" -- nvdla-run --device "$device" --loadable "$share/net.nvdla" \
		--input "$share/input.ppm" --output /tmp/output.dimg &&
		cmp /tmp/output.dimg "$share/expected.dimg"
}

is_refused() {
	said=$(infer stranger 2>&1) && return 1
	echo "$said"
	echo "$said" | grep -q 'Permission denied'
}

is_signed() {
	modinfo nvdla && [ -n "$(modinfo -F signer nvdla)" ]
}

# only_version FOLDER: DKMS has the driver of that repository, and no other, for this kernel.
only_version() {
	version=$(sed -n '/^Package: nvdla-dkms$/,/^$/s/^Version: //p' "$share/$1/Packages")
	# Asking takes seconds on an emulated processor.
	known=$(dkms status nvdla)
	echo "$known"
	[ "$known" = "nvdla/$version, $(uname -r), $(uname -m): installed" ] && [ "$(ls -d /usr/src/nvdla-*)" = "/usr/src/nvdla-$version" ]
}

first_boot() {
	useradd --create-home --groups render member
	useradd --create-home stranger
	if [ -f "$share/make.sh" ]; then
		install -m 755 "$share/make.sh" /usr/local/bin/make
		# apt starts dpkg, and so DKMS, without /usr/local in the path.
		echo 'DPkg::Path "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";' >/etc/apt/apt.conf.d/90path
	fi
	# The system's own rule for such devices would do as well: the packages' one has to.
	sed '/SUBSYSTEM=="accel"/d' /usr/lib/udev/rules.d/50-udev-default.rules >/etc/udev/rules.d/50-udev-default.rules
	files >/root/before
	check "apt reads the repository" take_from repository
	# shellcheck disable=SC2086 # a list of names
	check "apt installs the packages" apt-get -q -y install $packages
	check "DKMS built and installed the driver" only_version repository
	check "the driver is signed" is_signed
	check "pkg-config finds the library" pkg-config --cflags --libs nvdla
	sync
	(done_testing)
	systemctl reboot
}

# Ends when it is told to, and not because of what happens to the driver's files; check runs what
# asks for its status in another shell, hence the file.
work() {
	status=0
	while [ ! -e /tmp/enough ] && [ "$status" = 0 ]; do
		infer member || status=$?
		# The emulated processors are busy enough.
		sleep 2
	done
	echo "$status" >/tmp/work.new
	mv /tmp/work.new /tmp/work.status
}

# The open file keeps the driver in use all the time, the jobs keep it busy.
use() {
	runuser -u member -- sleep infinity <"$device" &
	holder=$!
	work >/tmp/work.log 2>&1 &
}

stop_using() {
	: >/tmp/enough
	kill "$holder"
	# runuser goes on for two seconds, and has the device open meanwhile.
	until [ -f /tmp/work.status ] && [ ! -e "/proc/$holder/fd/0" ]; do
		sleep 0.2
	done
	cat /tmp/work.log
	[ "$(cat /tmp/work.status)" = 0 ]
}

reload() {
	modprobe -r nvdla && modprobe nvdla && udevadm settle --timeout=900 && infer member
}

nothing_is_left() {
	files >/root/after
	diff /root/before /root/after && [ -z "$(dkms status nvdla)" ] &&
		! dpkg-query -W -f '${Package}\n' '*nvdla*' 2>/dev/null && ! modinfo nvdla
}

second_boot() {
	udevadm settle --timeout=900
	check "the driver is loaded at boot" test -c "$device"
	check "the packages' rule gives the device to the group" test "$(stat -c '%U:%G %a' "$device")" = 'root:render 660'
	check "a member of render gets the right bytes" infer member
	check "who is not in render is refused" is_refused
	check "Python compiles a model and runs it" runuser -u member -- python3 "$share/digits.py" "$device" "$share"
	check "ONNX Runtime computes what the core cannot" runuser -u member -- python3 "$share/host.py" "$device" "$share"
	use
	check "apt reads the next version's repository" take_from next
	check "apt upgrades while the driver is in use" apt-get -q -y upgrade
	check "every job went on meanwhile" stop_using
	check "DKMS has the new version only" only_version next
	check "the driver is signed again" is_signed
	check "the new driver takes the old one's place" reload
	# shellcheck disable=SC2086 # a list of names
	check "apt purges the packages" apt-get -q -y purge $packages
	# modprobe would look for its file, which is gone.
	check "the driver can be unloaded" rmmod nvdla
	check "nothing is left" nothing_is_left
	(done_testing)
	systemctl poweroff
}

case $boot in
1) first_boot ;;
2) second_boot ;;
*) systemctl poweroff ;;
esac
