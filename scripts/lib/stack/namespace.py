# SPDX-License-Identifier: MIT
"""Runs a program inside of an unpacked tree (chroot), with the folders that it needs mounted there.

The mounts are in a mount namespace of their own. It ends with its last process, so no mount is left however the run
ends.
"""

import os
import subprocess
from pathlib import Path

from .console import Failure
from .paths import COMMON, cache_dir

class Refused(Failure):
	"""This system lets this process make no mounts of its own."""


# Mount point of ccache's cache inside of the tree.
_CCACHE = Path('/tmp/ccache')

_SCRIPT = '''set -eu
root=$1; shift
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
while [ "$1" != -- ]; do
	mkdir -p "$root$2"
	mount --bind "$1" "$root$2"
	shift 2
done
shift
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C "$@"
'''


def inside(root, folders, argv, owners=False):
	"""Return the command that runs @argv inside of the tree @root, with the host's /proc and /dev.

	@folders: {path on the host: mount point in the tree}. Mount points below /tmp are made; others must exist in
	the tree. @owners: see prefix().
	"""
	pairs = [str(path) for pair in folders.items() for path in pair]
	return [*prefix(owners), 'sh', '-c', _SCRIPT, 'sh', str(root), *pairs, '--', *map(str, argv)]


def prefix(owners=False):
	"""Return words to put before a command, so that it runs as root with mounts of its own: as the real root, or as
	root of a user namespace.

	@owners: files may belong to other users than root, as in an installed system.
	"""
	prefixes = [['unshare', '--user', '--map-root-user', *(['--map-auto'] if owners else []), '--mount']]
	if os.geteuid() == 0:
		prefixes.insert(0, ['unshare', '--mount'])
	refusals = []
	for prefix in prefixes:
		try:
			tried = subprocess.run([*prefix, 'true'], capture_output=True, text=True)
		except FileNotFoundError:
			raise Failure('unshare is missing: apt-get install util-linux') from None
		if tried.returncode == 0:
			return prefix
		refusals.append(tried.stderr.strip())
	reason = refusals[0]
	if owners and 'uid' in reason:
		raise Failure(f'this user has no further user numbers for a namespace ({reason}): run as '
			      'root, or apt-get install uidmap and give the user a range in /etc/subuid and /etc/subgid')
	raise Refused(subprocess.run(['bash', '-c', '. "$1"; mounts_remedy "$2"', 'bash', COMMON, reason],
				     capture_output=True, text=True, check=True).stdout.strip())


def compiler_cache():
	"""Return (folders for inside(), variables for the program env), with which compilers inside of a tree use the
	cache of ccache that all trees share."""
	folder = cache_dir() / 'ccache'
	folder.mkdir(parents=True, exist_ok=True)
	return {folder: _CCACHE}, [f'CCACHE_DIR={_CCACHE}']
