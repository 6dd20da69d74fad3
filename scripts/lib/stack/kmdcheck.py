# SPDX-License-Identifier: MIT
"""Checks of the driver with a kernel maintainer's tools: W=1 and sparse on every kernel, checkpatch."""

from . import architectures, checkpatch, console, guest, kernels, kmod, prove, results, suites
from .console import Failure
from .paths import ROOT
from .results import Case

# Name of the test case of style().
STYLE = 'kmd.checkpatch'

# Files to check: kernel code, and files that it shares with user space. kmd/engine/user is left out, because it is for
# user space only.
_CHECKED = ('kmd/*.[ch]', 'tests/kmd/*.c', 'tests/kmd/faults/*.[ch]', 'kmd/engine/*.[ch]', 'kmd/engine/tests/*.[ch]',
	    'include/uapi/drm/*.h', 'include/nvdla/hw/*.h')


def style():
	"""Run checkpatch --strict over the driver; returns a Case. kmd/.checkpatch.conf lists the
	checks that are disabled."""
	files = [path for pattern in _CHECKED for path in sorted(ROOT.glob(pattern))]
	said = checkpatch.messages(['-f', *files], ROOT / 'kmd' / '.checkpatch.conf')
	if said is None:
		return Case(STYLE, results.SKIPPED, 'no checkpatch.pl: scripts/kernel-debug brings it')
	return Case(STYLE, results.FAILED, said.replace(f'{ROOT}/', '')) if said else Case(STYLE, results.PASSED)


def verdict(kernel, failure):
	"""Return the (outcome, message) of a Case for a @kernel for which modules do not build. @failure: the exception
	DoesNotBuild of that build."""
	if kernel.is_debug or not kernels.is_excused(kernel.series):
		return results.FAILED, f'{failure}\n{failure.details}'
	return results.SKIPPED, kernels.excuse(kernel.release, failure)


def _compiled_for(architecture):
	with console.stage(f'module for {architecture.name}') as progress:
		try:
			found = guest.cross(architecture, progress)
		except Failure as failure:
			return Case(f'kmd-{architecture.name}', results.FAILED, str(failure))
		return _compiled(found, None, f'kmd-{architecture.name}', progress)


def _compiled(found, series, name, progress):
	kernel = found.kernel(series)
	try:
		for part in (kmod.DRIVER, kmod.TESTS):
			kmod.build(found, kernel, progress, werror=True, sparse=kmod.has_sparse(found), part=part)
	except kmod.DoesNotBuild as failure:
		return Case(name, *verdict(kernel, failure))
	except Failure as failure:
		return Case(name, results.FAILED, str(failure))
	return Case(name, results.PASSED)


def main():
	parser = console.Parser('scripts/check-kmd', '', description=(
		'Check the Linux driver for NVDLA (a hardware accelerator) as reviewers of Linux would: compile it for every '
		'kernel that scripts/vm can start in its virtual machine (those of scripts/lib/kernels, and a newer one if Debian has it), with all warnings of W=1 and of sparse as errors, and run '
		'checkpatch --strict. With an option, the script makes only the check of that option.'))
	checks = parser.add_mutually_exclusive_group()
	checks.add_argument('--all', action='store_true', help=(
		'compile the driver, with the warnings of W=1 and of sparse as errors, for every kernel, '
		f'from {kernels.known()[0]} on, of which the Debian archive has the headers (from old backports to experimental), and print a '
		'table of the results; a Debian suite that cannot be reached is skipped'))
	checks.add_argument('--cross', action='store_true', help=(
		'compile the driver, with the warnings of W=1 as errors and without sparse, for the kernels of Debian 13 for other '
		f'processors ({", ".join(row.name for row in architectures.foreign())}). The first time, this makes a folder with '
		'compiler and headers for each processor, which takes about 1 GB and one to two minutes each'))
	checks.add_argument('--prove', action='store_true', help=(
		'let the model checker CBMC prove that the driver gives the NVDLA only memory addresses that the driver has '
		'checked, for all values in descriptors (operations as user space submits them) and every configuration of '
		'NVDLA; CBMC is downloaded and unpacked once, which takes 300 MB and a minute'))
	arguments = parser.parse_args()
	with console.stage('headers') as progress:
		kmod.build_headers(progress)
	if arguments.all:
		with console.stage('suites') as progress:
			rows = suites.check(progress)
		print(*suites.table(rows), sep='\n', flush=True)
		return 1 if suites.failed(rows) else 0
	if arguments.prove:
		with console.stage('proofs') as progress:
			cases = prove.cases(progress)
	elif arguments.cross:
		cases = [_compiled_for(row) for row in architectures.foreign()]
	else:
		with console.stage('guest tree') as progress:
			found = guest.find(progress, kernels.known())
		with console.stage('module') as progress:
			cases = [_compiled(found, series, f'kmd-{series}.sparse', progress) for series in found.series()]
		cases.append(style())
	print(*results.details(cases), results.summary(cases), sep='\n', flush=True)
	return 1 if any(case.outcome == results.FAILED for case in cases) else 0


if __name__ == '__main__':
	console.run_program(main)
