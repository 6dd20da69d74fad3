# SPDX-License-Identifier: MIT
"""scripts/upstream --check: applies the driver's patches to a kernel tree, and builds, checks and tests the
driver there."""

import re
import shutil

from . import checkpatch, console, kernel_tree, kmod, results, upstream
from .console import Failure
from .paths import ROOT, build_dir
from .results import Case

_PARTS = ROOT / 'kmd' / 'upstream'
# Checks of checkpatch that are disabled for patches.
SETTINGS = _PARTS / 'checkpatch.conf'
_FOLDER = 'drivers/accel/nvdla'
# Options that a user-mode Linux kernel (UML) has by default and the tests do not need.
_NEEDLESS = ('BLOCK', 'INPUT', 'SERIO', 'USB_SUPPORT', 'HID_SUPPORT', 'HWMON', 'IO_URING', 'VIRTIO_MENU', 'AIO',
	     'SUSPEND', 'SWAP', 'HW_RANDOM', 'PCI_QUIRKS', 'VHOST_MENU')
_WRONG = re.compile(r"(error|warning):|Error \d|can't|undefined|not ok|FAILED")
_RAN = re.compile(r'Testing complete\. Ran (\d+) tests: passed: (\d+)$', re.MULTILINE)


def _log(name):
	return build_dir() / f'upstream-{name}.log'


def _errors(log):
	lines = log.read_text(errors='replace').splitlines()
	said = [line for line in lines if _WRONG.search(line)]
	return '\n'.join((said or lines)[:20] + [f'log: {log}'])


def _compiled(tree, progress):
	"""Build the driver as a module for x86 with W=1 and sparse, all warnings being errors; returns a Case."""
	progress('configuring a kernel for x86')
	log = _log('build')
	out = tree / 'out-x86'
	out.mkdir(exist_ok=True)
	shutil.copy(_PARTS / 'check.config', out / 'check.config')
	make = ['make', 'O=/out-x86', f'-j{kmod.jobs()}']
	if kernel_tree.run(tree, [*make, 'KCONFIG_ALLCONFIG=/out-x86/check.config', 'allnoconfig'], log, progress) != 0:
		return Case('upstream.build', results.FAILED, _errors(log))
	wanted = set(re.findall(r'^CONFIG_\w+=\S+$', (_PARTS / 'check.config').read_text(), re.MULTILINE))
	lost = wanted - set((out / '.config').read_text().splitlines())
	if lost:
		return Case('upstream.build', results.FAILED, f'Kconfig does not take {" ".join(sorted(lost))}')
	progress('building the driver')
	for arguments in (['modules_prepare'],
			  ['W=1', 'C=2', f'CHECK={kmod.SPARSE}', 'KCFLAGS=-Werror', f'{_FOLDER}/']):
		if kernel_tree.run(tree, [*make, *arguments], log, progress) != 0:
			return Case('upstream.build', results.FAILED, _errors(log))
	return Case('upstream.build', results.PASSED)


def _tested(tree, progress):
	"""Run the driver's KUnit tests in a user-mode Linux kernel (UML); returns a Case."""
	progress('building a UML kernel and running its tests (the first time some minutes)')
	log = _log('kunit')
	options = ['CONFIG_EXPERT=y', *(f'CONFIG_{name}=n' for name in _NEEDLESS)]
	status = kernel_tree.run(tree, ['python3', 'tools/testing/kunit/kunit.py', 'run', f'--kunitconfig={_FOLDER}',
					'--build_dir=/out-um', f'--jobs={kmod.jobs()}',
					*(f'--kconfig_add={option}' for option in options)], log, progress)
	ran = _RAN.search(log.read_text(errors='replace'))
	if status != 0 or not ran or ran.group(1) != ran.group(2):
		return Case('upstream.kunit', results.FAILED, _errors(log))
	print(f'KUnit: {ran.group(2)} tests passed; log: {log}')
	return Case('upstream.kunit', results.PASSED)


def check(output, progress):
	"""Write the patches to @output, and check them in a cached kernel tree; returns Cases."""
	tree = kernel_tree.ensure(progress)
	source = kernel_tree.restore(tree)
	progress('applying the patches')
	try:
		upstream.apply(source, output, upstream.make(source, output))
	except Failure as failure:
		return [Case('upstream.patches', results.FAILED, str(failure))]
	cases = [Case('upstream.patches', results.PASSED)]
	said = checkpatch.messages(sorted(output.glob('*.patch')), SETTINGS, source / 'scripts/checkpatch.pl')
	cases.append(Case('upstream.checkpatch', results.FAILED if said else results.PASSED, said))
	return [*cases, _compiled(tree, progress), _tested(tree, progress)]


def run(output):
	"""Run check() and print its messages; returns the exit status."""
	with console.stage('kernel tree') as progress:
		cases = check(output, progress)
	print(*results.details(cases), results.summary(cases), sep='\n', flush=True)
	return 1 if any(case.outcome == results.FAILED for case in cases) else 0
