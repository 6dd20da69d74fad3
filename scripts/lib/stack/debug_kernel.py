# SPDX-License-Identifier: MIT
"""The debug kernel: Debian's kernel source, built with checks that find the driver's bugs at run
time.

The kernel is made once and kept in the cache. Its source package and compiler are of the same
Debian release as the guest tree, the unpacked packages with QEMU and the other kernels.
"""

import dataclasses
import hashlib
import os
import re
import shutil
from pathlib import Path

from . import archive, console, guest, guest_tree, kernels, namespace, processes
from .console import Failure
from .paths import ROOT, cache_dir

_CONFIG = ROOT / 'scripts' / 'lib' / 'debug-kernel.config'
_PACKAGES = ROOT / 'scripts' / 'lib' / 'packages.debug-kernel'
_SCRIPT = Path(__file__).with_name('debug-kernel.sh')
# Bytes that the source, the compiled objects and the tools take during the build; 80 MiB remain afterwards.
_SPACE = 3 << 30


def path():
	"""Return the folder of the kernel, which need not exist yet. The folder's name has a digest of everything from
	which the kernel is made."""
	recipe = [file.read_text() for file in (_CONFIG, _PACKAGES, _SCRIPT)]
	# The suite determines the compiler, and the known series determine the source.
	recipe += [guest_tree.SUITE, *kernels.known()]
	return cache_dir() / f'kernel-debug-{hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]}'


def find(progress):
	"""Return a Guest whose only kernel is the debug kernel; makes the kernel unless it exists."""
	tree = guest.tree(progress)
	return dataclasses.replace(tree, kernels=(guest.kernel_in(ensure(progress), tree.root),))


def ensure(progress):
	"""Make the kernel unless it exists; returns its folder, which exists only when it is complete."""
	folder = path()
	if folder.is_dir():
		return folder
	with guest_tree.locked('kernel-debug', progress):
		if not folder.is_dir():
			_make(folder, progress)
	return folder


def choose_source(offered):
	"""Choose the source package to build from the package names @offered: the newest series that is in
	scripts/lib/kernels, or if none of these is offered, the newest series."""
	series = {name.removeprefix('linux-source-') for name in offered}
	series = sorted((text for text in series if re.fullmatch(r'\d+\.\d+', text)
			 and kernels.number(text) >= kernels.oldest()), key=kernels.number)
	if not series:
		raise Failure(f'the archive has no source of a kernel from {kernels.known()[0]} on (linux-source-...)')
	return 'linux-source-' + ([text for text in series if text in kernels.known()] or series)[-1]


def unpack_source(tree, log, progress, packages=()):
	"""Unpack into the new folder @tree the source package that choose_source() chooses, the packages that its build
	needs, and @packages."""
	builders = (line.split('#')[0].strip() for line in _PACKAGES.read_text().splitlines())
	with archive.needed_for('the source of a kernel and its compiler (Debian 13)'):
		with archive.opened(guest_tree.SUITES, progress) as lists:
			source = choose_source(lists.names('linux-source-'))
		progress(f'unpacking {source} and its compiler')
		guest_tree.unpack([source, *(name for name in builders if name), *packages], tree, log, progress)
	guest_tree.finish_tools(tree)


def _make(folder, progress):
	# Delete incomplete kernels of killed runs. No other process makes the kernel while this one holds the lock.
	for stale in cache_dir().glob('kernel-debug-*.partial*'):
		shutil.rmtree(stale, ignore_errors=True)
	guest_tree.require_space(_SPACE, 'building the debug kernel')
	tree = folder.with_name(f'{folder.name}.partial-tree')
	partial = folder.with_name(f'{folder.name}.partial')
	log = cache_dir() / 'kernel-debug.log'
	try:
		unpack_source(tree, log, progress)
		partial.mkdir()
		shutil.copyfile(_CONFIG, partial / 'debug.config')
		shutil.copyfile(_SCRIPT, tree / 'build.sh')
		progress('building it (four minutes on two processors, once)')
		if processes.run_logged(namespace.inside(tree, {partial: '/mnt'}, ['sh', '/build.sh']),
					log, progress) != 0:
			raise Failure(f'{_reason(log)}; log: {log}')
		os.rename(partial, folder)
	finally:
		for leftover in (tree, partial):
			shutil.rmtree(leftover, ignore_errors=True)


def _reason(log):
	lines = [line for line in log.read_text(errors='replace').splitlines() if 'rror' in line]
	return f'the debug kernel does not build: {lines[0].strip() if lines else "no error in the log"}'


def main():
	parser = console.Parser('scripts/kernel-debug', '', description=(
		'Build the debug kernel if it does not exist, and print the path of its folder. This Linux kernel finds bugs of the driver for '
		'NVDLA (a hardware accelerator) at run time: it has KASAN, lockdep, UBSAN, kmemleak, DMA-API checks and fault '
		'injection. Building takes some minutes (four on two processors) and 3 GiB of disk, of which 80 MiB are kept in '
		'~/.cache/nvdla. The kernel is built again only if you change its configuration '
		'(scripts/lib/debug-kernel.config) or its version in the list of kernels (scripts/lib/kernels). "scripts/vm --kernel '
		'debug" boots it, and "scripts/test --debug-kernel" runs tests on it; both build it first if needed.'))
	parser.add_argument('--check', action='store_true', help=(
		'build nothing: print the path if the kernel exists, else exit with status 1'))
	arguments = parser.parse_args()
	if arguments.check:
		print(path() if path().is_dir() else f'{path()} is not there')
		return 0 if path().is_dir() else 1
	with console.stage('debug kernel') as progress:
		folder = ensure(progress)
	print(folder)
	return 0


if __name__ == '__main__':
	console.run_program(main)
