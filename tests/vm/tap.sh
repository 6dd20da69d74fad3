# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For scripts that run in the guest: each check is one case of TAP.
#   . "${0%/*}/tap.sh"
#   check "what is true" COMMAND...
#   done_testing

_count=0
_failed=0

# check NAME COMMAND...: passes if the command succeeds; what it prints tells why not.
check() {
	_name=$1
	shift
	_count=$((_count + 1))
	if _said=$("$@" 2>&1); then
		echo "ok $_count - $_name"
	else
		echo "# $* failed with status $?"
		printf '%s\n' "$_said" | sed 's/^/# /'
		echo "not ok $_count - $_name"
		_failed=1
	fi
}

# skip NAME REASON
skip() {
	_count=$((_count + 1))
	echo "ok $_count - $1 # SKIP $2"
}

done_testing() {
	echo "1..$_count"
	exit "$_failed"
}
