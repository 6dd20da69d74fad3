# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions for the shell scripts in scripts/: print progress with the elapsed time, print an error
# in one line, and install missing packages. All else is in the Python package "stack" beside this
# file. The system's Python runs the package, because another Python in PATH may lack modules that
# apt installed.

NVDLA_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
NVDLA_PYTHON=/usr/bin/python3
# Time at which the outermost script started, in seconds since 1970. Scripts that it calls inherit
# the variable.
export NVDLA_START=${NVDLA_START:-$(date +%s.%N)}

say() {
	local now
	now=$(date +%s.%N)
	awk -v a="$NVDLA_START" -v b="$now" -v text="$*" \
		'BEGIN { printf "[%6.1f s] %s\n", b - a, text }'
}

die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# missing_packages LIST...: the names in scripts/lib/packages.LIST that are not installed.
missing_packages() {
	local wanted
	mapfile -t wanted < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "${@/#/$NVDLA_ROOT/scripts/lib/packages.}")
	# dpkg-query does not list packages that it does not know, so these count as missing, too.
	comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
		<(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${wanted[@]}" 2>/dev/null |
			sed -n 's/^.i  *//p' | sort)
}

# is_known NAME: true if apt has the package in its lists; false for all names if the lists were never fetched.
is_known() {
	apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

# explain_apt LOG: read apt's output in the file LOG, and exit with an error that says why apt
# failed and what the user can do.
explain_apt() {
	local log=$1
	if grep -qE 'Temporary failure resolving|Could not resolve|Could not connect|Unable to connect|Network is unreachable' "$log"; then
		die "the Debian mirror cannot be reached: check the network (or the proxy in apt's configuration), then run this again; log: $log"
	elif grep -qiE 'No space left|not have enough (free )?space' "$log"; then
		die "no space left for the packages: free some (df -h / /var), then run this again; log: $log"
	elif grep -qE 'Could not get lock|Unable to acquire the dpkg' "$log"; then
		die "another program is using apt: wait until it is done, then run this again; log: $log"
	elif grep -qE 'Unable to locate package' "$log"; then
		die "$(sed -n 's/^E: //p' "$log" | head -n 1): this needs Debian 12 or newer with its main section enabled; log: $log"
	fi
	die "apt failed: $(sed -n 's/^E: //p' "$log" | head -n 1); log: $log"
}

# with_log LOG NAME COMMAND...: run the command with its output in LOG, whose last line is printed every ten seconds.
with_log() {
	local log=$1 what=$2 pid seconds=0
	shift 2
	"$@" >>"$log" 2>&1 </dev/null &
	pid=$!
	# shellcheck disable=SC2064 # expand $pid now
	trap "kill $pid 2>/dev/null || :; exit 130" INT TERM HUP
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		seconds=$((seconds + 1))
		[ $((seconds % 50)) -ne 0 ] || say "  $what: $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-90)"
	done
	trap - INT TERM HUP
	wait "$pid"
}

# ensure_packages USE...: install the packages for building (packages.debian) and those of each USE
# (packages.USE). It is no error if a package of "test" or "test-data" cannot be installed.
ensure_packages() {
	local use required=(debian) wished=() missing optional=''
	for use; do
		case $use in
		test*) wished+=("$use") ;;
		*) required+=("$use") ;;
		esac
	done
	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
		[ -x "$NVDLA_PYTHON" ] || die "$NVDLA_PYTHON is missing: install Python 3.11 or newer"
		command -v meson >/dev/null || die "meson is missing: this system has no apt, install what scripts/lib/packages.debian names by its own package manager"
		return 0
	fi
	missing=$(missing_packages "${required[@]}" | tr '\n' ' ')
	[ ${#wished[@]} -eq 0 ] || optional=$(missing_packages "${wished[@]}" | tr '\n' ' ')
	if [ -n "$optional" ] && is_known meson; then
		optional=$(without_unknown "$optional")
	fi
	if [ -n "$missing" ]; then
		install_packages "$missing" "$optional"
	elif [ -n "$optional" ]; then
		(install_packages '' "$optional") || say 'packages: going on without what only tests use'
	fi
}

# without_unknown NAMES: print those of NAMES (one argument, separated by spaces) that apt can
# install; name each of the others in a line on stderr.
without_unknown() {
	local name
	for name in $1; do
		if is_known "$name"; then
			printf '%s ' "$name"
		else
			say "packages: $name is not in this release: what needs it is skipped" >&2
		fi
	done
}

# install_packages REQUIRED OPTIONAL: install packages. Both arguments are names separated by
# spaces; OPTIONAL ones that apt does not know are left out.
install_packages() {
	local names="$1$2" log root=()
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			die "these packages are missing and sudo is not installed: run as root: apt-get install $names"
		say "packages: root rights are needed to install: $names"
		root=(sudo)
		sudo -v || die "no root rights: run as root: apt-get install $names"
	fi
	log=$(mktemp "${TMPDIR:-/tmp}/nvdla-apt.XXXXXX")
	say "packages: installing by apt: $names"
	with_log "$log" "apt-get update" "${root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update || explain_apt "$log"
	names="$1$(without_unknown "$2")"
	# shellcheck disable=SC2086 # a list of names
	with_log "$log" "apt-get install" "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 --no-install-recommends install $names || explain_apt "$log"
	rm -f "$log"
	say "packages: done"
}

# mounts_remedy REASON: print why programs cannot have private mounts on this system, and the
# command that allows them. REASON is the error message of unshare.
mounts_remedy() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "this system lets users make no namespaces ($1): run this as root, or before it:" \
			"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1"
	elif [[ $1 == *propagation* ]]; then
		echo "root can make no private mounts in this chroot, because its root folder is no mount point ($1):" \
			"leave the chroot and enter it again with: mount --rbind FOLDER FOLDER && chroot FOLDER"
	else
		echo "root can make no private mounts here ($1): start the container with docker run --privileged" \
			"(CAP_SYS_ADMIN)"
	fi
}

# require_mounts: exit with an error if the guest will need private mounts and this system allows none.
require_mounts() {
	local said
	# The mounts are for programs of a folder of unpacked Debian packages, among them QEMU. With a QEMU of
	# its own the machine may not need that folder: the Python package decides later.
	case ${NVDLA_GUEST:-auto} in
	host) return 0 ;;
	auto) ! command -v qemu-system-x86_64 >/dev/null || return 0 ;;
	esac
	if [ "$(id -u)" -eq 0 ] && said=$(LC_ALL=C unshare --mount true 2>&1); then
		return 0
	fi
	# If this script runs as root, report the reason why root could not mount, not that of this
	# second attempt.
	LC_ALL=C unshare --user --map-root-user --mount true >/dev/null 2>&1 ||
		die "$(mounts_remedy "${said:-$(LC_ALL=C unshare --user --mount true 2>&1)}")
what works without: scripts/run --device embedded"
}

# asks_for_help ARGUMENT...: true if --help is among the options before the first argument that is
# not an option. A later --help may belong to a command that the script is to run.
asks_for_help() {
	local word
	for word; do
		case $word in
		-h | --help) return 0 ;;
		-- | [!-]* | '') return 1 ;;
		esac
	done
	return 1
}

# run_stack MODULE [USE...] -- ARGUMENT...: run one module of the Python package as a program, after
# installing the packages of the USEs. If one is "vm", mounts must be possible. With --help nothing is
# installed, unless Python is missing.
run_stack() {
	local module=$1 uses=()
	shift
	while [ "$1" != -- ]; do
		uses+=("$1")
		shift
	done
	shift
	if ! asks_for_help "$@" || [ ! -x "$NVDLA_PYTHON" ]; then
		case " ${uses[*]} " in
		*' vm '*) require_mounts ;;
		esac
		ensure_packages "${uses[@]}"
	fi
	exec_stack "$module" "$@"
}

# exec_stack MODULE ARGUMENT...: replace this shell by one module of the Python package, run as a program.
exec_stack() {
	local module=$1
	shift
	export PYTHONPATH="$NVDLA_ROOT/scripts/lib${PYTHONPATH:+:$PYTHONPATH}"
	export PYTHONDONTWRITEBYTECODE=1
	exec "$NVDLA_PYTHON" -m "stack.$module" "$@"
}
