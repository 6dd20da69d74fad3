# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions for the shell scripts in scripts/: print progress with the elapsed time, print an error
# in one line, and install missing packages. All else is in the Python package "stack" beside this
# file. The system's Python runs the package, because another Python in PATH may lack modules that
# apt installed.

NVDLA_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
NVDLA_PYTHON=/usr/bin/python3
# Name of the script, with which its errors begin, as those of the Python package do.
NVDLA_SCRIPT=scripts/${0##*/}
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
	printf '%s: %s\n' "$NVDLA_SCRIPT" "$*" >&2
	exit 1
}

# listed LIST...: print the names of the packages in scripts/lib/packages.LIST: the first word of each line.
listed() {
	sed -e 's/#.*//' "${@/#/$NVDLA_ROOT/scripts/lib/packages.}" | awk 'NF { print $1 }'
}

# not_installed NAME...: print those of the packages that are not installed.
not_installed() {
	[ $# -ne 0 ] || return 0
	# dpkg-query does not list packages that it does not know, so these count as missing, too.
	comm -23 <(printf '%s\n' "$@" | sort) \
		<(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null |
			sed -n 's/^.i  *//p' | sort)
}

# known NAME...: print those of the packages that apt has in its lists; none if the lists were never fetched.
# All names are in one call, because apt-cache reads the lists in each call.
known() {
	{ apt-cache show --no-all-versions "$@" 2>/dev/null || :; } | sed -n 's/^Package: //p'
}

# few NAME...: print the first three names, and the number of the other names.
few() {
	local rest=$(($# - 3))
	[ "$rest" -gt 0 ] || rest=0
	printf '%s' "${*:1:3}"
	[ "$rest" -eq 0 ] || printf ' and %s more' "$rest"
}

# explain_apt LOG NAME...: read apt's output in the file LOG, and exit with an error that says which
# packages are missing, why apt failed and what the user can do.
explain_apt() {
	local log=$1 what
	shift
	what="packages cannot be installed ($(few "$@"))"
	if grep -qE 'Temporary failure resolving|Could not resolve|Could not connect|Unable to connect|Network is unreachable' "$log"; then
		die "$what: the Debian mirror cannot be reached: check the network (or the proxy in apt's configuration), then run this again; log: $log"
	elif grep -qiE 'No space left|not have enough (free )?space' "$log"; then
		die "$what: no space left for them: free some (df -h / /var), then run this again; log: $log"
	elif grep -qE '^E: (Could not get lock|Unable to acquire the dpkg)' "$log"; then
		die "$what: $(lock_holder "$log") is using apt: wait until it is done, then run this again; log: $log"
	elif grep -qE '^E: .* is expired' "$log"; then
		die "$what: $(apt_error "$log"): name another mirror in apt's configuration, or allow an old one: echo 'Acquire::Check-Valid-Until \"false\";' >/etc/apt/apt.conf.d/old-mirror; log: $log"
	elif grep -qE 'Unable to locate package' "$log"; then
		die "$what: $(apt_error "$log"): this needs Debian 12 or newer with its main section enabled; log: $log"
	fi
	die "$what: apt failed: $(apt_error "$log"); what to do by hand: apt-get update, then apt-get install of what is missing; log: $log"
}

# apt_error LOG: print apt's first error.
apt_error() {
	sed -n 's/^E: //p' "$1" | head -n 1
}

# lock_holder LOG: print the process that holds dpkg's lock, as apt names it: "process 123 (apt-get)".
lock_holder() {
	local holder
	holder=$(sed -n 's/.*It is held by \(process [0-9]*\( ([^)]*)\)\?\).*/\1/p' "$1" | tail -n 1)
	printf '%s' "${holder:-another program}"
}

# with_log LOG NAME COMMAND...: run the command with its output in LOG. Every ten seconds, print the log's last
# line. While the command waits for another program that uses apt, name this program: once, then every 30 seconds.
with_log() {
	local log=$1 what=$2 pid last told=$SECONDS named=$((SECONDS - 30))
	shift 2
	"$@" >>"$log" 2>&1 </dev/null &
	pid=$!
	# shellcheck disable=SC2064 # expand $pid now
	trap "kill $pid 2>/dev/null || :; exit 130" INT TERM HUP
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		last=$(tail -n 1 "$log" | tr -d '\r')
		if [[ $last == *'It is held by'* ]]; then
			[ $((SECONDS - named)) -lt 30 ] || {
				named=$SECONDS
				say "  $what: waits for $(lock_holder "$log"), which is using apt"
			}
		elif [ $((SECONDS - told)) -ge 10 ]; then
			told=$SECONDS
			say "  $what: ${last:0:90}"
		fi
	done
	trap - INT TERM HUP
	wait "$pid"
}

# has_apt: true if this system installs packages by apt and dpkg.
has_apt() {
	command -v apt-get >/dev/null && command -v dpkg-query >/dev/null
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
	if ! has_apt; then
		[ -x "$NVDLA_PYTHON" ] || die "$NVDLA_PYTHON is missing: install Python 3.11 or newer"
		command -v meson >/dev/null || die "meson is missing: this system has no apt, install what scripts/lib/packages.debian names by its own package manager"
		return 0
	fi
	# shellcheck disable=SC2046 # lists of names
	missing=$(not_installed $(listed "${required[@]}") | tr '\n' ' ')
	# shellcheck disable=SC2046
	[ ${#wished[@]} -eq 0 ] || optional=$(wished_names $(listed "${wished[@]}"))
	if [ -n "$missing" ]; then
		install_packages "$missing" "$optional"
	else
		install_wished "$optional"
	fi
}

# ensure_wished NAME...: install those of the packages that are missing. It is no error if one cannot be installed.
ensure_wished() {
	! has_apt || install_wished "$(wished_names "$@")"
}

# wished_names NAME...: print in one line those of the packages that are missing and that apt can install.
wished_names() {
	local names
	names=$(not_installed "$@" | tr '\n' ' ')
	if [ -n "$names" ] && [ -n "$(known meson)" ]; then
		names=$(without_unknown "$names")
	fi
	printf '%s' "$names"
}

# install_wished NAMES: install the packages (one argument, separated by spaces), or say what is left out.
install_wished() {
	[ -z "$1" ] || (install_packages '' "$1") ||
		say "packages: going on without what only tests use; tests that need a missing package are skipped"
}

# without_unknown NAMES: print those of NAMES (one argument, separated by spaces) that apt can
# install; name each of the others in a line on stderr.
without_unknown() {
	local name names
	[ -n "$1" ] || return 0
	# shellcheck disable=SC2086 # a list of names
	names=" $(known $1 | tr '\n' ' ')"
	for name in $1; do
		if [[ $names == *" $name "* ]]; then
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
	# shellcheck disable=SC2086 # a list of names
	with_log "$log" "apt-get update" "${root[@]}" env LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 update ||
		explain_apt "$log" $names
	names="$1$(without_unknown "$2")"
	# shellcheck disable=SC2086 # a list of names
	with_log "$log" "apt-get install" "${root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 --no-install-recommends install $names || explain_apt "$log" $names
	rm -f "$log"
	say "packages: done"
}

# mounts_remedy REASON: print why programs cannot have private mounts on this system, and the
# command that allows them. REASON is the error message of unshare.
mounts_remedy() {
	if [ "$(id -u)" -ne 0 ]; then
		local setting settings=()
		# Only some kernels have these settings. In a chroot the kernel refuses whatever their values are.
		# NVDLA_SYSCTL is for tests: a folder in place of /proc/sys.
		for setting in apparmor_restrict_unprivileged_userns=0 unprivileged_userns_clone=1; do
			[ ! -e "${NVDLA_SYSCTL:-/proc/sys}/kernel/${setting%=*}" ] || settings+=("kernel.$setting")
		done
		echo "this system lets users make no namespaces ($1): run this as root, outside of a chroot" \
			"or with its root folder as a mount point${settings[*]:+, or before it: sudo sysctl -w ${settings[*]}}"
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
	# The mounts are for programs of a folder of unpacked Debian packages, among them QEMU. A machine with its
	# own QEMU may not need that folder: the Python package decides later.
	case ${NVDLA_GUEST:-auto} in
	host) return 0 ;;
	auto) ! command -v qemu-system-x86_64 >/dev/null || return 0 ;;
	esac
	if [ "$(id -u)" -eq 0 ] && said=$(LC_ALL=C unshare --mount true 2>&1); then
		return 0
	fi
	# If this script runs as root, report the reason why root could not mount, not the reason
	# of this second attempt.
	LC_ALL=C unshare --user --map-root-user --mount true >/dev/null 2>&1 ||
		die "$(mounts_remedy "${said:-$(LC_ALL=C unshare --user --mount true 2>&1)}")
what works without: scripts/run --device embedded"
}

# asks_for_help ARGUMENT...: true if --help or --version is among the options before the first argument that is
# not an option. A later --help may belong to a command that the script is to run.
asks_for_help() {
	local word
	for word; do
		case $word in
		-h | --help) return 0 ;;
		# "scripts/package --version VERSION" makes packages of this version.
		--version) [ "$NVDLA_SCRIPT" = scripts/package ] || return 0 ;;
		-- | [!-]* | '') return 1 ;;
		esac
	done
	return 1
}

# run_stack MODULE [USE...] -- ARGUMENT...: run one module of the Python package as a program, after
# installing the packages of the USEs. If one is "vm", mounts must be possible, except for scripts/setup, which then
# makes no guest tree. With --help or --version nothing is
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
		*' vm '*) [ "$module" = setup ] || require_mounts ;;
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
