# SPDX-License-Identifier: MIT
"""The guest tree: a directory of unpacked Debian 13 packages, made once and cached.

The tree has QEMU, the kernels for the guest, the kernels' headers and their compiler. Hosts need it if their own QEMU
or kernel is too old. The packages are only unpacked, not configured, and no program in the tree runs as root, so making
the tree needs neither privileges nor mounts.
"""

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from . import archive, locks, processes
from .console import Failure
from .paths import ROOT, cache_dir

SUITE = 'trixie'
# Debian suites that the tree's packages come from.
SUITES = (SUITE, f'{SUITE}-backports')
_PACKAGES = ROOT / 'scripts' / 'lib' / 'packages.guest'
_CROSS_PACKAGES = ROOT / 'scripts' / 'lib' / 'packages.cross'
# Version of the steps below, as a part of the tree's name: raise it when the steps change, so that a new tree is made.
_FORMAT = '1'
# Bytes for the tree: half for the unpacked files, half for downloads and unpacking.
_SPACE = 2 << 30
# Bytes for one more kernel: its packages, and their files before unused modules are deleted.
_KERNEL_SPACE = 1 << 30

# Files that neither QEMU nor kbuild nor the guest reads.
_UNUSED = (
	'usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/info',
	'usr/share/lintian', 'usr/share/bug', 'usr/share/zsh', 'usr/share/icons',
	'usr/lib/systemd', 'usr/lib/udev', 'var/cache', 'var/lib/apt',
)
_UNUSED_MODULES = (
	'sound', 'drivers/bluetooth', 'drivers/comedi', 'drivers/hid', 'drivers/hwmon',
	'drivers/iio', 'drivers/infiniband', 'drivers/input', 'drivers/isdn', 'drivers/leds',
	'drivers/media', 'drivers/mmc', 'drivers/mtd', 'drivers/net', 'drivers/platform',
	'drivers/power', 'drivers/scsi', 'drivers/staging', 'drivers/thunderbolt', 'drivers/usb',
	'drivers/video', 'drivers/watchdog', 'net/bluetooth', 'net/ipv4', 'net/ipv6',
	'net/mac80211', 'net/netfilter', 'net/openvswitch', 'net/sched', 'net/wireless',
)


def _packages():
	lines = (line.split('#')[0].strip() for line in _PACKAGES.read_text().splitlines())
	return [line for line in lines if line]


def module_tools():
	"""The packages that are needed to build a module: the last section of packages.guest."""
	return re.split(r'^# Programs that the build of a kernel module runs$', _PACKAGES.read_text(), flags=re.MULTILINE)[1].split()


def path():
	"""Return the folder of the tree, which need not exist yet. The folder's name has a digest of everything from
	which the tree is made."""
	recipe = '\n'.join([SUITE, _FORMAT, *_packages(), *_UNUSED, *_UNUSED_MODULES])
	return cache_dir() / f'guest-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}'


def _command(target, packages, suites, newest, other=None):
	release, *others = suites
	# Take packages from the release itself, not from its updates: the patterns in packages.guest
	# would match a second 6.12 kernel there, and one is enough.
	setup = f'sed -i -n "/ {release} main/p" "$1/etc/apt/sources.list"; '
	# With a second architecture, the guest's, only QEMU is taken from the further suites, because a library
	# must have the same version for both architectures. QEMU runs on the host, so it is taken for amd64 alone.
	newer, only = ('qemu-system-*', 's/^deb /deb [arch=amd64] /; s/] \\[/ /; ') if other else ('*', '')
	for suite in others:
		setup += (f'sed "{only}s/ {release} main/ {suite} main/" "$1/etc/apt/sources.list" '
			  f'>"$1/etc/apt/sources.list.d/{suite}.list"; ')
		if newest:
			setup += (f'printf "Package: {newer}\\nPin: release n={suite}\\nPin-Priority: 500\\n" '
				  f'>"$1/etc/apt/preferences.d/{suite}"; ')
	# Packages are only unpacked and run nothing, so no chroot is needed. From root, mmdebstrap
	# of Debian 13 accepts chrootless only with --skip=check/chrootless.
	argv = ['mmdebstrap', '--variant=extract', '--mode=chrootless', '--skip=check/chrootless',
		f'--architectures={",".join(filter(None, ("amd64", other)))}',
		'--components=main', '--format=directory', '--aptopt=Acquire::Languages "none"',
		f'--setup-hook={setup}']
	argv += [f'--aptopt={option}' for option in archive.apt_options()]
	argv += [f'--include={package}' for package in packages]
	argv += [release, str(target)]
	mirror = archive.mirror()
	return argv + [mirror] if mirror else argv


def _finish(tree):
	"""Delete unused files from the @tree. Make the links and files that the packages' installation scripts would
	make, as far as a build or the guest needs them."""
	for name in _UNUSED:
		shutil.rmtree(tree / name, ignore_errors=True)
	for modules in tree.glob('usr/lib/modules/*'):
		_thin_out(modules)
	finish_tools(tree)


def _thin_out(modules):
	"""Delete from a kernel's folder @modules the modules that no guest loads."""
	for name in _UNUSED_MODULES:
		shutil.rmtree(modules / 'kernel' / name, ignore_errors=True)
	for entry in (modules / 'kernel/drivers/gpu/drm').glob('*'):
		if entry.is_dir() and entry.name not in ('scheduler', 'vgem', 'display'):
			shutil.rmtree(entry)


def locked(name, progress, waiting='another run is making it, waiting'):
	"""Hold a lock while the body of the with statement runs, so that only one process at a time makes the part
	@name of the cache. @waiting: see locks.held()."""
	return locks.held(cache_dir() / f'{name}.lock', progress, waiting)


def ensure(progress):
	"""Make the tree unless it exists; returns its path.

	The tree is made under another name and renamed when complete, so a tree that exists is
	complete. @progress is called with a description of each step.
	"""
	tree = path()
	if tree.is_dir():
		return tree
	try:
		with locked('guest', progress):
			if tree.is_dir():
				return tree
			_make(tree, progress)
	except OSError as error:
		raise Failure(f'{cache_dir()} cannot be written ({error.strerror}): make it yours, or set '
			      'XDG_CACHE_HOME to another folder') from None
	return tree


def require_space(size, what):
	"""Raise Failure unless the cache's disk has @size free bytes for @what."""
	free = shutil.disk_usage(cache_dir()).free
	if free < size:
		raise Failure(f'{cache_dir()} has {free >> 20} MiB free and {what} needs {size >> 20}: '
			      'free some, or set XDG_CACHE_HOME to another disk')


def unpack(packages, target, log, progress, suites=SUITES, newest=True, other=None):
	"""Unpack @packages and their dependencies into the new folder @target.

	Packages come from the release, the first of @suites. With @newest, newer versions in the other suites are
	preferred; otherwise the other suites provide only packages that the release lacks. @other: a second
	architecture; its packages are written NAME:ARCHITECTURE in @packages, and only QEMU is then taken in its newest
	version.
	"""
	if not shutil.which('mmdebstrap'):
		raise Failure('mmdebstrap is missing: apt-get install mmdebstrap')
	if processes.run_logged(_command(target, packages, suites, newest, other), log, progress) != 0:
		raise Failure(f'{archive.explain(log, cache_dir())}, then run this again; log: {log}')


def finish_tools(tree):
	"""Add to an unpacked @tree the links and mount points that a build needs beside the
	packages."""
	for link, target in (('awk', 'mawk'), ('cc', 'gcc')):
		(tree / 'usr/bin' / link).symlink_to(target)
	for name in ('mnt', 'proc', 'dev', 'tmp'):
		(tree / name).mkdir(exist_ok=True)


def _make(tree, progress):
	# Delete incomplete trees of killed runs. No other process makes a tree while this one holds the lock.
	for stale in cache_dir().glob('guest-*.incomplete'):
		shutil.rmtree(stale, ignore_errors=True)
	require_space(_SPACE, 'the guest tree')
	partial = tree.with_name(tree.name + '.incomplete')
	log = cache_dir() / 'guest-tree.log'
	progress('unpacking QEMU, kernels and compiler of Debian 13 (about a minute, once)')
	try:
		with archive.needed_for('the guest\'s QEMU, kernels and compiler (Debian 13)'):
			unpack(_packages(), partial, log, progress)
		_finish(partial)
		os.rename(partial, tree)
	finally:
		shutil.rmtree(partial, ignore_errors=True)


def add_kernels(tree, wanted, progress):
	"""Fetch the newest kernel of each series in @wanted into @tree; returns {series: reason} for series that could
	not be fetched.

	The tree remembers series that the archive does not have, so that they are not looked for again.
	"""
	gone = tree / '.gone'
	known_gone = gone.read_text().split() if gone.is_file() else []
	reasons = {series: 'the archive has it no more' for series in wanted if series in known_gone}
	wanted = [series for series in wanted if series not in known_gone]
	if not wanted:
		return reasons
	progress(f'looking for Linux {", ".join(wanted)} in the archive')
	try:
		with locked('guest', progress), archive.opened(SUITES, progress) as packages:
			for series in wanted:
				offered = [release for release in archive.kernels(packages)
					   if release.startswith(f'{series}.')]
				if offered:
					_add_kernel(tree, packages, offered[-1], progress)
				else:
					reasons[series] = 'the archive has it no more'
					with open(gone, 'a') as names:
						names.write(f'{series}\n')
	except Failure as failure:
		reasons |= {series: str(failure) for series in wanted if series not in reasons}
	return reasons


def cross_path(architecture):
	"""Folder of the tree for @architecture, which need not exist yet; see path()."""
	recipe = '\n'.join([SUITE, _FORMAT, *_cross_packages(architecture), *_UNUSED, *_UNUSED_MODULES])
	return cache_dir() / f'cross-{architecture.name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}'


def _cross_packages(architecture):
	lines = (line.split('#')[0].strip() for line in _CROSS_PACKAGES.read_text().splitlines())
	packages = [line.replace('ARCH', architecture.name).replace('GNU', architecture.gnu) for line in lines if line]
	tools = [name for name in module_tools() if name not in ('gcc', 'sparse')]
	return [*packages, *tools, *filter(None, [architecture.package])]


def ensure_cross(architecture, progress):
	"""Make the tree for @architecture unless it exists; returns its path. An existing tree is
	complete."""
	tree = cross_path(architecture)
	if tree.is_dir():
		return tree
	name = f'cross-{architecture.name}'
	with locked(name, progress):
		if not tree.is_dir():
			_make_cross(tree, name, architecture, progress)
	return tree


def _make_cross(tree, name, architecture, progress):
	for stale in cache_dir().glob(f'{name}-*'):
		shutil.rmtree(stale, ignore_errors=True)
	require_space(_SPACE, f'the tree for {architecture.name}')
	partial = tree.with_name(f'{tree.name}.incomplete')
	progress(f'unpacking compiler, kernel and QEMU for {architecture.name} (about a minute, once)')
	try:
		with archive.needed_for(f'compiler, kernel and QEMU for {architecture.name} (Debian 13)'):
			unpack(_cross_packages(architecture), partial, cache_dir() / f'{name}.log', progress, other=architecture.name)
			if architecture.flavour:
				with archive.opened((SUITE,), progress, architecture) as packages:
					_add_kernel(partial, packages, archive.kernels(packages)[-1], progress)
		_finish(partial)
		# Delete the emulators of other processors: they come with the packages and take some ten megabytes
		# each.
		for emulator in (partial / 'usr/bin').glob('qemu-*'):
			if emulator.name not in (architecture.qemu, f'qemu-{architecture.family}'):
				emulator.unlink()
		os.rename(partial, tree)
	finally:
		shutil.rmtree(partial, ignore_errors=True)


def _add_kernel(tree, packages, release, progress):
	if (tree / 'usr/lib/modules' / release).is_dir():
		return
	require_space(_KERNEL_SPACE, f'Linux {release}')
	with tempfile.TemporaryDirectory(dir=cache_dir(), prefix='guest-kernel-', suffix='.incomplete') as folder:
		downloads, root = Path(folder, 'packages'), Path(folder, 'root')
		downloads.mkdir()
		(root / 'usr/lib').mkdir(parents=True)
		(root / 'lib').symlink_to('usr/lib')
		progress(f'fetching Linux {release}')
		for package in packages.download(archive.parts_of(packages, release), downloads, progress):
			if processes.run_logged(['dpkg-deb', '-x', package, root], cache_dir() / 'kernel.log', progress) != 0:
				raise Failure(f'{package.name} cannot be unpacked; log: {cache_dir() / "kernel.log"}')
		modules = root / 'usr/lib/modules' / release
		_thin_out(modules)
		# The folder with the modules comes last, so that a kernel with this folder is complete.
		for part in (*root.glob('boot/*'), *root.glob('usr/src/*'), *root.glob('usr/lib/linux-kbuild-*'), modules):
			target = tree / part.relative_to(root)
			target.parent.mkdir(parents=True, exist_ok=True)
			if target.is_dir():
				shutil.rmtree(target)
			os.rename(part, target)


def remove():
	"""Delete every cached tree, and the kernels made with them."""
	for pattern in ('guest-*', 'cross-*', 'kernel-debug-*', 'kernel-tree-*'):
		for entry in cache_dir().glob(pattern):
			if entry.is_dir():
				shutil.rmtree(entry)
