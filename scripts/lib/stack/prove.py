# SPDX-License-Identifier: MIT
"""Proofs about kmd/engine, the driver's code that programs the hardware, by the bounded model
checker CBMC. CBMC of Debian 13 is unpacked into a folder of its own."""

import hashlib
import os
import re
import shutil
import subprocess

from . import archive, guest_tree, results
from .paths import ROOT, build_dir, cache_dir
from .results import Case

_PACKAGES = ['cbmc']
_HARNESS = ROOT / 'tests' / 'prove' / 'proofs.c'
_ENGINE = ROOT / 'kmd' / 'engine'
# Sources of kmd/engine that CBMC gets in addition to the harness, the file with the proofs. Others that the proofs need
# are included (#include) by the harness.
_SOURCES = ('nvdla_check.c', 'nvdla_variant.c')
_CHECKS = ('--no-standard-checks', '--signed-overflow-check', '--bounds-check', '--pointer-check', '--div-by-zero-check',
	   '--unwinding-assertions', '--unwind', '2', '--drop-unused-functions', '--slice-formula')
_SPACE = 1 << 30
# Time limit of a proof in seconds; a proof takes a few.
_PATIENCE = 600


def path():
	"""Return the folder of the tree with CBMC, which need not exist yet."""
	recipe = '\n'.join([guest_tree.SUITE, *_PACKAGES])
	return cache_dir() / f'prove-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}'


def ensure(progress):
	"""Make the tree unless it exists; returns its path. An existing tree is complete."""
	tree = path()
	with guest_tree.locked('prove', progress):
		if tree.is_dir():
			return tree
		guest_tree.require_space(_SPACE, 'the model checker')
		partial = tree.with_name(f'{tree.name}.incomplete')
		shutil.rmtree(partial, ignore_errors=True)
		progress('unpacking CBMC of Debian 13 (about a minute, once)')
		with archive.needed_for('the model checker CBMC (Debian 13)'):
			guest_tree.unpack(_PACKAGES, partial, cache_dir() / 'prove.log', progress, suites=(guest_tree.SUITE,))
		os.rename(partial, tree)
	return tree


def remove():
	"""Delete every cached tree."""
	for tree in cache_dir().glob('prove-*'):
		if tree.is_dir():
			shutil.rmtree(tree)


def _command(tree, function, variant):
	libraries = ':'.join(str(tree / folder) for folder in ('usr/lib/x86_64-linux-gnu', 'usr/lib'))
	includes = (_ENGINE, ROOT / 'include/uapi', ROOT / 'include', build_dir() / 'include', '/usr/include/libdrm')
	# CBMC is started by the tree's own loader with the tree's libraries, because the host's C library may be
	# older.
	return [str(tree / 'usr/lib64/ld-linux-x86-64.so.2'), '--library-path', libraries, str(tree / 'usr/bin/cbmc'),
		f'-DVARIANT={variant}', *(f'-I{folder}' for folder in includes), str(_HARNESS),
		*(str(_ENGINE / name) for name in _SOURCES), '--function', function, *_CHECKS]


def _proof(tree, function, variant):
	name = f'{function}.{variant}'
	try:
		ran = subprocess.run(_command(tree, function, variant), capture_output=True, text=True, timeout=_PATIENCE)
	except subprocess.TimeoutExpired:
		return Case(name, results.FAILED, f'no answer in {_PATIENCE} s')
	if ran.returncode == 0 and 'VERIFICATION SUCCESSFUL' in ran.stdout:
		return Case(name, results.PASSED)
	said = re.findall(r'^.*(?:FAILURE|[Ee]rror|ERROR).*$', ran.stdout + ran.stderr, re.MULTILINE)
	return Case(name, results.FAILED, '\n'.join(said[:20]))


def cases(progress):
	"""Run each proof for each variant of the hardware; returns a list of Cases, one for each proof and variant."""
	tree = ensure(progress)
	functions = re.findall(r'^void (prove_\w+)\(void\)', _HARNESS.read_text(), re.MULTILINE)
	variants = int(re.search(r'NVDLA_NUM_VARIANTS (\d+)', (_ENGINE / 'nvdla_variant.h').read_text()).group(1))
	found = []
	for function in functions:
		for variant in range(variants):
			progress(f'{function} of variant {variant}')
			found.append(_proof(tree, function, variant))
	return found
