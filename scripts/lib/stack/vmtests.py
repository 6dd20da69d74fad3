# SPDX-License-Identifier: MIT
"""The tests of tests/vm/tests.list, which run in guests, and the kernels and modes in which they
run."""

import dataclasses
import math
import os
import shutil
from pathlib import Path

from . import (architectures, build, console, debug_kernel, guest, guest_python, guest_tree, image, pace, programs, results,
	       suite_tree, vm)
from .console import Failure
from .paths import EXAMPLE_MODEL, EXAMPLE_PICTURE, ROOT, build_dir, reference_data
from .results import Case

FOLDER = ROOT / 'tests' / 'vm'
_LIST = FOLDER / 'tests.list'
_INSIDE = '/usr/libexec/nvdla'
# Ways to boot a guest: {mode: (vm.Options.dma, number of NVDLAs, their configuration)}.
_FULL = 'nv_full'
_MODES = {'iommu': ('iommu', 1, _FULL), 'cma': ('cma', 1, _FULL), 'none': ('none', 1, _FULL),
	  'bounce': ('bounce', 1, _FULL), 'pair': ('iommu', 2, _FULL), 'small': ('iommu', 1, 'nv_small')}
# Further words that tests.list has among a test's modes. _SUITE: the program is linked with the
# frameworks of the suite tree (packages of a newer Debian) and runs with that tree's loader.
# _NARROW: the program is built for 32 bits. _CROSS: the test also runs in guests of other
# architectures. _NEWEST: the test runs only on the newest kernel. _EACH: the test runs on every kernel.
_SUITE = 'suite'
_NARROW = 'narrow'
_CROSS = 'cross'
_NEWEST = 'newest'
_EACH = 'each'
# Seconds that a guest may take to boot and to power off while other guests run.
_OVERHEAD = 120
# Factor for time limits on the debug kernel, whose checks are slow on an emulated processor.
_DEBUG_FACTOR = 5
# Clock and memories of the chip that the device models assume when they count cycles. The memories are slower than
# those of any real chip, so that every unit of the core has to wait.
_CHIP = 'clock=1GHz,dram=1GB/s,dram-latency=300ns,sram=2GB/s,sram-latency=100ns'


@dataclasses.dataclass(frozen=True)
class Test:
	"""One line of tests.list. @program: a GoogleTest program in the build directory @folder, or
	a shell or Python script in tests/vm."""

	folder: Path
	name: str
	modes: tuple
	on_debug: bool
	on_each: bool
	only_newest: bool
	on_cross: bool
	in_suite: bool
	narrow: str	# name of the 32-bit architecture for which the program is built, or ''
	timeout: int
	program: Path
	arguments: tuple

	@property
	def is_script(self):
		return self.program.parent == FOLDER

	def programs(self):
		"""Return the built programs that the test runs, or that its script gets as arguments; [] for a test in
		the suite tree or of 32 bits."""
		if self.in_suite or self.narrow:
			return []
		return [path for name in self.targets() if (path := self.folder / name).is_file()]

	def targets(self):
		"""Return all programs that the test needs, built already or not, as paths relative to the build
		directory."""
		words = self.arguments if self.is_script else [os.path.relpath(self.program, self.folder)]
		return [word for word in words if word.startswith('tests/')]

	@property
	def is_python(self):
		return self.program.suffix == '.py'

	def missing(self):
		"""Return the reason why the test cannot run on this system, or ''."""
		if self.in_suite and not suite_tree.path().is_dir():
			return 'there is no suite tree'
		if self.narrow and not guest_tree.cross_path(architectures.named(self.narrow)).is_dir():
			return f'there is no tree for {self.narrow}'
		return guest_python.missing() if self.is_python else ''


def _folder(architecture):
	return programs.folder(architecture) if architecture.is_foreign else build_dir()


def tests(architecture=architectures.AMD64):
	"""Return the tests of tests.list that guests of the @architecture can run; raises Failure for a malformed
	line."""
	found = []
	for number, line in enumerate(_LIST.read_text().splitlines(), 1):
		words = line.split('#')[0].split()
		if not words:
			continue
		modes = words[1].split(',') if len(words) > 1 else []
		if (len(words) < 4 or not words[2].isdigit()
		    or set(modes) - {*_MODES, guest.DEBUG, _CROSS, _EACH, _NARROW, _NEWEST, _SUITE}):
			raise Failure(f'{_LIST}:{number}: a line is NAME MODE[,MODE] SECONDS PROGRAM [ARGUMENT...]')
		narrow = architecture.narrow if _NARROW in modes else ''
		if _NARROW in modes and not narrow:
			continue
		folder = _folder(architectures.named(narrow) if narrow else architecture)
		script = FOLDER / words[3]
		program = script if script.is_file() else folder / words[3]
		plain = tuple(mode for mode in modes if mode in _MODES)
		found.append(Test(folder, words[0], plain, guest.DEBUG in modes, _EACH in modes, _NEWEST in modes, _CROSS in modes,
				  _SUITE in modes, narrow, int(words[2]), program, tuple(words[4:])))
	return found


def plan(series, chosen):
	"""Return the guests to boot, with the tests of each: {(kernel series, mode): [Test]}. @chosen(name): returns
	whether the user chose the test with this full name.

	@series: kernels, oldest first, and perhaps the debug kernel, which runs only tests marked
	for it, in their first mode. The newest kernel runs each test in all of its modes, the
	oldest each test in its first mode, except those marked _NEWEST. A kernel between these two
	runs only the tests marked _EACH, because the driver has no code for such a kernel alone.
	"""
	boots = {}
	plain = [kernel for kernel in series if kernel != guest.DEBUG]
	for kernel in series:
		for mode in _MODES:
			wanted = [test for test in tests() if _is_for(test, kernel, mode, plain)
				  and chosen(f'{prefix_of(kernel, mode)}.{test.name}')]
			if wanted:
				boots[kernel, mode] = wanted
	return boots


def cross_tests(architecture, chosen):
	"""Return the tests for a guest of another @architecture. @chosen: see plan()."""
	return [test for test in tests(architecture) if test.on_cross
		and chosen(f'{prefix_of(architecture.name, architecture.dma)}.{test.name}')]


def build_narrow(wanted, progress):
	"""Build the programs for 32 bits of the tests @wanted. If there is no compiler for them, a
	message says so, and the tests are skipped."""
	for name in sorted({test.narrow for test in wanted if test.narrow}):
		targets = sorted({target for test in wanted if test.narrow == name for target in test.targets()})
		try:
			found = guest.cross(architectures.named(name), progress)
		except Failure as failure:
			console.say(str(failure))
			continue
		programs.build(found, targets, progress)


def longest(kernel, wanted):
	"""Return the largest number of seconds that a guest with the tests @wanted may take on the reference machine of
	pace.py."""
	seconds = _OVERHEAD + sum(test.timeout for test in wanted)
	return seconds * (_DEBUG_FACTOR if kernel == guest.DEBUG else 1)


def with_time(wanted, is_debug):
	"""Return the tests @wanted with time limits for this machine's present speed."""
	factor = pace.slowness() * (_DEBUG_FACTOR if is_debug else 1)
	return [dataclasses.replace(test, timeout=math.ceil(factor * test.timeout)) for test in wanted]


def _is_for(test, kernel, mode, plain):
	"""Return whether @test runs on @kernel booted in @mode. @plain: all kernels except the debug kernel, oldest
	first."""
	if kernel == guest.DEBUG:
		# On the debug kernel a test runs once: in its first mode, or with iommu if it has
		# no mode.
		return test.on_debug and mode == (*test.modes, 'iommu')[0]
	if kernel == plain[-1]:
		return mode in test.modes
	wanted = test.on_each or kernel == plain[0] and not test.only_newest
	return wanted and mode in test.modes[:1]


def prefix_of(kernel, mode):
	return f'vm-{kernel}-{mode}'


def guest_for(series, progress):
	"""Return the Guest with the kernel @series (None: the newest). Missing parts are made."""
	if series == guest.DEBUG:
		return debug_kernel.find(progress)
	return guest.find(progress, [series] if series else [])


def run(found, series, mode, wanted, modules, executables, progress):
	"""Boot one guest and run the tests @wanted in it; returns their cases.

	@modules: paths of nvdla.ko and then of modules that tests may load. @executables: further
	programs, {name: path}.
	"""
	prefix = prefix_of(found.architecture.name if found.architecture.is_foreign else series, mode)
	dma, devices, core = _MODES[mode]
	kernel = found.kernel(series)
	if dma == 'cma' and not kernel.has('CONFIG_DMA_CMA'):
		return [Case(f'{prefix}.{test.name}', results.SKIPPED, f'Linux {series} has no CMA here') for test in wanted]
	without = [test for test in wanted if test.missing()]
	cases = [Case(f'{prefix}.{test.name}', results.SKIPPED, test.missing()) for test in without]
	wanted = [test for test in wanted if test not in without]
	missing = [test for test in wanted if not test.program.is_file()]
	cases += [Case(f'{prefix}.{test.name}', results.FAILED, f'{test.program} is not there') for test in missing]
	wanted = [test for test in wanted if test not in missing]
	if not wanted:
		return cases
	logs = build_dir() / 'vm' / prefix
	shutil.rmtree(logs, ignore_errors=True)
	share = logs / 'results'
	share.mkdir(parents=True)
	wanted = with_time(wanted, kernel.is_debug)
	seconds = _OVERHEAD + sum(test.timeout for test in wanted)
	executables, files = _image(found, wanted, executables, modules[1:], logs / 'plan')
	data = reference_data()
	with_python = any(test.is_python for test in wanted)
	options = vm.Options(
		kernel=kernel.release, dma=dma, devices=devices, share=share, logs=logs, timeout=seconds,
		chip=f'variant={core},{_CHIP}',
		mounts=((data,) if data else ()) + (guest_python.mounts() if with_python else ()),
		environment={'NVDLA_CHIP': _CHIP} | ({'NVDLA_REFERENCE_DATA': str(data)} if data else {})
		| (guest_python.environment() if with_python else {}))
	progress(f'booting Linux {kernel.release} ({mode}): {", ".join(test.name for test in wanted)}')
	with open(logs / 'output', 'wb') as output:
		machine = vm.Machine(found, options, modules[0], executables, files, progress, lambda: how_far(wanted, share))
		outcome = machine.run(['sh', f'{_INSIDE}/run.sh', f'{_INSIDE}/plan'], output=output.write, errors=output.write)
	for test in wanted:
		cases += _collect(test, share, f'{prefix}.{test.name}')
	cases.append(kernel_case(outcome, prefix))
	return cases


def how_far(wanted, share):
	"""Return a sentence about the progress of the tests @wanted, from the files that they write to the folder
	@share."""
	ended = [test for test in wanted if (share / f'{test.name}.status').is_file()]
	running = [test.name for test in wanted if test not in ended and (share / f'{test.name}.log').is_file()]
	return f'{len(ended)} of {len(wanted)} tests have ended{", now " + running[0] if running else ""}'


def _image(found, wanted, executables, modules, plan_file):
	"""Return the arguments (executables, files) of image.programs() for the tests @wanted. Writes the list of tests
	that the guest reads to @plan_file."""
	executables = dict(executables)
	files = {f'{_INSIDE}/{path.name}': path for path in FOLDER.iterdir() if path.is_file()}
	files |= {f'{_INSIDE}/{path.name}': path for path in modules}
	files[f'{_INSIDE}/picture.png'] = EXAMPLE_PICTURE
	files |= {f'{_INSIDE}/digits/{path.name}': path for path in EXAMPLE_MODEL.iterdir() if path.is_file()}
	lines = []
	for test in wanted:
		command = f'{_INSIDE}/{test.program.name}' if test.is_script else test.program.name
		if test.in_suite:
			files |= image.suite_files([test.program, *build.needed_by(test.program)])
			command = ' '.join(suite_tree.loader_command(test.program))
		if test.is_python:
			files |= guest_python.files()
			command = f'{guest_python.INTERPRETER} {command}'
		if test.narrow:
			command = f'{test.program.name}-{test.narrow}'
			files |= programs.files(guest.cross(architectures.named(test.narrow), console.say), {command: test.program})
		executables |= {path.name: path for path in test.programs()}
		kind = 'tap' if test.is_script else 'gtest'
		arguments = [Path(word).name if (test.folder / word).is_file() else word for word in test.arguments]
		lines.append(' '.join([test.name, kind, str(test.timeout), command, *arguments]) + '\n')
	plan_file.write_text(''.join(lines))
	files[f'{_INSIDE}/plan'] = plan_file
	if found.architecture.is_foreign:
		return {}, files | programs.files(found, executables)
	return executables, files


def _collect(test, share, prefix):
	"""Return the cases of one test, from the files that it left in the folder @share."""
	status_file = share / f'{test.name}.status'
	output_file = share / f'{test.name}.log'
	output = output_file.read_text(errors='replace') if output_file.is_file() else ''
	end = '\n'.join(output.splitlines()[-15:])
	words = status_file.read_text().split() if status_file.is_file() else []
	if len(words) != 2:
		return [Case(prefix, results.FAILED, f'it never ended in the guest\n{end}')]
	status, seconds = map(int, words)
	if test.is_script:
		cases = results.from_tap(output, prefix) if status != 137 else []
	else:
		cases = results.from_gtest(share / f'{test.name}.xml', prefix)
	if status == 137:
		limit = f', its time is {test.timeout} s' if seconds >= test.timeout else ''
		return cases + [Case(prefix, results.FAILED, f'killed after {seconds} s{limit}\n{end}')]
	if not cases or (status != 0 and not any(case.outcome == results.FAILED for case in cases)):
		return cases + [Case(prefix, results.FAILED, f'exit status {status} and no failed case\n{end}')]
	return cases


def kernel_case(outcome, prefix):
	"""Return one more case, for the guest itself. It fails if the kernel reported a failure, the driver could not
	be unloaded, or the guest did not power off."""
	problems = list(outcome.problems)
	if outcome.status not in (0, vm.STATUS_KERNEL) and not problems:
		problems.append(f'the guest\'s test runner ended with status {outcome.status}')
	if not problems:
		return Case(f'{prefix}.kernel', results.PASSED)
	lines = outcome.kernel_log.read_text(errors='replace').splitlines()[-15:]
	return Case(f'{prefix}.kernel', results.FAILED,
		    '\n'.join([*problems, f'the end of {outcome.kernel_log}:', *lines]))
