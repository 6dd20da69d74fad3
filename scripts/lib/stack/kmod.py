# SPDX-License-Identifier: MIT
"""Building nvdla.ko and the tests' modules for a kernel of the guest, outside of the source tree.

kbuild writes beside the sources it compiles, so it gets a copy of kmd/ (or tests/kmd/) and
include/ in the build directory (build/kmd-RELEASE), with the generated headers laid over it.
For a kernel of the guest tree (unpacked Debian packages), kbuild runs inside that tree, in a mount
namespace that ends with its last process.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import console, guest, kernels, namespace, processes, space
from .build import DoesNotCompile, alone, generate as build_headers
from .console import Failure
from .paths import ROOT, build_dir

_SOURCES = ('.c', '.h', '.mk', '.S')
# Command with which sparse checks the driver. The definitions replace two built-ins that newer
# kernels' headers use, but packaged versions of sparse do not know.
SPARSE = ("sparse -Wsparse-error -D__typeof_unqual__=__typeof__ "
	  "'-D__builtin_strlen(string)=(sizeof(string) - 1)'")
# Parts that can be built, as folders of the source tree.
DRIVER, TESTS = 'kmd', 'tests/kmd'
# Sources of the fault injection for tests. This module compiles them into the driver; the driver in the Debian packages
# does not have them.
_FAULTS = Path('tests/kmd/faults')
# An error that is the fault of a source, reported by compiler, sparse or modpost (unlike, for example, a full disk).
_ERROR = re.compile(r'^(?:\S+\.[ch]:\d+:(?:\d+:)? error:|ERROR: modpost:) .*$', re.MULTILINE)
# The beginning of a compiler's message with a relative path of a file.
_RELATIVE = re.compile(r'^(In file included from |\s+from |)(?!/)([\w./-]+\.[ch])(?=:)', re.MULTILINE)
# Lines of make's output that are not the compiler's messages.
_OF_MAKE = re.compile(r'  (?:CC|LD|MODPOST|CHECK)|make: |make\[\d+\]: (?:Entering|Leaving) directory')

# Where the copy of the sources is mounted inside of the guest tree.
INSIDE = Path('/mnt')


class DoesNotBuild(DoesNotCompile):
	"""Modules that do not build for a kernel. @reason: the first error; @details: the compiler's messages."""

	def __init__(self, what, reason, log, details=''):
		super().__init__(f'{what} does not build: {reason}; log: {log}')
		self.reason = reason
		self.log = log
		self.details = details


def _wanted(source, part):
	"""Return the files that kbuild needs to build @part: {path in the copy: contents}."""
	files = {}
	for folder in (part, 'include'):
		for path in sorted((source / folder).rglob('*')):
			if path.is_file() and (path.suffix in _SOURCES or path.name in ('Kbuild', 'Makefile')):
				files[path.relative_to(source)] = path.read_bytes()
	for path in sorted((build_dir() / 'include').rglob('*.h')):
		files[path.relative_to(build_dir())] = path.read_bytes()
	if part == DRIVER and (source / _FAULTS).is_dir():
		files |= {Path(part, path.name): path.read_bytes() for path in (source / _FAULTS).glob('*.[ch]')}
		files[Path(part, 'Kbuild')] += b'\n' + (source / _FAULTS / 'faults.mk').read_bytes()
	return files


def _synchronise(files, copy):
	"""Make the folder @copy contain exactly @files. Only changed files are written, so that make rebuilds only what
	depends on these."""
	manifest = copy / '.sources'
	before = set(manifest.read_text().splitlines()) if manifest.is_file() else set()
	for name in before - {str(path) for path in files}:
		(copy / name).unlink(missing_ok=True)
	for path, contents in files.items():
		target = copy / path
		if not target.is_file() or target.read_bytes() != contents:
			target.parent.mkdir(parents=True, exist_ok=True)
			target.write_bytes(contents)
	manifest.write_text(''.join(f'{path}\n' for path in files))


def _make(found, kernel, copy, part, variables):
	inside = copy if found.root is None else INSIDE
	argv = ['make', '-C', str(kernel.build), f'M={inside / part}', f'-j{jobs()}',
		f'NVDLA_GENERATED={inside / "include"}', *found.architecture.make_variables, *variables, 'modules']
	if found.root is None:
		return argv
	folders = {copy: inside} | ({kernel.headers: kernel.build} if kernel.headers else {})
	if (found.root / 'usr/bin/ccache').is_file():
		cached, environment = namespace.compiler_cache()
		folders |= cached
		# With this variable, Debian's kernel headers call the compiler through ccache.
		argv = ['env', *environment, *argv, 'DEBIAN_KERNEL_USE_CCACHE=1']
	return namespace.inside(found.root, folders, argv)


def jobs():
	"""Return the number of compilers that run at the same time."""
	return os.cpu_count()


def has_sparse(found):
	"""Return whether the Guest @found has the program sparse, which checks the driver."""
	return bool(shutil.which('sparse', path=found.root / 'usr/bin' if found.root else None))


def _modules(source, part):
	"""Return the file names of the modules that are built from @part."""
	if part == DRIVER:
		return ['nvdla.ko']
	return [path.with_suffix('.ko').name for path in sorted((source / part).glob('*.c'))]


def build(found, kernel, progress=lambda text: None, source=ROOT, werror=False, sparse=False, verbose=False,
	  part=DRIVER, again=True, folder=None):
	"""Build the modules of @part for @kernel of the Guest @found; returns their paths.

	Unchanged sources are not built again. With @again, unchanged sources that failed to compile
	are tried again. @folder: where the modules are built, instead of the build directory.
	"""
	if not (source / part / 'Kbuild').is_file():
		raise Failure(f'{source / part / "Kbuild"} is missing: the checkout has no such modules', 1 if source == ROOT else 2)
	name = part.replace('/', '-')
	if source != ROOT:
		name += f'-{hashlib.sha256(str(source).encode()).hexdigest()[:6]}'
	copy = (folder or build_dir()) / f'{name}-{kernel.release}'
	modules = [copy / part / name for name in _modules(source, part)]
	if not found.architecture.makes_modules:
		modules = [module.with_suffix('.o') for module in modules]
	what = f'{", ".join(module.name for module in modules)} for {kernel.release}'
	stamp = copy / '.built'
	files = _wanted(source, part)
	variables = ['W=1'] + (['KCFLAGS=-Werror'] if werror else [])
	if sparse:
		# KBUILD_CHECKSRC=2 also checks sources that were compiled before without sparse.
		# With C=2, kbuild sets this variable itself. But packaged headers of newer kernels
		# lack the script that looks for sparse, and kbuild then sets 0. kbuild cannot
		# change a variable that is on make's command line.
		variables += ['KBUILD_CHECKSRC=2', f'CHECK={SPARSE}']
	digest = hashlib.sha256(repr((sorted(files.items()), variables, str(found.root),
				      _own_headers(kernel))).encode()).hexdigest()

	def is_built():
		return all(module.is_file() for module in modules) and stamp.is_file() and stamp.read_text() == digest

	if is_built():
		return modules
	refusal = copy / '.refused'
	if not again and refusal.is_file():
		refused, reason = refusal.read_text().split('\n', 1)
		if refused == digest:
			raise DoesNotBuild(what, reason, copy / 'make.log')
	with alone(progress):
		# Another run may have built them while this one waited.
		if is_built():
			return modules
		progress(what)
		copy.mkdir(parents=True, exist_ok=True)
		stamp.unlink(missing_ok=True)
		refusal.unlink(missing_ok=True)
		_synchronise(files, copy)
		argv = _make(found, kernel, copy, part, variables)
		if verbose:
			if subprocess.call(argv) != 0:
				raise Failure(f'{what} does not build')
		else:
			try:
				_run_logged(argv, what, copy, part, progress)
			except DoesNotBuild as failure:
				if _ERROR.fullmatch(failure.reason):
					refusal.write_text(f'{digest}\n{failure.reason}')
				raise
		missing = [str(module) for module in modules if not module.is_file()]
		if missing:
			raise Failure(f'{what}: make succeeded and made no {", ".join(missing)}')
		stamp.write_text(digest)
	return modules


def _own_headers(kernel):
	"""Return a key that changes when the headers of @kernel are rebuilt; None if they have no folder of their own
	(Kernel.headers)."""
	symbols = kernel.headers / 'Module.symvers' if kernel.headers else None
	return symbols and (str(symbols), symbols.stat().st_mtime_ns if symbols.is_file() else None)


def _run_logged(argv, what, copy, part, progress):
	"""Run the make command @argv with its output in a log in @copy, and print the compiler's warnings. Raises
	DoesNotBuild."""
	log = copy / 'make.log'
	status = processes.run_logged(argv, log, progress)
	messages = _readable(log, copy, part)
	if status != 0:
		space.check(log)
		error = _ERROR.search(messages)
		reason = error.group() if error else (messages.splitlines() or ['make says nothing'])[-1]
		raise DoesNotBuild(what, reason, log, messages)
	if 'warning:' in messages:
		print(messages)


def _readable(log, copy, part):
	"""Return the compiler's messages from make's @log, with the paths of files in the source tree.

	In newer kernels, kbuild compiles in the folder @part, so that its messages have paths relative to this folder.
	"""
	def from_root(place):
		return place[1] + (f'{part}/' if (copy / part / place[2]).is_file() else '') + place[2]

	text = log.read_text(errors='replace').replace(f'{INSIDE}/', '').replace(f'{copy}/', '')
	lines = _RELATIVE.sub(from_root, text).splitlines()
	plain = [line for line in lines if not _OF_MAKE.match(line)]
	return '\n'.join(plain[-60:])


def choose(found, wanted, progress=lambda text: None):
	"""Choose the kernel to boot, and build its driver; returns (Guest that has the kernel, Kernel, path of
	nvdla.ko).

	@wanted: a series or release of the Guest @found; None for the newest kernel for which the driver builds, or
	one of the guest tree if the driver builds for no kernel of this machine. A message names kernels that were
	skipped; of the guest tree's kernels, only those newer than all known ones are skipped.
	"""
	if wanted:
		kernel = found.kernel(wanted)
		return found, kernel, build(found, kernel, progress)[0]
	failures = []
	for series in reversed(found.series()):
		kernel = found.kernel(series)
		try:
			return found, kernel, build(found, kernel, progress, again=False)[0]
		except DoesNotBuild as failure:
			# The driver is made for the known kernels of the guest tree, so if it does not build for one of
			# them, the driver has a fault.
			if found.root is not None and not kernels.is_newer(series):
				raise
			failures.append(failure)
			console.say(f'module: Linux {kernel.release} is passed over, the driver does not build for it: '
				    f'{failure.reason}; log: {os.path.relpath(failure.log)}')
	other = guest.another(found, progress)
	if other:
		return choose(other, None, progress)
	raise failures[0]


def _headers_of_host(folder):
	"""Return the Kernel whose build directory on this machine is @folder."""
	if not (folder / 'Makefile').is_file():
		raise Failure(f'--kdir {folder} is no kernel build directory: it has no Makefile', 2)
	release = folder / 'include/config/kernel.release'
	if not release.is_file():
		raise Failure(f'--kdir {folder} is not prepared: it has no include/config/kernel.release '
			      '(make modules_prepare)', 2)
	return guest.Kernel(release.read_text().strip(), None, None, folder.resolve())


def main():
	parser = console.Parser('scripts/build-kmd', '--kernel 7.3', description=(
		'Build nvdla.ko, the Linux driver for NVDLA (a hardware accelerator for neural networks), for all kernels that '
		'the virtual machine of scripts/vm can boot. --kernel chooses one of them; --kdir, which overrides --kernel, another '
		'kernel. The module is build/kmd-RELEASE/kmd/nvdla.ko, where RELEASE is what "uname -r" prints on that kernel. '
		'Nothing is written to the folders with the sources (kmd, include, tests).'))
	parser.add_argument('--kernel', metavar='SERIES', help='build for this kernel only: 6.12, 7.3, ...')
	parser.add_argument('--kdir', metavar='DIR', type=Path, action='append', default=[],
			    help='build for the kernel that this folder was made for: kernel headers, such as /lib/modules/RELEASE/build, or a prepared source tree; may be repeated')
	parser.add_argument('--source', metavar='DIR', type=Path, default=ROOT,
			    help='build the driver of this tree, which has kmd/ and include/ (default: this clone)')
	parser.add_argument('--werror', action='store_true', default=os.environ.get('CI') == 'true',
			    help='treat warnings of the compiler as errors (default if the environment has CI=true)')
	parser.add_argument('--tests', action='store_true', help='also build kernel modules for tests of the driver, from tests/kmd, as build/tests-kmd-RELEASE/tests/kmd/*.ko')
	parser.add_argument('--sparse', action='store_true', help='also check the sources with sparse, a static checker')
	parser.add_argument('--no-generate', dest='generate', action='store_false',
			    help='use the register headers of the last build instead of generating them again')
	parser.add_argument('-v', '--verbose', action='store_true', help='show what make prints')
	arguments = parser.parse_args()
	if arguments.generate:
		with console.stage('headers') as progress:
			build_headers(progress)
	if arguments.kdir:
		wanted = [_headers_of_host(folder) for folder in arguments.kdir]
		found = guest.Guest('this machine', None, (), {}, tuple(wanted), None)
	else:
		with console.stage('guest tree') as progress:
			found = guest.find(progress, [arguments.kernel] if arguments.kernel else [])
		wanted = ([found.kernel(arguments.kernel)] if arguments.kernel
			  else [found.kernel(series) for series in found.series()])
	for kernel in wanted:
		try:
			with console.stage('module') as progress:
				modules = [module for part in ([DRIVER, TESTS] if arguments.tests else [DRIVER])
					   for module in build(found, kernel, progress, arguments.source.resolve(),
							       arguments.werror, arguments.sparse, arguments.verbose, part)]
		except DoesNotBuild as failure:
			if arguments.kernel or arguments.kdir or not kernels.is_excused(kernel.series):
				raise
			console.say(f'module: {kernels.excuse(kernel.release, failure)}')
			continue
		for module in modules:
			console.say(f'module: {os.path.relpath(module)}')
	return 0


if __name__ == '__main__':
	console.run_program(main)
