# SPDX-License-Identifier: MIT
"""A kernel source tree with the tools to build it, in which the patches that add the driver are
checked.

The source of the newest known kernel comes from a Debian package. It is unpacked once, into the
folder src of the tree, and kept in the cache with what was built in it; git tracks only the files
that the patches change.
"""

import hashlib
import os
import shutil
import subprocess

from . import debug_kernel, guest_tree, kernels, namespace, processes
from .console import Failure
from .paths import cache_dir

# Packages in addition to those that build a kernel: sparse, and Python for kunit.py.
_PACKAGES = ('sparse', 'python3')
# Files that building and checking the driver never reads: two thirds of the source. Kconfig and
# make files are not among them, because those of other folders include them.
_UNUSED = (
	'*/Documentation/[!ad]*/*', '*/Documentation/admin-guide/*', '*/Documentation/devicetree/bindings/[a-m]*/*',
	'*/arch/[!ux]*/*.[chS]', '*/arch/*/boot/dts/*.dts*', '*/rust/*.rs', '*/sound/*.[ch]',
	'*/tools/perf/*', '*/tools/testing/selftests/*',
	*(f'*/drivers/{folder}/*.[ch]' for folder in ('infiniband', 'media', 'net', 'scsi', 'staging', 'usb')),
	*(f'*/drivers/gpu/drm/{driver}/*.[ch]' for driver in ('amd', 'i915', 'msm', 'nouveau', 'radeon', 'xe')),
)
# Version of the steps below, as a part of the folder's name: raise it when the steps change, so that a new tree is
# made.
_FORMAT = '1'
_SPACE = 4 << 30
# Files and folders that the patches change; git tracks only these.
CHANGED = ('MAINTAINERS', 'drivers/accel', 'Documentation/accel',
	   'Documentation/devicetree/bindings/vendor-prefixes.yaml')
# Name of git's tag for the source without the patches.
_BASE = 'before'


def path():
	"""Return the folder of the tree, which need not exist yet. The folder's name has a digest of everything from
	which the tree is made."""
	recipe = [_FORMAT, _PACKAGES, _UNUSED, CHANGED, guest_tree.SUITE, kernels.known()]
	return cache_dir() / f'kernel-tree-{hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]}'


def ensure(progress):
	"""Make the tree unless it exists; returns its folder."""
	folder = path()
	if not folder.is_dir():
		with guest_tree.locked('kernel-tree', progress):
			if not folder.is_dir():
				_make(folder, progress)
	return folder


def _make(folder, progress):
	for stale in cache_dir().glob('kernel-tree-*.partial'):
		shutil.rmtree(stale, ignore_errors=True)
	guest_tree.require_space(_SPACE, 'the source of a kernel')
	partial = folder.with_name(f'{folder.name}.partial')
	log = cache_dir() / 'kernel-tree.log'
	try:
		debug_kernel.unpack_source(partial, log, progress, _PACKAGES)
		(partial / 'src').mkdir()
		package, = (partial / 'usr/src').glob('linux-source-*.tar.xz')
		argv = ['tar', '-xJf', f'/usr/src/{package.name}', '-C', '/src', '--strip-components=1', '--wildcards',
			*(f'--exclude={pattern}' for pattern in _UNUSED)]
		if processes.run_logged(namespace.inside(partial, {}, argv), log, progress) != 0:
			raise Failure(f'{package.name} cannot be unpacked; log: {log}')
		package.unlink()
		_git(partial / 'src', 'init', '-q')
		_git(partial / 'src', 'add', '-f', *CHANGED)
		_git(partial / 'src', 'commit', '-q', '-m', 'the kernel as it is')
		_git(partial / 'src', 'tag', _BASE)
		os.rename(partial, folder)
	finally:
		shutil.rmtree(partial, ignore_errors=True)


def restore(folder):
	"""Remove the patches from the source in the tree @folder; returns the source's folder."""
	source = folder / 'src'
	subprocess.run(['git', '-C', source, 'am', '--abort'], capture_output=True)
	_git(source, 'reset', '-q', '--hard', _BASE)
	return source


def run(folder, argv, log, progress):
	"""Run the command @argv in the source's folder, inside of the tree @folder, with its output in the file @log;
	returns the exit status."""
	return processes.run_logged(namespace.inside(folder, {}, ['sh', '-c', 'cd /src && exec "$@"', 'sh', *argv]),
				    log, progress)


def _git(folder, *arguments):
	identity = ('-c', 'user.name=nvdla', '-c', 'user.email=nvdla@localhost')
	ran = subprocess.run(['git', '-C', folder, *identity, *arguments], capture_output=True, text=True)
	if ran.returncode != 0:
		raise Failure(f'git {arguments[0]}: {ran.stderr.strip()}')
