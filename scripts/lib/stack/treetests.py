# SPDX-License-Identifier: MIT
"""The tests in guests that have the device tree of a real machine with an NVDLA:
tests/devicetree."""

import shutil
from pathlib import Path

from . import architectures, guest, kmod, namespace, processes, programs, results, vm, vmtests
from .console import Failure
from .paths import ROOT, build_dir, reference_data
from .results import Case

_FOLDER = ROOT / 'tests' / 'devicetree'
_SCRIPTS = [vmtests.FOLDER / name for name in ('device-tree.sh', 'tap.sh', 'seven.sh')]
_INSIDE = '/usr/libexec/nvdla'
# The program that runs a network, as a path in the build directory.
_RUN = Path('umd/tools/nvdla-run')
_SECONDS = 300


def machines(architecture=None):
	"""Return the machines of machines.list: [(name, Architecture, configuration of the NVDLA)]. @architecture: name
	of the processor that they have; None: only the list's first machine."""
	lines = (line.split('#')[0].split() for line in (_FOLDER / 'machines.list').read_text().splitlines())
	rows = [(name, architectures.named(row), core) for name, row, core in filter(None, lines)]
	if architecture is None:
		return rows[:1]
	chosen = [row for row in rows if row[1].name == architecture]
	if not chosen:
		raise Failure(f'{_FOLDER / "machines.list"} has no machine for {architecture}', 2)
	return chosen


def name_of(machine):
	"""Prefix of the names of a machine's test cases."""
	return f'vm-{machine[1].name}-{machine[0]}'


def _jobs(found, progress):
	"""Build the test programs double.c and fill.c, which use the driver without the runtime library, for the Guest
	@found; returns the programs' paths. If the kernel also runs 32-bit programs, also build double.c for 32
	bits."""
	jobs = [_job(found, name, name, progress) for name in ('double', 'fill')]
	if found.architecture.narrow:
		narrow = guest.cross(architectures.named(found.architecture.narrow), progress)
		jobs.append(_job(narrow, 'double', 'double32', progress))
	return jobs


def _job(found, source, name, progress):
	"""Compile tests/devicetree/@source.c to the program @name for the Guest @found; returns its
	path."""
	folder = programs.folder(found.architecture)
	folder.mkdir(parents=True, exist_ok=True)
	gnu = found.architecture.gnu
	argv = [f'{gnu}-gcc', '-static', '-D_FILE_OFFSET_BITS=64', '-Wall', '-Wextra', '-Werror', '-I/tmp/sources/include/uapi',
		f'-I/usr/{gnu}/include/drm', '-o', f'/tmp/programs/{name}', f'/tmp/sources/tests/devicetree/{source}.c']
	log = folder / f'{name}.log'
	if processes.run_logged(namespace.inside(found.root, {ROOT: '/tmp/sources', folder: '/tmp/programs'}, argv), log, progress):
		raise Failure(f'{_FOLDER / source}.c does not compile: {processes.tail(log, 1).strip()}; log: {log}')
	return folder / name


def run(machine, progress):
	"""Boot a guest with the device tree of the @machine and test there; returns the cases."""
	name, architecture, core = machine
	prefix = name_of(machine)
	try:
		found = guest.cross(architecture, progress)
	except Failure as failure:
		return [Case(prefix, results.SKIPPED, str(failure))]
	try:
		kernel = found.kernel()
		modules = [path for part in (kmod.DRIVER, kmod.TESTS) for path in kmod.build(found, kernel, progress, part=part)]
		logs = build_dir() / 'vm' / prefix
		shutil.rmtree(logs, ignore_errors=True)
		logs.mkdir(parents=True)
		files = {f'{_INSIDE}/{path.name}': path for path in [*_SCRIPTS, *modules[1:], *_jobs(found, progress)]}
		data = reference_data()
		if data:
			files |= programs.files(found, {_RUN.name: programs.build(found, [_RUN], progress) / _RUN})
		tree = _FOLDER / f'{name}.dts'
		# QEMU emulates no caches, so a missing cache synchronisation would go unnoticed. With bounce buffers it
		# shows, because data that the driver does not synchronise are not copied.
		dma = 'bounce' if 'dma-noncoherent' in tree.read_text() else 'none'
		options = vm.Options(kernel=kernel.release, dma=dma, chip=f'variant={core}', logs=logs, timeout=_SECONDS,
				     device_tree=tree, mounts=(data,) if data else (),
				     environment={'NVDLA_REFERENCE_DATA': str(data)} if data else {})
		progress(f'booting Linux {kernel.release} with the device tree of {name}')
		output = bytearray()
		outcome = vm.Machine(found, options, modules[0], {}, files).run(
			['sh', '-c', f'sh {_INSIDE}/{_SCRIPTS[0].name}; true'], output=output.extend, errors=output.extend)
	except Failure as failure:
		return [Case(prefix, results.FAILED, str(failure))]
	(logs / 'output').write_bytes(output)
	return [*results.from_tap(output.decode(errors='replace'), prefix), vmtests.kernel_case(outcome, prefix)]
