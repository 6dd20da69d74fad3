# SPDX-License-Identifier: MIT
"""Builds the driver with the kernel headers of every suite of the Debian archive, to find changes in coming kernels
before Debian releases them.
"""

import dataclasses
import os
import tempfile
from pathlib import Path

from . import archive, console, guest, guest_tree, kernels, kmod
from .console import Failure
from .paths import build_dir, cache_dir

# Each row: a Debian suite, or a suite and one that adds packages to it. The row with the newest kernels comes first.
# Names such as "stable" need no change for a later release of Debian.
_SUITES = (('unstable', 'experimental'), ('unstable',), ('testing',), ('stable', 'stable-backports'),
	   ('stable', 'stable-proposed-updates'), ('stable',), ('oldstable', 'oldstable-backports'), ('oldstable',))
_SPACE = 2 << 30

OK, FAILED, PASSED_OVER = 'ok', 'FAILED', 'passed over'


@dataclasses.dataclass(frozen=True)
class Row:
	"""Result of building for one kernel of a suite. @kernel is '-' if the suite was not checked. @log: file with
	the details, if there is one."""

	suite: str
	kernel: str
	result: str
	reason: str = ''
	log: str = ''


def check(progress):
	"""Build the driver and the tests' modules with W=1 and sparse for every kernel of the archive; returns the Rows."""
	rows = []
	for names in _SUITES:
		suites = tuple(map(archive.code_name, names))
		try:
			found = _check_suite(suites, progress)
		except Failure as failure:
			found = [Row(suites[-1], '-', PASSED_OVER, str(failure))]
		for row in found:
			console.say('  '.join(filter(None, (row.suite, row.kernel, row.result, row.reason))))
		rows += found
	return rows


def _check_suite(suites, progress):
	progress(f'{suites[-1]}: looking for kernels')
	with archive.opened(suites[-1:], progress) as packages:
		releases = [release for release in archive.headers(packages) if kernels.number(release) >= kernels.oldest()]
	if not releases:
		return [Row(suites[-1], '-', PASSED_OVER, f'it has no kernel from {kernels.known()[0]} on')]
	folder = build_dir() / 'kmd-suites' / suites[-1]
	folder.mkdir(parents=True, exist_ok=True)
	guest_tree.require_space(_SPACE, f'the headers of {suites[-1]}')
	with tempfile.TemporaryDirectory(dir=cache_dir(), prefix='guest-headers-') as parent:
		root = Path(parent) / 'root'
		progress(f'{suites[-1]}: unpacking {", ".join(releases)}')
		guest_tree.unpack([*guest_tree.module_tools(), *(f'linux-headers-{release}' for release in releases)],
				  root, folder / 'unpack.log', progress, suites, newest=False)
		guest_tree.finish_tools(root)
		found = guest.Guest(suites[-1], root, (), {}, tuple(
			guest.Kernel(release, None, None, Path(f'/usr/src/linux-headers-{release}'))
			for release in releases), None)
		return [_check_kernel(found, kernel, folder, progress) for kernel in reversed(found.kernels)]


def _check_kernel(found, kernel, folder, progress):
	try:
		for part in (kmod.DRIVER, kmod.TESTS):
			kmod.build(found, kernel, progress, werror=True, sparse=True, part=part, folder=folder)
	except kmod.DoesNotBuild as failure:
		return Row(found.origin, kernel.release, FAILED, failure.reason, os.path.relpath(failure.log))
	return Row(found.origin, kernel.release, OK, log=os.path.relpath(folder / f'kmd-{kernel.release}' / 'make.log'))


def table(rows):
	"""Return the lines of a table of @rows, with aligned columns and a line of headings."""
	columns = [('suite', 'kernel', 'result', 'log'), *((row.suite, row.kernel, row.result, row.log) for row in rows)]
	widths = [max(len(line[index]) for line in columns) for index in range(3)]
	lines = ['  '.join([*(text.ljust(width) for text, width in zip(line, widths)), line[3]]).rstrip()
		 for line in columns]
	reasons = [row.reason for row in rows]
	return [lines[0], *(f'{line}  {reason}'.rstrip() for line, reason in zip(lines[1:], reasons))]


def failed(rows):
	"""Return whether one of the @rows is a failure. A kernel newer than all known ones may fail, except with
	CI=true."""
	return any(row.result == FAILED and not kernels.is_excused(row.kernel) for row in rows)
