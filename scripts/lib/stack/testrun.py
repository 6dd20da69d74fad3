# SPDX-License-Identifier: MIT
"""scripts/test: builds, runs every test, and prints a summary in the last line."""

import argparse
import contextlib
import functools
import os
import re
import sys
from pathlib import Path

from . import (architectures, build, console, debug_kernel, guest, guest_tree, kernels, kmdcheck, kmod, packagetest, processes,
	       programs, results, setup, suite_tree, treetests, vmtests)
from .console import Failure
from .paths import ROOT, build_dir, reference_data
from .results import Case
from .vmrun import guest_programs, named_in

# Bytes of this machine's memory that one guest may take: 1 GiB as its own memory, and as much for QEMU and the device
# model.
_GUEST_MEMORY = 2 << 30
# Niceness of the other tests while the packages' test runs. The packages' test then gets three quarters of the
# processors' time if it can use them.
_NICENESS = 5
# Tests of the plug-ins for ONNX Runtime and TensorFlow Lite. The plug-ins are built with the suite
# tree (packages of a newer Debian).
_PLUGINS = ('onnxruntime', 'tflite')
# Suites of Meson's tests that need parts of the guest: its QEMU, or all known kernels.
_QEMU, _KERNELS = 'qemu', 'kernels'
# All tests that exist only with the suite tree.
_OF_SUITE_TREE = (*_PLUGINS, 'host-parts', 'open-outputs', 'tflite-host-parts')

_DESCRIPTION = '''\
Install missing packages, build, and run the tests of this project: a kernel driver, a runtime and a
device model (NVDLA in software) for NVDLA, a hardware accelerator. Some tests run on this machine,
the host. The others run in guests, virtual machines with the driver. There are guests for each
supported kernel. Guests with the newest kernel run every guest test, except two that need the debug
kernel. Guests with the oldest kernel run the tests of the driver. Guests with any other kernel run
only the tests of the driver's interface. If scripts/kernel-debug has built the debug kernel, which
has run-time checks, further guests run tests on this kernel. All these guests are x86-64, as the
host. One more guest emulates a riscv64 processor and has the device tree of a real machine; further
guests with emulated processors run only with --arch. The last line is "N passed, N failed", and
", N skipped" if tests were skipped.
'''
_EPILOG = '''\
The reference data (results of the hardware, and models with their results) is not in the
repository. Its folder is $NVDLA_REFERENCE_DATA, or else the folder "shared" beside the clone.
Without it, the tests that need it are skipped.
'''


def _parse():
	parser = console.Parser('scripts/test', '--quick conv', description=_DESCRIPTION, epilog=_EPILOG,
					 formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('--quick', action='store_true', help='run only the tests that need no guest')
	parser.add_argument('--kernel', metavar='SERIES', help=(
		'run the tests on the host, and every guest test in guests with this kernel only (6.12, 7.3, ...); leave out '
		'the tests "kmd.checkpatch" and "packages" and the riscv64 guest'))
	parser.add_argument('--debug-kernel', action='store_true', help=(
		'run only the tests marked "debug" in tests/vm/tests.list, in guests with the debug kernel, which '
		'scripts/kernel-debug builds if it does not exist; any report of KASAN, lockdep, UBSAN, kmemleak or the DMA-API '
		'checks is a failure. Excludes --quick and --kernel'))
	parser.add_argument('--arch', metavar='NAME', help=(
		'run only the tests in guests with this emulated processor, riscv64 or arm64. Each machine of '
		'tests/devicetree/machines.list with this processor has a guest, which has the machine\'s device tree and runs '
		'tests/vm/device-tree.sh. One more guest, whose NVDLA is a PCI function, runs the tests '
		'marked "cross" in tests/vm/tests.list. Excludes --quick, --kernel and --debug-kernel'))
	parser.add_argument('--list', action='store_true', help='print the names of the tests; build and run nothing')
	parser.add_argument('filters', metavar='FILTER', nargs='*', help='run only the tests whose name contains FILTER or, if FILTER has a *, matches this pattern; with several, those that fit any of them')
	arguments = parser.parse_args()
	if arguments.debug_kernel:
		if arguments.quick or arguments.kernel:
			parser.error('--debug-kernel goes with neither --quick nor --kernel')
		arguments.kernel = guest.DEBUG
	if arguments.arch and (arguments.quick or arguments.kernel):
		parser.error('--arch goes with none of --quick, --kernel and --debug-kernel')
	return arguments


def _host_tests(chosen):
	return [test['name'] for test in build.tests() if chosen(test['name'])]


def _run_host_tests(names, quick):
	environment = {}
	data = reference_data()
	if data:
		environment['NVDLA_REFERENCE_DATA'] = str(data)
	if not quick:
		environment['NVDLA_QEMU'] = str(ROOT / 'scripts' / 'qemu')
	# A result file of an earlier run would hide a crash of a GoogleTest program.
	for name in names:
		(build_dir() / f'{name}.xml').unlink(missing_ok=True)
	logs = build_dir() / 'meson-logs'
	with console.stage('host tests') as progress:
		progress(f'{len(names)} programs')
		log = build.run_tests(names, environment, progress)
	if not (logs / 'testlog.json').is_file():
		raise Failure(f'meson test ran nothing; log: {log}')
	return results.from_meson(logs)


def _is_in(suite, chosen):
	"""Return whether a chosen test on the host is in Meson's @suite."""
	return any(word.endswith(f':{suite}') for test in build.tests() if chosen(test['name']) for word in test['suite'])


def _boots(arguments, chosen, there):
	"""Return the guests to boot: see vmtests.plan(). @there: the series of the kernels in the guest."""
	return vmtests.plan(_series(arguments, there), chosen)


def _kernels(arguments, chosen):
	"""Return the series of the kernels that the chosen tests need, as far as they are known before the guest tree is
	made; None if the tests need no part of the guest."""
	if arguments.quick:
		return None
	if arguments.kernel:
		return [arguments.kernel]
	if not arguments.filters or _is_in(_KERNELS, chosen):
		return list(kernels.known())
	boots = _boots(arguments, chosen, guest.series_there())
	# The debug kernel is found on its own: debug_kernel.find().
	needed = list(dict.fromkeys(kernel for kernel, _ in boots if kernel != guest.DEBUG))
	return needed if needed or chosen(packagetest.NAME) or _is_in(_QEMU, chosen) else None


def _needs_suite_tree(arguments, chosen):
	if arguments.kernel == guest.DEBUG:
		return False
	if not arguments.filters:
		return True
	boots = {} if arguments.quick else _boots(arguments, chosen, guest.series_there())
	# The tests of the installed project also look at the plug-ins.
	return (any(map(chosen, _OF_SUITE_TREE)) or any(test.in_suite for tests in boots.values() for test in tests)
		or _is_in('install', chosen))


def _guest(arguments, needed):
	"""Return the Guest, with the @needed kernels if the archive has them, and the series of the kernels among which
	vmtests.plan() chooses: those of the Guest, and those that were not fetched because no chosen test needs them."""
	with console.stage('guest tree') as progress:
		if arguments.kernel:
			found = vmtests.guest_for(arguments.kernel, progress)
			found.kernel(arguments.kernel)
			return found, found.series()
		found = guest.find(progress, needed)
		if set(needed) <= set(found.series()):
			return found, sorted({*guest.series_there(), *found.series()}, key=kernels.number)
		if set(needed) != set(kernels.known()):
			# If a kernel cannot be fetched, another may be the oldest or the newest: fetch all known ones.
			found = guest.find(progress, kernels.known())
		return found, found.series()


def _guest_and_build(arguments, chosen):
	"""Find the guest and build. Returns the Guest, None if no chosen test needs one; the series among which
	vmtests.plan() chooses; and True if all targets were built, False if only those that the tests need.

	The guest is found first, so that a missing requirement is reported before compiling. But if the guest tree
	(unpacked packages with QEMU and kernels) does not exist yet, it is made while the targets compile."""
	needed = _kernels(arguments, chosen)
	later = needed is not None and arguments.kernel != guest.DEBUG and not guest_tree.path().is_dir()
	found, series = _guest(arguments, needed) if needed is not None and not later else (None, [])
	there = [] if needed is None else series or guest.series_there()
	with setup.guest_tree_meanwhile() if later else contextlib.nullcontext(), console.stage('build') as progress:
		targets = _targets(arguments, chosen, there, progress)
		build.build(progress, targets, tests=True)
	if later:
		found, series = _guest(arguments, needed)
	return found, series, targets is None


def _series(arguments, there):
	"""Return the series of the kernels on which tests run, oldest first. @there: the series that the guest has."""
	if arguments.quick or arguments.kernel:
		return [arguments.kernel] if arguments.kernel else []
	# The debug kernel takes minutes to build, so its tests run only if it exists.
	return there + [guest.DEBUG] * debug_kernel.path().is_dir()


def _targets(arguments, chosen, there, progress):
	"""Return the targets for the chosen tests: the programs that the tests run, and those that every guest has.
	None stands for all targets.

	@there: the series of the kernels in the guest, [] if no chosen test needs one.
	"""
	if not arguments.filters:
		return None
	build.configure_anew(progress, tests=True)
	wanted = {test for tests in _boots(arguments, chosen, there).values() for test in tests}
	names = _host_tests(chosen)
	targets = build.targets_of(names)
	if (targets is None or not names and not wanted and not _machines(arguments, chosen) or there and chosen(packagetest.NAME)
	    or any(test.in_suite or test.is_python for test in wanted) or any(map(chosen, _PLUGINS))
	    or any(map(chosen, _OF_SUITE_TREE)) and not suite_tree.path().is_dir()):
		return None
	model = [build.MODEL] if _machines(arguments, chosen) else []
	return [*targets, *model, *(build.programs() if wanted else []), *sorted({name for test in wanted if not test.narrow for name in test.targets()})]


def _names(arguments, chosen):
	"""Return the names of the chosen tests; neither programs nor trees are made for that."""
	names = [treetests.name_of(machine) for machine in _machines(arguments, chosen)]
	if arguments.arch:
		architecture = architectures.named(arguments.arch)
		return names + [f'{vmtests.prefix_of(architecture.name, architecture.dma)}.{test.name}'
				for test in vmtests.cross_tests(architecture, chosen)]
	if arguments.kernel != guest.DEBUG:
		later = [] if suite_tree.path().is_dir() else [name for name in _OF_SUITE_TREE if chosen(name)]
		names += sorted({*_host_tests(chosen), *later})
	if not arguments.kernel and chosen(kmdcheck.STYLE):
		names.append(kmdcheck.STYLE)
	boots = _boots(arguments, chosen, guest.series_there())
	names += [f'vm-{kernel}-{mode}.{test.name}' for (kernel, mode), wanted in boots.items() for test in wanted]
	if not arguments.quick and not arguments.kernel and chosen(packagetest.NAME):
		names.append(packagetest.NAME)
	return names


def _check_filters(arguments):
	"""Raise Failure, with the nearest names, if one of the filters chooses no test: before anything is built."""
	build.configure_anew(lambda text: print(text, file=sys.stderr), tests=True)
	for part in arguments.filters:
		if _names(arguments, results.chooser([part])):
			continue
		near = results.nearest(part, _names(arguments, results.chooser([])))
		raise Failure(f'no test has {part} in its name; ' + (f'did you mean {" or ".join(near)}? ' if near else '')
			      + 'scripts/test --list prints all names', 2)


def _machines(arguments, chosen):
	"""Return the machines whose device trees are tested."""
	if arguments.quick or arguments.kernel:
		return []
	return [machine for machine in treetests.machines(arguments.arch) if chosen(treetests.name_of(machine))]


def _test_machine(machine):
	with console.stage(f'guest tests {treetests.name_of(machine)}') as progress:
		return treetests.run(machine, progress)


def _test_machines(machines):
	"""Test @machines (device trees) one after the other, because they share a guest tree and the modules that are
	built there; returns the cases."""
	return [case for machine in machines for case in _test_machine(machine)]


def _test_architecture(architecture, wanted):
	"""Run the tests @wanted in a guest with another processor, where the NVDLA is a PCI function; returns the
	cases."""
	with console.stage('programs') as progress:
		found = guest.cross(architecture, progress)
		scripts = [str(test.program) for test in wanted if test.is_script]
		is_named = named_in(scripts, vmtests.FOLDER)
		used = [name for name in build.programs() if scripts and is_named(Path(name).name)]
		targets = [*used, *(name for test in wanted if not test.narrow for name in test.targets())]
		built = programs.build(found, targets, progress) if targets else programs.folder(architecture)
		vmtests.build_narrow(wanted, progress)
	kernel = found.kernel()
	with console.stage('module') as progress:
		modules = [module for part in (kmod.DRIVER, kmod.TESTS) for module in kmod.build(found, kernel, progress, part=part)]
	with console.stage(f'guest tests {architecture.name}') as progress:
		return vmtests.run(found, kernel.series, architecture.dma, wanted, modules, {Path(name).name: built / name for name in used},
				   progress)


def _test_arch(arguments, chosen, machines, names):
	"""Run the tests @names in guests with another processor; returns the exit status of the program."""
	with setup.test_data_meanwhile(names), console.stage('build') as progress:
		build.configure_anew(progress)
		build.build(progress, [build.MODEL])
	architecture = architectures.named(arguments.arch)
	wanted = vmtests.cross_tests(architecture, chosen)
	return _tell([*_test_machines(machines), *(_test_architecture(architecture, wanted) if wanted else [])])


def _tell(cases):
	"""Print the results of the @cases; returns the exit status of the program."""
	console.say_durations()
	print(*results.details(cases), results.summary(cases), sep='\n', flush=True)
	return 1 if any(case.outcome == results.FAILED for case in cases) else 0


def _build_plugins():
	"""Build the plug-ins for TensorFlow Lite and ONNX Runtime, with the suite tree, which has
	both from a newer Debian. Returns skipped Cases for their tests if there is no tree."""
	try:
		with console.stage('suite tree') as progress:
			suite_tree.ensure(progress)
	except Failure as failure:
		return [Case(name, results.SKIPPED, str(failure)) for name in _OF_SUITE_TREE]
	with console.stage('plug-ins') as progress:
		build.build(progress)
	return []


def main():
	arguments = _parse()
	chosen = results.chooser(arguments.filters)
	if arguments.filters or arguments.list:
		_check_filters(arguments)
	if arguments.list:
		print(*_names(arguments, chosen), sep='\n')
		return 0
	machines = _machines(arguments, chosen)
	# For the names of tests on the host, the project has to be configured; _check_filters() has done that.
	names = _names(arguments, chosen) if arguments.filters or arguments.arch or arguments.debug_kernel else None
	if arguments.arch:
		return _test_arch(arguments, chosen, machines, names)
	with setup.test_data_meanwhile(names):
		needs_suite_tree = _needs_suite_tree(arguments, chosen)
		with setup.suite_tree_meanwhile() if needs_suite_tree else contextlib.nullcontext():
			found, there, everything = _guest_and_build(arguments, chosen)
	without = _build_plugins() if everything and needs_suite_tree else []
	names = [] if arguments.kernel == guest.DEBUG else _host_tests(chosen)
	series = _series(arguments, there)
	boots = vmtests.plan(series, chosen)
	style = not arguments.kernel and chosen(kmdcheck.STYLE)
	packages = found and not arguments.kernel and chosen(packagetest.NAME)
	with console.stage('programs of 32 bits', quiet_below=5) as progress:
		vmtests.build_narrow({test for tests in boots.values() for test in tests}, progress)
	with _packages_meanwhile(found if packages else None) as wait_for_packages:
		cases = _run_host_tests(names, arguments.quick) if names else []
		cases += [case for case in without if chosen(case.name)]
		if style:
			cases.append(kmdcheck.style())
		guests = {kernel: debug_kernel.find(console.say) if kernel == guest.DEBUG else found for kernel, _ in boots}
		modules = {kernel: _modules(guests[kernel], kernel, sparse=kernel == series[0]) for kernel in guests}
		cases += _run_guest_tests(boots, guests, modules)
		cases += _test_machines(machines)
		cases += wait_for_packages()
	return _tell(cases)


@contextlib.contextmanager
def _packages_meanwhile(found):
	"""Run the packages' test while the body of the with statement runs, because it is the longest test and often
	waits for the disk or for a single process.

	@found: the Guest with the QEMU for it; None to leave the test out. Yields a function that waits for the test's
	cases.
	"""
	if not found:
		yield list
		return

	def progress(text):
		console.say(f'{packagetest.NAME}: {text}')

	with processes.meanwhile(functools.partial(packagetest.run, found, progress)) as result:
		# The packages' test has precedence, because it takes longest: if it ended last, it would keep only
		# one processor busy, while no other test is left.
		os.nice(_NICENESS)

		def wait():
			with console.stage(packagetest.NAME):
				return result() or [_killed(packagetest.NAME)]

		yield wait


def _killed(name):
	return Case(name, results.FAILED, 'the process that ran it was killed')


def _guests_at_once():
	"""Return the number of guests that run at the same time: one more than there are processors, if the memory
	suffices, because an emulated guest keeps about one processor busy, but its tests sometimes wait."""
	available = int(re.search(r'MemAvailable:\s+(\d+)', Path('/proc/meminfo').read_text())[1]) << 10
	return max(1, min(os.cpu_count() + 1, available // _GUEST_MEMORY))


def _run_guest_tests(boots, guests, modules):
	"""Run the guests in parallel, starting with those whose tests take longest; returns the cases in the order of
	@boots."""
	order = sorted(boots, key=lambda boot: vmtests.longest(boot[0], boots[boot]), reverse=True)
	tasks = [functools.partial(_guarded, guests[kernel], kernel, mode, boots[kernel, mode], modules[kernel])
		 for kernel, mode in order]
	with console.stage('guests'):
		done = dict(zip(order, processes.side_by_side(tasks, _guests_at_once())))
	return [case for boot in boots for case in done[boot] or [_killed('vm-{}-{}'.format(*boot))]]


def _modules(found, series, sparse):
	"""Build the driver and the tests' modules for a kernel; returns their paths, or the Failure
	if they do not build: then only this kernel's tests fail.

	@sparse: check them with sparse, too. The oldest kernel is enough, because all compatibility
	code is compiled for it; the test "kernel-form" checks the sources as the newest kernel
	compiles them.
	"""
	with console.stage('module') as progress:
		try:
			return [module for part in (kmod.DRIVER, kmod.TESTS)
				for module in kmod.build(found, found.kernel(series), progress,
							 sparse=sparse and kmod.has_sparse(found), part=part)]
		except Failure as failure:
			return failure


def _guarded(found, kernel, mode, wanted, modules):
	"""Run the tests @wanted in one guest; returns their cases. If the guest cannot be started,
	the tests fail, and the test run continues. If the kernel is too new for the driver,
	the tests are skipped."""
	try:
		if isinstance(modules, Failure):
			raise modules
		with console.stage(f'guest tests {kernel} {mode}') as progress:
			return vmtests.run(found, kernel, mode, wanted, modules, guest_programs(), progress)
	except kmod.DoesNotBuild as failure:
		outcome, message = kmdcheck.verdict(found.kernel(kernel), failure)
	except Failure as failure:
		outcome, message = results.FAILED, str(failure)
	return [Case(f'vm-{kernel}-{mode}.{test.name}', outcome, message) for test in wanted]


if __name__ == '__main__':
	console.run_program(main)
