# SPDX-License-Identifier: MIT
"""Runs a command in the guest, a virtual machine: starts the device model (an NVDLA in software) and QEMU, waits for
the command, and collects the outcome."""

import contextlib
import dataclasses
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import debugger, guest_tree, image, kernel_image, machine, pace, processes, traces
from .console import Failure, restore_terminal
from .paths import build_dir, cache_dir
from .pump import Pump

# Exit statuses of the run itself; all others are those of the command.
STATUS_KERNEL = 123	# the command succeeded, but the guest's kernel reported a failure
STATUS_TIMEOUT = 124
STATUS_BROKEN = 125	# the guest failed before the command had ended

# Bits of the kernel's taint mask that are no failure: out-of-tree module, unsigned module, KUnit ran.
_HARMLESS_TAINTS = 1 << 12 | 1 << 13 | 1 << 18
# _BOOTS: largest number of boots in a run; a kernel that fails or hangs before it starts init is booted again.
# _BOOT_PATIENCE: seconds in which a kernel has to start init.
_BOOTS = 3
_SECONDS_BETWEEN_LINES = 5
_BOOT_PATIENCE = 90
# Seconds without a line on the console that are mentioned. An ordinary boot is silent for shorter times.
_LONG_SILENCE = 30
_BOOT_PATIENCE_DEBUG = 150
# Folders of the guest that a shared folder must not cover.
_GUEST_FOLDERS = ('/', '/bin', '/dev', '/etc', '/lib', '/lib64', '/proc', '/root', '/run', '/sys', '/usr', '/usr/bin',
		  '/usr/lib', '/var')


@dataclasses.dataclass
class Options:
	"""Options of a run."""

	kernel: str | None = None	# series or release, None for the newest
	memory: int = 1024		# MiB
	accelerator: str = 'auto'	# tcg (emulation), kvm, or auto: kvm if it works
	dma: str = 'iommu'		# iommu, cma, none, bounce: see scripts/vm --help
	device_tree: Path | None = None	# overlay (.dts) to apply to the machine's device tree
	gdb: int | None = None		# TCP port of QEMU's gdb stub; the driver then waits for a debugger
	user: bool = False		# True: an ordinary user runs the command; False: root
	share: Path | None = None	# writable folder, the command's working directory
	mounts: tuple = ()		# more folders, read only
	timeout: float | None = None	# seconds for the whole run
	is_exact: bool = False		# True: the timeout is not lengthened on a slow machine
	verbose: bool = False		# print kernel messages on stderr at once
	devices: int = 1		# number of device models to start; with 0 the driver is not loaded either
	chip: str = ''			# options of nvdla-sim, see machine.start_model()
	load: bool = True		# False: do not load the driver
	parameters: str = ''		# module parameters of the driver
	append: str = ''		# added to the kernel's command line
	environment: dict = dataclasses.field(default_factory=dict)
	logs: Path | None = None


@dataclasses.dataclass
class Outcome:
	"""Result of a run. @status: exit status for the calling script; @problems: list of failures, as sentences;
	@booted_after: seconds from the start of QEMU until the guest was ready, None if the guest never was."""

	status: int
	problems: list
	kernel_log: Path
	booted_after: float | None
	stillborn: bool = False	# the kernel failed before it started init


class _Control:
	"""Reads the reports of guest-init.sh: each line is one word and its argument."""

	def __init__(self, when_ready=lambda uptime: None, when_waiting=lambda sections: None):
		self._pending = b''
		self._when_ready = when_ready
		self._when_waiting = when_waiting
		self._sections = {}
		self.exit = self.failure = self.tainted = None
		self.started = self.ended = False
		self.ready_at = None
		self.problems = []

	def feed(self, chunk):
		*lines, self._pending = (self._pending + chunk).split(b'\n')
		for line in lines:
			word, _, rest = line.decode(errors='replace').partition(' ')
			# Any report shows that init runs; the first one is "init".
			self.started = True
			if word == 'ready':
				self.ready_at = time.monotonic()
				self._when_ready(rest)
			elif word == 'section':
				name, _, address = rest.partition(' ')
				self._sections[name] = address
			elif word == 'debugger':
				self._when_waiting(self._sections)
			elif word == 'exit':
				self.exit = int(rest)
			elif word == 'tainted':
				self.tainted = int(rest)
			elif word == 'failure':
				self.failure = rest
			elif word == 'problem':
				self.problems.append(rest)
			elif word == 'end':
				self.ended = True


def scratch():
	"""Make a temporary directory for one run, with this process's ID in its name. Directories
	that killed processes left are removed."""
	for stale in Path(tempfile.gettempdir()).glob('nvdla-vm-*'):
		owner = stale.name.split('-')[2]
		if owner.isdigit() and not Path('/proc', owner).exists():
			shutil.rmtree(stale, ignore_errors=True)
	return tempfile.TemporaryDirectory(prefix=f'nvdla-vm-{os.getpid()}-')


def _write_to(stream):
	def write(chunk):
		stream.buffer.write(chunk)
		stream.flush()

	return write


class Machine:
	"""A guest about to run. When run() returns, the processes that it started have ended, and its temporary
	files are deleted; the logs remain."""

	def __init__(self, found, options, module=None, executables=None, files=None, progress=lambda text: None,
		     working=lambda: None):
		"""@found: the Guest; @module: nvdla.ko; @executables and @files: see image.programs().

		@progress is called with the name of each part that is being started, and then every
		few seconds with what @working() returns.
		"""
		self._found = found
		self._options = options
		self._kernel = found.kernel(options.kernel)
		self._module = module
		self._executables = executables or {}
		self._files = files or {}
		self._progress = progress
		self._working = working
		self._logs = options.logs or build_dir() / 'vm' / self._kernel.series
		self._folders = self._shared_folders()
		self._runs = 'command'	# the guest's command in messages, or "shell"
		# Last line of the guest's console that was reported, and the time.
		self._told = ('', 0)

	def _shared_folders(self):
		share = self._options.share
		folders = [(share, True)] if share else []
		folders += [(path, False) for path in self._options.mounts if path != share]
		for path, _ in folders:
			if str(path) in _GUEST_FOLDERS:
				raise Failure(f'{path} cannot be shared: the guest has a folder of that name, share one in it', 2)
			if not path.is_dir():
				raise Failure(f'{path} cannot be shared: it is no folder', 2)
		return folders

	def run(self, command=None, output=None, errors=None):
		"""Boot, run @command (a list, or None for a shell on the terminal) and power off.

		@output and @errors are called with chunks of bytes of the command's output; by default it goes to
		stdout and stderr. A kernel that fails before init runs is booted again: if the emulation is slow,
		the debug kernel's own checks may fail while it starts.
		"""
		self._runs = 'command' if command else 'shell'
		for _ in range(_BOOTS):
			outcome = self._run_once(command, output, errors)
			if not outcome.stillborn:
				break
			self._progress(f'the kernel failed before it started init; console: {self._logs / "console.log"}')
		return outcome

	def _run_once(self, command, output, errors):
		self._logs.mkdir(parents=True, exist_ok=True)
		accelerator = self._accelerator()
		with contextlib.ExitStack() as stack:
			folder = Path(stack.enter_context(scratch()))
			initrd = folder / 'initrd'
			self._progress('making the image')
			self._write_image(initrd, command)
			sockets = [folder / f'device{index}' for index in range(self._options.devices)]
			for index, socket in enumerate(sockets):
				self._progress('starting the device model')
				log = self._logs / (f'sim-{index}.log' if index else 'sim.log')
				stack.callback(processes.end,
					       machine.start_model(socket, log, self._options.chip))
			return self._boot(stack, initrd, sockets, accelerator, command is None,
					  output or _write_to(sys.stdout), errors or _write_to(sys.stderr))

	def _accelerator(self):
		choice = self._options.accelerator
		if choice == 'tcg' or self._found.architecture.is_foreign:
			return 'tcg'
		if choice == 'kvm':
			require_kvm(self._found, self._kernel, self._progress)
			return 'kvm'
		return 'kvm' if kvm_works(self._found, self._kernel, self._progress) else 'tcg'

	def _write_image(self, target, command):
		variables = {f'mount_{index}': shlex.quote(str(path)) for index, (path, _) in enumerate(self._folders)}
		variables.update(
			load_driver='yes' if self._options.load else 'no',
			device='yes' if self._options.devices else 'no',
			debugger='yes' if self._options.gdb is not None else 'no',
			user='yes' if self._options.user else 'no',
			driver_parameters=shlex.quote(self._options.parameters),
			directory=shlex.quote(str(self._options.share or '/root')), size='')
		if command is None and sys.stdin.isatty():
			columns, rows = os.get_terminal_size(sys.stdin.fileno())
			variables['size'] = shlex.quote(f'rows {rows} cols {columns}')
		variables.update({f'export {name}': shlex.quote(value)
				  for name, value in self._options.environment.items()})
		script = None if command is None else f'exec {shlex.join(command)}\n'
		cache = cache_dir() / 'images'
		with open(target, 'wb') as archive:
			archive.write(image.base(self._found, self._kernel, cache))
			archive.write(image.programs(self._kernel, self._module, self._executables,
						     self._files, build_dir() / 'vm' / 'stripped'))
			archive.write(image.settings(variables, script, self._user_id()))

	def _user_id(self):
		"""Return the user id of the guest's ordinary user: the shared folder's owner, or image.USER_ID if root
		owns the folder or none is shared."""
		return (self._options.share.stat().st_uid if self._options.share else 0) or image.USER_ID

	def _command_line(self, accelerator, interactive):
		words = [f'console={self._found.architecture.console}', 'panic=-1', 'oops=panic', 'random.trust_cpu=on',
			 'loglevel=' + ('7' if self._options.verbose else '5')]
		if self._kernel.is_debug:
			# slab_debug=U records who allocates and frees an object. Without it, freed objects keep
			# pointers, which hide leaks from kmemleak.
			words += ['kmemleak=on', 'slab_debug=U', 'kasan_multi_shot']
		else:
			words.append('kfence.sample_interval=20')
		if accelerator == 'tcg':
			words += machine.EMULATED_WORDS
		if interactive and self._options.verbose:
			words.append('console=hvc0')
		if self._options.dma == 'iommu':
			words += ['iommu.strict=1'] + ([] if self._found.architecture.is_foreign else ['intel_iommu=on'])
		if self._options.dma == 'cma':
			words.append(f'cma={self._options.memory // 4}M')
		if self._options.dma == 'bounce':
			words.append('swiotlb=force')
		if self._options.gdb is not None:
			words.append('nokaslr')
		return ' '.join([*words, self._options.append]).strip()

	def _arguments(self, initrd, sockets, accelerator, interactive, ports):
		"""Return QEMU's arguments. @ports: {name: file descriptor} for the virtio ports to which the guest
		writes its outputs, and for the one from which it reads when it waits for a debugger."""
		options = self._options
		kernel = (kernel_image.uncompressed(self._kernel, cache_dir() / 'images') if accelerator == 'tcg'
			  else self._kernel.image)
		base = machine.arguments(accelerator, options.memory, options.dma, architecture=self._found.architecture)
		if options.device_tree:
			base += ['-dtb', str(self._merged_device_tree(base))]
		argv = [*base, '-no-reboot',
			'-kernel', str(kernel), '-initrd', str(initrd),
			'-append', self._command_line(accelerator, interactive),
			'-chardev', f'file,id=serial,path=/dev/fd/{ports["serial"]}', '-serial', 'chardev:serial',
			'-device', 'virtio-serial-pci,max_ports=16']
		for name in ('control', 'kernel', 'stdout', 'stderr'):
			argv += ['-chardev', f'file,id={name},path=/dev/fd/{ports[name]}',
				 '-device', f'virtserialport,chardev={name},name=nvdla.{name}']
		if interactive:
			argv += ['-chardev', 'stdio,id=terminal,signal=off', '-device', 'virtconsole,chardev=terminal']
		argv += [*machine.folder_arguments(self._folders), *machine.device_arguments(sockets)]
		if options.gdb is not None:
			argv += ['-gdb', f'tcp:127.0.0.1:{options.gdb}',
				 '-chardev', f'socket,id=input,fd={ports["input"]}',
				 '-device', 'virtserialport,chardev=input,name=nvdla.input']
		return [*self._found.qemu, *argv]

	def _merged_device_tree(self, base):
		"""Return the path of a device tree: that of QEMU's machine for the arguments @base, with the overlay
		applied."""
		dumped, overlay, merged = (self._logs / f'device-tree.{name}' for name in ('machine', 'overlay', 'dtb'))
		dump = [f'{word},dumpdtb={dumped}' if word.startswith(self._found.architecture.machine) else word for word in base]
		for argv in ([*self._found.qemu, *dump],
			     ['dtc', '-q', '-@', '-I', 'dts', '-O', 'dtb', '-o', overlay, self._options.device_tree],
			     ['fdtoverlay', '-i', dumped, '-o', merged, overlay]):
			try:
				said = subprocess.run(argv, capture_output=True, text=True, env=self._found.environment)
			except FileNotFoundError:
				raise Failure(f'{argv[0]} is missing: apt-get install device-tree-compiler') from None
			if said.returncode != 0:
				raise Failure(f'{self._options.device_tree}: {said.stderr.strip()}', 1 if argv[0] in self._found.qemu else 2)
		return merged

	def _boot(self, stack, initrd, sockets, accelerator, interactive, output, errors):
		self._progress(f'starting QEMU ({accelerator}) with Linux {self._kernel.release}')
		waiting = None
		if self._options.gdb is not None:
			waiting = debugger.Debugger(self._options.gdb, self._module, self._logs / 'gdb.commands', self._progress)
			stack.callback(waiting.close)
		control = _Control(lambda uptime: self._progress(f'the guest is up, {uptime} s after its kernel began'),
				   waiting and waiting.write)
		console_log = self._logs / 'console.log'
		kernel_log = self._logs / 'kernel.log'
		qemu_log = self._logs / 'qemu.log'
		serial = stack.enter_context(open(console_log, 'wb', buffering=0))
		kernel = stack.enter_context(open(kernel_log, 'wb', buffering=0))

		def serial_sink(chunk):
			serial.write(chunk)
			if self._options.verbose:
				errors(chunk)

		pumps = {'serial': Pump(serial_sink), 'control': Pump(control.feed), 'kernel': Pump(kernel.write),
			 'stdout': Pump(output), 'stderr': Pump(errors)}
		ports = {name: pump.writer for name, pump in pumps.items()}
		if waiting:
			ports['input'] = waiting.guests.fileno()
		argv = self._arguments(initrd, sockets, accelerator, interactive, ports)
		(self._logs / 'qemu.command').write_text(shlex.join(argv) + '\n')
		began = time.monotonic()
		patience = pace.Limit(_BOOT_PATIENCE_DEBUG if self._kernel.is_debug else _BOOT_PATIENCE)
		with open(qemu_log, 'wb') as log:
			qemu = processes.spawn(argv, own_group=not interactive, env=self._found.environment,
					       stdin=None if interactive else subprocess.DEVNULL,
					       stdout=None if interactive else log, stderr=log,
					       pass_fds=list(ports.values()))
		if interactive:
			stack.callback(restore_terminal())
			stack.callback(qemu.wait)
			stack.callback(qemu.terminate)
		else:
			stack.callback(processes.end, qemu)
		for pump in pumps.values():
			pump.start()
			pump.close_writer()
		stopped = self._wait(qemu, qemu_log, lambda: self._failed_early(control, console_log, patience),
				     lambda: waiting and waiting.waits or self._say_how_far(control, console_log, began),
				     waiting)
		if stopped:
			processes.end(qemu)
		for pump in pumps.values():
			pump.finish()
		if not control.ended:
			# The guest ended before init sent the kernel's log, so the console's output is used
			# instead.
			shutil.copyfile(console_log, kernel_log)
		kernel_log.write_text(traces.with_lines(kernel_log.read_text(errors='replace'), self._module))
		return self._judge(control, kernel_log, qemu_log, stopped, began)

	def _say_how_far(self, control, console_log, began):
		"""Report progress: while the guest boots, the kernel's last message, each only once; then the text of
		@working()."""
		if control.ready_at is None:
			now, said = time.monotonic(), machine.last_message(console_log)[:100]
			told, since = self._told
			if said != told:
				self._told = (said, now)
				end = f': {said}'
			else:
				silent = said and now - since >= _LONG_SILENCE
				end = f'; no new line on its console for {now - since:.0f} s' if silent else ''
			self._progress(f'booting for {now - began:.0f} s{end}')
		elif text := self._working():
			self._progress(text)

	def _how_far(self, control):
		"""Return a phrase that says whether the command had begun when the guest was stopped."""
		if control.ready_at is None:
			return f'before the {self._runs} had begun; the time includes the boot'
		return f'while the {self._runs} ran' if control.exit is None else f'after the {self._runs} had ended'

	def _failed_early(self, control, console_log, patience):
		"""Return whether the kernel reported a failure before it started init, or did not start init within the
		limit @patience."""
		if control.started or self._options.gdb is not None:
			return False
		return bool(machine.complaints(console_log)) or patience.is_over()

	def _wait(self, qemu, qemu_log, failed, say, waiting=None):
		"""Wait until QEMU has ended and return None, or the reason to stop the guest: 'time' or 'hung'.

		@say is called every few seconds; @waiting: the Debugger for which the guest waits.
		"""
		seconds = math.inf if self._options.timeout is None else self._options.timeout
		limit = pace.Limit(seconds, grows=not self._options.is_exact)
		said = time.monotonic()
		while True:
			try:
				qemu.wait(0.2)
				return None
			except subprocess.TimeoutExpired:
				pass
			if waiting:
				waiting.look()
			if limit.is_over():
				return 'time'
			# After an internal error of KVM, QEMU pauses the guest for a debugger, which nobody starts.
			if failed() or 'KVM internal error' in qemu_log.read_text(errors='replace'):
				return 'hung'
			if time.monotonic() - said >= _SECONDS_BETWEEN_LINES:
				said = time.monotonic()
				say()

	def _judge(self, control, kernel_log, qemu_log, stopped, began):
		problems = list(control.problems)
		complained = machine.complaints(kernel_log)
		if complained:
			problems.append(f'the kernel complained: {complained[0]}')
		if control.tainted is not None and control.tainted & ~_HARMLESS_TAINTS and not complained:
			problems.append(f'the kernel is tainted: {control.tainted}')
		status = control.exit
		stillborn = not control.started and (stopped == 'hung' or bool(complained))
		if stillborn:
			problems.insert(0, 'the kernel failed, or hung, before it started init')
			status = STATUS_BROKEN
		elif stopped:
			option = f'--timeout {self._options.timeout:g}: ' if stopped == 'time' and self._options.is_exact else ''
			problems.insert(0, f'{option}the guest was stopped after {time.monotonic() - began:.0f} s, {self._how_far(control)}')
			status = STATUS_TIMEOUT
		elif control.failure:
			problems.insert(0, control.failure)
			status = STATUS_BROKEN
		elif control.exit is None:
			said = qemu_log.read_text(errors='replace').strip().splitlines()
			reason = said[-1] if said else 'it crashed' if complained else 'it powered off'
			problems.append(f'the guest ended before the command did: {reason}')
			status = STATUS_BROKEN
		elif status == 0 and problems:
			status = STATUS_KERNEL
		booted = control.ready_at - began if control.ready_at is not None else None
		return Outcome(status, problems, kernel_log, booted, stillborn)


def check_kvm():
	"""Raise Failure if this machine has no /dev/kvm that this process may open."""
	if not os.path.exists('/dev/kvm'):
		raise Failure('--kvm: /dev/kvm is missing, so this machine has no KVM: turn on virtualization (in the firmware, or nested '
			      'in the virtual machine) and load kvm_intel or kvm_amd, or leave --kvm out to use emulation')
	if not os.access('/dev/kvm', os.R_OK | os.W_OK):
		raise Failure('--kvm: /dev/kvm cannot be opened: join the group kvm, or leave --kvm out to use emulation')


def require_kvm(found, kernel, progress):
	"""Raise Failure unless a guest boots under KVM."""
	if not kvm_works(found, kernel, progress):
		raise Failure('KVM does not work on this machine: a guest started with it did not boot; leave --kvm out to use emulation')


def kvm_works(found, kernel, progress):
	"""Return whether a guest boots under KVM. A guest is booted to find out, once per boot of this machine.

	Being able to open /dev/kvm is not enough: on some hosts that works, but no kernel runs.
	"""
	if not os.access('/dev/kvm', os.R_OK | os.W_OK):
		return False
	boot = Path('/proc/sys/kernel/random/boot_id').read_text().strip()
	answer = cache_dir() / f'kvm-{boot}'
	with guest_tree.locked('kvm', progress, 'another run is trying KVM, waiting'):
		if not answer.is_file():
			progress('trying KVM (once after each boot of this machine)')
			answer.write_text('yes' if _boots_under_kvm(found, kernel) else 'no')
		return answer.read_text() == 'yes'


def _boots_under_kvm(found, kernel):
	options = Options(kernel=kernel.release, memory=512, accelerator='proven', dma='none', timeout=20,
			  devices=0, load=False, logs=build_dir() / 'vm' / 'kvm')
	trial = Machine(found, options)
	trial._accelerator = lambda: 'kvm'
	# Try once: a guest that does not boot now would not boot later.
	outcome = trial._run_once(['true'], output=lambda chunk: None, errors=lambda chunk: None)
	for stale in cache_dir().glob('kvm-*'):
		stale.unlink(missing_ok=True)
	return outcome.status == 0
