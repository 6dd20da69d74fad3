# SPDX-License-Identifier: MIT
"""scripts/vm: run one command, or a shell, in the guest."""

import argparse
import contextlib
import difflib
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

from . import architectures, build, console, guest, kmod, machine, programs, space, vm, vmtests
from .console import Failure
from .paths import ROOT, build_dir, reference_data

_SHARE = ROOT / 'out'
# Exit status with which a shell reports that a program does not exist.
_STATUS_NO_PROGRAM = 127
_LONGEST_SCRIPT = 1 << 20
# Patterns of lines in the kernel's log: the first line of a report about a failure, and lines with register contents in
# such a report.
_FAILS = re.compile(r'\] (BUG|Oops|WARNING|INFO: task|Kernel panic|general protection|Unable to handle)')
_REGISTERS = re.compile(r'\] (R[A-D]X|RSP|R\d\d|FS|CS|CR2|PKRU|DR\d|Code):|RIP: 0033:')
_DESCRIPTION = '''\
Boot the guest, a virtual machine of QEMU. It has an NVDLA (a hardware accelerator for neural
networks) in software, the device model, and loads the kernel driver nvdla.ko. Run COMMAND in the
guest, print its output, unload the driver, and exit with COMMAND's status. Without COMMAND, open a
shell of the guest on the terminal; "exit" in it powers the guest off.

The guest has the project's programs in its PATH. For a shell, scripts/vm first builds all programs.
For a COMMAND, it builds each program whose name is a word of COMMAND or of a script that COMMAND
runs from the shared folder. It builds no tests: if you need them in the guest, first run
"ninja -C build".

The guest sees the shared folder (--share) at the path that the folder has on the host. This folder
is the working directory of COMMAND. If there is a folder with data for tests, the guest sees it,
too, read-only: $NVDLA_REFERENCE_DATA or, if the variable is not set, "shared" beside the clone.

The first run takes a few minutes: it installs packages (as root or with sudo), compiles, and
unpacks QEMU and kernels into ~/.cache/nvdla. Later boots take seconds.
'''
_STATUS = f'''\
Exit status: that of COMMAND; 0 after a shell. But 1 if the guest cannot be started; 2 if an
argument of scripts/vm is wrong; {vm.STATUS_KERNEL} if COMMAND succeeded, but the kernel logged a warning or the
driver could not be unloaded; {vm.STATUS_TIMEOUT} if boot and COMMAND took longer than --timeout allows; {vm.STATUS_BROKEN} if
the guest failed before COMMAND had ended, or if the driver or a program does not compile (so that
"git bisect run" passes over the commit); and {_STATUS_NO_PROGRAM} if the guest has no program COMMAND.
'''


def guest_programs():
	"""Return the project's built programs: {name: path}."""
	built = [path for folder in ('tools', 'examples') for path in sorted((build_dir() / 'umd' / folder).glob('*'))]
	return {path.name: path for path in built if path.is_file() and os.access(path, os.X_OK)}


def named_in(command, share):
	"""Return a function that tells by the name of a program whether the guest's @command may
	run it. The name is a word of @command, or of a script in the folder @share that @command
	names. Without a command there is a shell, which may run any program."""
	if not command:
		return lambda name: True
	text = ' '.join(command)
	scripts = [share / word for word in text.split()]
	text = '\n'.join([text] + [path.read_text(errors='replace') for path in scripts
				    if os.path.isfile(path) and path.stat().st_size <= _LONGEST_SCRIPT])
	words = set(re.findall(r'[\w-]+', text))
	return lambda name: name in words


def _guest_tests():
	"""Return the built test programs for the guest, which the user may run by hand: {name: path}."""
	return {path.name: path for test in vmtests.tests() for path in test.programs()}


def _applets(found):
	"""Return the names of the programs in the busybox of the Guest @found."""
	said = subprocess.run([found.busybox, '--list'], capture_output=True, text=True)
	return {'busybox', *said.stdout.split()}


def check_program(found, word, folders, is_built, progress=lambda text: None):
	"""Raise Failure if the Guest @found would have no program @word: before a guest is booted, and before anything
	is built for it. @folders: shared folders, of which the first is the working directory. @is_built: whether the
	project's programs will be built."""
	if '/' in word:
		path = Path(os.path.normpath(folders[0] / word))
		if any(path.is_relative_to(folder) for folder in folders) and not path.exists():
			raise Failure(f'{path} is not there', _STATUS_NO_PROGRAM)
		return
	if found.architecture.is_foreign:
		return	# the busybox of another architecture cannot be asked, because it does not run here
	there = _applets(found) | set(guest_programs()) | set(_guest_tests())
	if word in there:
		return
	if is_built:
		build.configure_anew(progress)
		there |= {Path(name).name for name in build.programs() if name.startswith('umd/')}
	if word not in there:
		similar = ' or '.join(difflib.get_close_matches(word, there, 2))
		raise Failure(f'the guest has no program {word}' + (
			f'; did you mean {similar}?' if similar else
			', only those of busybox and of this project; others, linked statically, by their path in the shared folder'),
			_STATUS_NO_PROGRAM)


def _foreign_programs(found, command, share, progress):
	"""Build programs and tests for the Guest @found of another architecture: those that
	@command names, or without a command those that were built before. Returns their files, as
	programs.files() does."""
	built = programs.folder(found.architecture)
	names = {*build.programs(), *(name for test in vmtests.tests(found.architecture) if not test.narrow for name in test.targets())}
	is_named = named_in(command, share)
	wanted = [name for name in names if (is_named(Path(name).name) if command else (built / name).is_file())]
	if wanted:
		programs.build(found, wanted, progress)
	return programs.files(found, {Path(name).name: built / name for name in wanted})


def _parse():
	foreign = ' or '.join(row.name for row in architectures.foreign() if row.machine)
	parser = console.Parser('scripts/vm', '-- nvdla-top --once', description=_DESCRIPTION, exits=_STATUS,
					 usage='%(prog)s [OPTION ...] [-- COMMAND [ARGUMENT ...]]',
					 formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('--kernel', metavar='SERIES', help=(
		'kernel of the guest: 6.12, 7.3, ...; or debug, the kernel with run-time checks that scripts/kernel-debug builds '
		'(default: the newest for which the driver builds, of those installed here or downloaded for guests)'))
	parser.add_argument('--arch', metavar='NAME', default='amd64', help=(
		f'processor of the guest: amd64 (the default); or {foreign}, which are emulated and exclude --kernel, --gdb, --user '
		'and --kvm. For an emulated processor, a kernel, QEMU and a compiler are downloaded the first time'))
	parser.add_argument('--device-tree', metavar='FILE', type=Path,
			    help=f'add this device tree overlay (.dts) to the device tree of the guest; only with --arch {foreign}')
	parser.add_argument('--mem', metavar='MIB', type=int, default=1024, help='memory of the guest in MiB, 256 to 65536 (default: 1024)')
	accelerator = parser.add_mutually_exclusive_group()
	accelerator.add_argument('--tcg', dest='accelerator', action='store_const', const='tcg', help='emulate the guest\'s processor (the default if KVM does not work)')
	accelerator.add_argument('--kvm', dest='accelerator', action='store_const', const='kvm',
				 help='use KVM; an error if KVM does not work on this machine (the default if a trial boot with KVM works)')
	parser.add_argument('--dma', choices=('iommu', 'cma', 'none', 'bounce'), help=(
		'how the guest gets buffers of more than 4 MiB for the device. iommu (the default on amd64; an error on riscv64): '
		'through an IOMMU. cma: from a quarter of the guest\'s memory, which Linux reserves at boot. none (the default on '
		f'{foreign}): not at all; programs that need such a buffer fail with "Cannot allocate memory". bounce: like none, but a '
		'buffer has at most 256 KiB, and the device gets a copy of it; this finds a driver that forgets to synchronize a '
		'buffer, because results are then wrong'))
	parser.add_argument('--gdb', metavar='PORT', type=int, nargs='?', const=1234,
			    help='debug the driver with gdb: print how to start gdb on the host, and wait until gdb has connected to this '
				 'port (default: 1234) before the driver initializes the device')
	parser.add_argument('--user', action='store_true',
			    help='run the command or the shell as the ordinary user "user", who may use the device')
	parser.add_argument('--share', metavar='DIR', type=Path, default=_SHARE,
			    help='folder that host and guest share (default: out/ in the clone)')
	parser.add_argument('--mount', metavar='DIR', type=Path, action='append', default=[],
			    help='show one more folder of the host to the guest, read-only and at the same path; may be repeated')
	parser.add_argument('--timeout', metavar='SECONDS', type=float,
			    help='stop the guest after this time, to which the boot counts, and exit with status 124 (default: no limit for a shell or with --gdb; else 300 seconds, or more on a '
				 'slow or busy machine)')
	parser.add_argument('--module-parameters', metavar='TEXT', default='', help='parameters for the insmod of nvdla.ko, such as dyndbg=+p (nvdla.ko has none of its own)')
	parser.add_argument('--append', metavar='TEXT', default='', help='parameters to add to the command line of the guest\'s kernel')
	parser.add_argument('--no-load', dest='load', action='store_false', help='do not load the driver')
	parser.add_argument('--devices', metavar='N', type=int, default=1,
			    help='number of NVDLAs in the guest, 0 to 8, each a PCI function (default: 1)')
	parser.add_argument('--variant', metavar='NAME', default='nv_full',
			    help=f'configuration of the NVDLAs: {", ".join(machine.variants())} (default: nv_full)')
	parser.add_argument('--no-device', dest='devices', action='store_const', const=0,
			    help='boot without the device and the driver')
	parser.add_argument('--no-build', dest='build', action='store_false', help='do not build programs: use those in build/ as they are')
	parser.add_argument('-v', '--verbose', action='store_true', help='show the messages of the guest\'s kernel as they come')
	parser.add_argument('command', metavar='-- COMMAND', nargs='...', help='the command to run in the guest (default: a shell)')
	arguments = parser.parse_args()
	if arguments.command[:1] == ['--']:
		del arguments.command[0]
	return arguments


def _check(arguments):
	arguments.architecture = architectures.named(arguments.arch)
	if arguments.architecture.is_foreign:
		if not arguments.architecture.machine:
			raise Failure(f'--arch {arguments.arch}: no guest has it', 2)
		for option in ('kernel', 'gdb', 'user'):
			if getattr(arguments, option) not in (None, False):
				raise Failure(f'--{option} does not go with --arch', 2)
		if arguments.accelerator == 'kvm':
			raise Failure('--kvm does not go with --arch', 2)
		if arguments.dma == 'iommu' and not arguments.architecture.iommu:
			raise Failure(f'--dma iommu: QEMU has none for {arguments.arch} that the core can be behind', 2)
	elif arguments.device_tree:
		raise Failure('--device-tree: the amd64 guest has no device tree, use --arch', 2)
	if arguments.device_tree and not os.path.isfile(arguments.device_tree):
		raise Failure(f'--device-tree {arguments.device_tree}: there is no such file', 2)
	arguments.dma = arguments.dma or ('none' if arguments.architecture.is_foreign else 'iommu')
	if arguments.share == _SHARE:
		_SHARE.mkdir(exist_ok=True)
	for option, path in (('--share', arguments.share), *(('--mount', path) for path in arguments.mount)):
		if not os.path.isdir(path):
			raise Failure(f'{option} {path}: there is no such folder', 2)
	if arguments.variant not in machine.variants():
		raise Failure(f'--variant {arguments.variant}: it can be {", ".join(machine.variants())}', 2)
	if arguments.timeout is not None and not arguments.timeout > 0:
		raise Failure(f'--timeout {arguments.timeout:g}: it can be any number of seconds above 0', 2)
	if not 256 <= arguments.mem <= 65536:
		raise Failure(f'--mem {arguments.mem}: it can be 256 to 65536 (MiB)', 2)
	if arguments.accelerator == 'kvm':
		vm.check_kvm()
	if not 0 <= arguments.devices <= 8:
		raise Failure(f'--devices {arguments.devices}: it can be 0 to 8', 2)
	if not arguments.command and not sys.stdin.isatty():
		raise Failure('a shell needs a terminal: run it in one, or give a command after --')
	if arguments.gdb is not None:
		if not (arguments.load and arguments.devices):
			raise Failure('--gdb: the driver and its device are what it is for: leave out --no-load and --no-device', 2)
		with socket.socket() as probe:
			try:
				probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
				probe.bind(('127.0.0.1', arguments.gdb))
			except (OSError, OverflowError):
				raise Failure(f'--gdb {arguments.gdb}: this port is taken or not allowed, choose another', 2) from None


@contextlib.contextmanager
def _status_of_sources():
	"""If the body of the with statement compiles sources that do not compile, or a disk is full, let the script end with a
	status that is no command's, and with which "git bisect run" passes over the commit."""
	try:
		yield
	except (build.DoesNotCompile, space.Full) as failure:
		failure.status = vm.STATUS_BROKEN
		raise


def main():
	arguments = _parse()
	_check(arguments)
	console.stdout_is_the_commands = quiet = bool(arguments.command)
	with console.stage('guest tree') as progress:
		found = (guest.cross(arguments.architecture, progress) if arguments.architecture.is_foreign
			 else vmtests.guest_for(arguments.kernel, progress))
	kernel = found.kernel(arguments.kernel)
	if arguments.accelerator == 'kvm':
		vm.require_kvm(found, kernel, _say_progress)
	share = arguments.share.absolute()
	data = reference_data()
	mounts = [path.absolute() for path in arguments.mount] + ([data] if data else [])
	if arguments.command:
		check_program(found, arguments.command[0], [share, *mounts], arguments.build)
	if arguments.build:
		with _status_of_sources(), console.stage('build', quiet_below=5) as progress:
			named = (lambda name: False) if found.architecture.is_foreign else named_in(arguments.command, share)
			build.build_programs(progress, lambda name: arguments.devices and name == Path(build.MODEL).name or named(name))
	executables, files = guest_programs() | _guest_tests(), {}
	if found.architecture.is_foreign:
		with _status_of_sources(), console.stage('programs', quiet_below=5) as progress:
			executables, files = {}, _foreign_programs(found, arguments.command, share, progress)
	module = None
	if arguments.devices:
		machine.model_program()
		with _status_of_sources(), console.stage('module') as progress:
			found, kernel, module = kmod.choose(found, arguments.kernel, progress)
	options = vm.Options(
		kernel=kernel.release, memory=arguments.mem, accelerator=arguments.accelerator or 'auto',
		dma=arguments.dma, device_tree=arguments.device_tree, gdb=arguments.gdb, share=share, mounts=tuple(mounts),
		timeout=arguments.timeout or (300 if quiet and arguments.gdb is None else None),
		is_exact=bool(arguments.timeout), verbose=arguments.verbose, user=arguments.user,
		devices=arguments.devices, chip=f'variant={arguments.variant}', load=arguments.load, parameters=arguments.module_parameters,
		append=arguments.append, environment={'NVDLA_REFERENCE_DATA': str(data)} if data else {})
	outcome = vm.Machine(found, options, module, executables, files,
			     progress=_say_progress).run(arguments.command or None)
	if outcome.problems:
		report(outcome)
	return outcome.status


def _say_progress(text):
	"""Print a line of progress on stderr, because stdout is for the command's output. On a terminal the line ends
	with a carriage return as well, because QEMU sets the terminal to raw mode if a shell uses it."""
	console.say(f'guest: {text}', sys.stderr, '\r\n' if sys.stderr.isatty() else '\n')


def _telling(lines, most=30):
	"""Return at most @most of the kernel's messages @lines, to explain a problem: those from the first report of a
	failure on, without register contents. Without such a report, return the last ones."""
	start = next((index for index, line in enumerate(lines) if _FAILS.search(line)), None)
	if start is None:
		return lines[-most:]
	return [line for line in lines[start:] if not _REGISTERS.search(line)][:most]


def report(outcome):
	"""Print the problems of @outcome on stderr, with those of the kernel's messages that explain them."""
	lines = outcome.kernel_log.read_text(errors='replace').splitlines()
	print(f'--- the kernel\'s messages in {outcome.kernel_log}:', *_telling(lines), '---', sep='\n', file=sys.stderr)
	for problem in outcome.problems:
		console.tell_failure(problem)


if __name__ == '__main__':
	console.run_program(main)
