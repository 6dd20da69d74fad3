# SPDX-License-Identifier: MIT
"""The suite tree: a folder with ONNX Runtime and TensorFlow Lite (the frameworks) from a newer
Debian release than the project is built on.

This project's plug-ins for the frameworks are compiled on the host with the headers in the tree. Programs with plug-ins
are run by the tree's own loader with the tree's C library. So the tree needs no compiler: its packages are only
unpacked, without mounts and without root.
"""

import argparse
import hashlib
import os
import shutil
import sys

from . import archive, console, guest_tree
from .console import Failure
from .paths import ROOT, cache_dir

# Debian suites that may have the frameworks; the first one that has all of them is taken. These names stay the same in
# later releases of Debian.
_SUITES = ('testing', 'unstable')
RUNNER = ROOT / 'tests' / 'support' / 'in-suite'
_PACKAGES = ROOT / 'scripts' / 'lib' / 'packages.suite'
# Packages only for tests that look for memory errors: valgrind, and the symbols of the tree's C library, which valgrind
# needs.
_VALGRIND = ['libc6-dbg', 'valgrind']
# Version of the steps below, as a part of the tree's name: raise it when the steps change, so that a new tree is made.
_FORMAT = '1'
_SPACE = 1 << 30
# Libraries that the frameworks load at run time (dlopen()).
_LOADED = ('libonnxruntime_providers_shared.so',)
# The frameworks' folders of headers. They are linked into a folder of their own, so that the compiler does not find the
# tree's C library headers, which are beside them.
_HEADERS = ('onnxruntime', 'tensorflow')
_UNUSED = ('usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/lintian', 'var/cache', 'var/lib/apt')


def _packages():
	lines = (line.split('#')[0].strip() for line in _PACKAGES.read_text().splitlines())
	return [line for line in lines if line]


def path():
	"""Return the folder of the tree, which need not exist yet. The folder's name has a digest of everything from
	which the tree is made."""
	recipe = '\n'.join([_FORMAT, *_packages(), *_HEADERS, *_UNUSED])
	return cache_dir() / f'suite-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}'


def loader_command(*words, modules=None):
	"""Return a command that runs a program with the tree's loader. @words: the loader's options, the program and
	its arguments. @modules: folder of modules that the program loads and that use the tree's libraries."""
	options = ['--modules', str(modules)] if modules else []
	return [str(RUNNER), *options, str(path()), *map(str, words)]


def loaded():
	"""Return the paths of libraries that the frameworks load with dlopen(), and which ldd therefore does not
	list."""
	return [file for name in _LOADED for file in path().glob(f'usr/lib/*/{name}')]


def ensure(progress):
	"""Make the tree unless it exists; returns its path. An existing tree is complete."""
	tree = path()
	if tree.is_dir():
		return tree
	with guest_tree.locked('suite', progress):
		if not tree.is_dir():
			_make(tree, progress)
	return tree


def _suite(progress):
	"""Return the first of the suites that has all packages."""
	progress(f'looking for {" and ".join(_packages())} in the archive')
	for suite in _SUITES:
		with archive.opened((suite,), progress) as packages:
			if all(name in packages.names(name) for name in _packages()):
				return suite
	raise Failure(f'neither {" nor ".join(_SUITES)} has {" and ".join(_packages())}')


def _make(tree, progress):
	# Delete trees of other recipes, and incomplete trees of killed runs. No other process makes a tree while this
	# one holds the lock.
	for stale in cache_dir().glob('suite-*'):
		if stale.is_dir():
			shutil.rmtree(stale)
	guest_tree.require_space(_SPACE, 'the suite tree')
	partial = tree.with_name(f'{tree.name}.incomplete')
	try:
		with archive.needed_for(f'{" and ".join(_packages())} of a newer Debian release'):
			suite = _suite(progress)
			progress(f'unpacking {" and ".join(_packages())} of Debian {suite} (about a minute, once)')
			guest_tree.unpack(_packages(), partial, cache_dir() / 'suite-tree.log', progress, suites=(suite,))
		for name in _UNUSED:
			shutil.rmtree(partial / name, ignore_errors=True)
		headers = partial / 'headers'
		headers.mkdir()
		for name in _HEADERS:
			(headers / name).symlink_to(f'../usr/include/{name}')
		os.rename(partial, tree)
	finally:
		shutil.rmtree(partial, ignore_errors=True)


def add_valgrind(progress):
	"""Add to the tree a valgrind that knows the tree's C library, and the symbols of that library."""
	target = path() / 'valgrind'
	with guest_tree.locked('suite', progress):
		if target.is_dir():
			return
		guest_tree.require_space(_SPACE, 'valgrind')
		partial = target.with_name('valgrind.incomplete')
		shutil.rmtree(partial, ignore_errors=True)
		with archive.needed_for('valgrind of the suite tree\'s Debian release'):
			suite = _suite(progress)
			progress(f'unpacking {" and ".join(_VALGRIND)} of Debian {suite} (about a minute, once)')
			guest_tree.unpack(_VALGRIND, partial, cache_dir() / 'suite-tree.log', progress, suites=(suite,))
		library = next(path().glob('usr/lib/*/libc.so.6'))
		if library.read_bytes() != (partial / library.relative_to(path())).read_bytes():
			raise Failure(f'Debian {suite} has another C library than {path()} by now: remove that, and run this again')
		for symbols in partial.glob('usr/lib/debug/.build-id/*/*.debug'):
			shutil.copy(symbols, library.parent)
		os.rename(partial, target)


def remove():
	"""Delete every cached tree."""
	for tree in cache_dir().glob('suite-*'):
		if tree.is_dir():
			shutil.rmtree(tree)


def main():
	"""The program that other scripts start to make the tree while they compile."""
	parser = argparse.ArgumentParser(prog='python3 -m stack.suite_tree',
					 description='Make the suite tree unless it is there.')
	parser.add_argument('--valgrind', action='store_true', help='with a valgrind for it')
	arguments = parser.parse_args()
	with console.stage('suite tree') as progress:
		ensure(progress)
		if arguments.valgrind:
			add_valgrind(progress)
	return 0


if __name__ == '__main__':
	sys.exit(console.run_program(main))
