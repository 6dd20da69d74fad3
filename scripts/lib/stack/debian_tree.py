# SPDX-License-Identifier: MIT
"""Installed Debian systems in folders, made once and cached.

Unlike in the guest tree, whose packages are only unpacked, every package is configured: dpkg knows the
installed packages, and can install more. Files in such a system belong to several users, so making one takes
root, or a user namespace with a range of user IDs.
"""

import hashlib
import os
import shutil

from . import archive, guest_tree, namespace, processes
from .console import Failure
from .paths import cache_dir

# Debian releases for which this project's packages are made: {number: code name}.
SUITES = {12: 'bookworm', 13: 'trixie'}
# Version of the steps below, as a part of a tree's name: raise it when the steps change, so that new trees are made.
_FORMAT = '1'
_SPACE = 2 << 30
# Configuration of dpkg in the tree. force-unsafe-io: dpkg does not wait for the disk after each file, because a tree
# that a crash left incomplete is deleted anyway. path-exclude: mmdebstrap has an option for this, too, but takes
# longer, because it filters the contents of every package itself.
_DPKG_OPTIONS = (r'mkdir -p "$1/etc/dpkg/dpkg.cfg.d" && printf "force-unsafe-io\n'
		 r'path-exclude=/usr/share/doc/*\npath-exclude=/usr/share/locale/*\n" '
		 '>"$1/etc/dpkg/dpkg.cfg.d/nvdla"')


def path(name, release, packages, commands=(), other=None):
	"""Return the folder of the tree @name, which need not exist yet. The folder's name has a digest of the
	parameters."""
	recipe = '\n'.join([SUITES[release], _FORMAT, *packages, *commands, *([other] if other else [])])
	return cache_dir() / f'debian-{release}-{name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}'


def _command(target, release, packages, commands, other):
	argv = ['mmdebstrap', '--mode=root', '--variant=minbase', f'--architectures={",".join(filter(None, ("amd64", other)))}',
		'--components=main',
		'--format=directory', '--aptopt=Acquire::Languages "none"', f'--setup-hook={_DPKG_OPTIONS}']
	argv += [f'--aptopt={option}' for option in archive.apt_options()]
	argv += [f'--include={",".join(packages)}']
	argv += [f'--customize-hook=chroot "$1" {command}' for command in commands]
	argv += [SUITES[release], str(target)]
	uri = archive.mirror()
	return [*namespace.prefix(owners=True), *argv, *([uri] if uri else [])]


def ensure(name, release, packages, progress, commands=(), other=None):
	"""Make the tree @name of Debian @release with @packages unless it exists; returns its path.

	@commands are run in the new system. @other: a second architecture; a package of it is written
	NAME:ARCHITECTURE in @packages. A tree that exists is complete, because it gets its name when it is finished.
	"""
	tree = path(name, release, packages, commands, other)
	if tree.is_dir():
		return tree
	with guest_tree.locked(f'debian-{release}-{name}', progress):
		if not tree.is_dir():
			_make(tree, name, release, packages, commands, other, progress)
	return tree


def _make(tree, name, release, packages, commands, other, progress):
	if not shutil.which('mmdebstrap'):
		raise Failure('mmdebstrap is missing: apt-get install mmdebstrap')
	# Delete trees of other recipes, and incomplete trees of killed runs. No other process uses these folders while
	# this one holds the lock.
	for stale in cache_dir().glob(f'debian-{release}-{name}-*'):
		remove(stale)
	guest_tree.require_space(_SPACE, f'a Debian {release} system')
	partial = tree.with_name(f'{tree.name}.incomplete')
	log = cache_dir() / f'debian-{release}-{name}.log'
	progress(f'installing Debian {release} in a folder (about a minute, once)')
	try:
		if processes.run_logged(_command(partial, release, packages, commands, other), log, progress) != 0:
			raise Failure(f'Debian {release}, for the folder {tree}, cannot be installed: '
				      f'{archive.explain(log, cache_dir())}, then run this again; log: {log}')
		os.rename(partial, tree)
	finally:
		remove(partial)


def remove(tree):
	"""Delete the folder @tree, whose files may belong to several users."""
	if tree.exists():
		processes.run_logged([*namespace.prefix(owners=True), 'rm', '-rf', '--one-file-system', tree],
				     cache_dir() / 'remove.log', lambda text: None)


def remove_all():
	"""Delete every cached tree."""
	for tree in cache_dir().glob('debian-*'):
		if tree.is_dir():
			remove(tree)
