# SPDX-License-Identifier: MIT
"""The test of the packages: apt installs, upgrades and purges them in a Debian 13 system.

The system is a folder that is made once and cached. Each run copies it to a disk image, and QEMU boots from that
with the device model as a PCI function. The system runs tests/packages/guest.sh at each start. Without KVM, the
guest's processor is emulated, and compiling the driver in the guest would take longer than the rest of the test. So
tests/packages/make.sh in the guest passes each make of DKMS to this module, which runs the same make with the same
arguments in the cached folder, on this machine's processor.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from . import debian_tree, guest, kernel_image, machine, namespace, pace, package, processes, results, vm
from .console import Failure
from .paths import ROOT, build_dir, cache_dir
from .results import Case

NAME = 'packages'
_RELEASE = 13
_SOURCES = ROOT / 'tests' / 'packages'
# Packages of the system beside a minimal one. The guest has no network, so the system has the dependencies of the
# project's packages from the start.
_SYSTEM = ('diffutils', 'dkms', 'e2fsprogs', 'linux-headers-amd64', 'linux-image-amd64', 'openssl', 'pkgconf',
	   'systemd-sysv', 'udev')
_DEPENDENCIES = ('libdrm-dev', 'libexpected-dev', 'libfmt10', 'libhwy1t64', 'libonnxruntime1.21', 'libpng16-16t64', 'libprotobuf32t64',
		 'libturbojpeg0', 'libuv1t64', 'python3-numpy')
# Modules of the kernel that are kept; the others are deleted to save time. DKMS runs depmod at each change, and depmod
# unpacks all modules. With all modules, depmod would take an emulated processor a minute, and making the initramfs
# another one.
_MODULES = ('9p', 'block', 'ext4', 'gpu', 'jbd2', 'mbcache.ko.xz', 'netfs', 'virtio')
_COMMANDS = (
	"sh -c 'cd /usr/lib/modules/*/kernel && rm -rf arch/x86/kvm sound && find drivers fs net -mindepth 1 -maxdepth 1 "
	f"{' '.join(f'! -name {name}' for name in _MODULES)} -exec rm -rf {{}} + && "
	"find drivers/gpu/drm -mindepth 1 -maxdepth 1 -type d ! -name scheduler ! -name display -exec rm -rf {} +'",
	"""sh -c 'depmod "$(ls /usr/lib/modules)"'""",
	"""sh -c 'printf "ext4\\nvirtio_blk\\nvirtio_pci\\n" >>/etc/initramfs-tools/modules && """
	"""sed -i s/^MODULES=.*/MODULES=list/ /etc/initramfs-tools/initramfs.conf && update-initramfs -u'""",
)
_BOOTS = 2
# Seconds after which a guest counts as hung.
_SECONDS = 1800
_MEMORY = 1024
# Number of the guest's processors. Emulated ones share this machine's processors with other guests;
# two of them would spend half of their time waiting for each other's locks.
_PROCESSORS = {'kvm': 2, 'tcg': 1}
_SHARED = Path('/mnt')
# Mount point, in the cached system, of the driver's sources that come from the guest and are compiled there.
_INSIDE = '/tmp/build'
# Files that DKMS writes beside the sources. _digest() leaves them out, because they contain the packages' version, on
# which the compiled module does not depend.
_OF_DKMS = ('dkms.conf', 'make.log')
_START = (f'modprobe 9pnet_virtio; mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 mount0 {_SHARED} && '
	  f'exec sh {_SHARED}/guest.sh')
_WORDS = ('root=/dev/vda rw console=ttyS0 loglevel=5 panic=-1 oops=panic random.trust_cpu=on intel_iommu=on iommu.strict=1 '
	  f'systemd.show_status=no systemd.run="/bin/sh -c \'{_START}\'" '
	  # Longer timeouts than systemd's own, because an emulated guest on a busy machine starts slowly.
	  'systemd.default_timeout_start_sec=900 systemd.default_device_timeout_sec=900 udev.event_timeout=900 '
	  # Disables systemd's timers: apt's daily job would take apt's lock.
	  'systemd.mask=timers.target '
	  'systemd.run_success_action=none systemd.run_failure_action=poweroff')


def run(found, progress):
	"""Make the packages and try them in a guest on the QEMU of the Guest @found; returns the cases.

	The test is skipped, unless CI=true, if its Debian systems cannot be made: they need Debian's archive and a user
	namespace with several users.
	"""
	try:
		system = debian_tree.ensure('system', _RELEASE, [*_SYSTEM, *_DEPENDENCIES], progress, _COMMANDS)
		package.tree(_RELEASE, progress)
	except Failure as failure:
		outcome = results.FAILED if os.environ.get('CI') == 'true' else results.SKIPPED
		return [Case(NAME, outcome, f'no Debian {_RELEASE} system: {failure}')]
	logs = build_dir() / 'vm' / NAME
	shutil.rmtree(logs, ignore_errors=True)
	share = logs / 'share'
	share.mkdir(parents=True)
	try:
		_fill(share, progress)
		progress('making the disk')
		disk = _make_disk(system, logs)
		console = logs / 'console.log'
		console.touch()
		accelerator = 'kvm' if vm.kvm_works(found, found.kernel(), progress) else 'tcg'
		if accelerator == 'tcg':
			shutil.copy(_SOURCES / 'make.sh', share)
		try:
			problems = _boot(found, system, disk, share, logs, accelerator, progress)
		finally:
			disk.unlink()
	except Failure as failure:
		return [Case(NAME, results.FAILED, str(failure))]
	cases = [case for number in range(1, _BOOTS + 1) for case in _collect(share, number)]
	problems += [f'the kernel complained: {line}' for line in machine.complaints(console)[:1]]
	end = processes.tail(console, 15)
	cases.append(Case(f'{NAME}.guest', results.FAILED if problems else results.PASSED,
			  '\n'.join([*problems, f'the end of {console}:', end]) if problems else ''))
	return cases


def _fill(share, progress):
	"""Fill the folder @share, which the guest sees, with two versions of the packages and with the files of the
	test."""
	first = package.default_version(_RELEASE)
	package.build(_RELEASE, share / 'repository', progress, first, optimised=False)
	# The second version differs only in its number, so _compile() reuses the driver that it compiled for the first
	# one.
	package.build(_RELEASE, share / 'next', progress, f'{first}+next', lint=False, optimised=False)
	digits = ROOT / 'umd' / 'examples' / 'digits'
	for source in (_SOURCES / 'guest.sh', _SOURCES / 'digits.py', ROOT / 'tests' / 'vm' / 'tap.sh',
		       digits / 'digits.onnx', digits / 'seven.pgm'):
		shutil.copy(source, share)
	shutil.copy(_SOURCES / 'host.py', share)
	(share / 'host.onnx').write_bytes(_host_model())
	net, picture = share / 'net.nvdla', share / 'input.ppm'
	tools, examples = build_dir() / 'umd' / 'tools', build_dir() / 'umd' / 'examples'
	picture.write_bytes(b'P6 64 64 255\n' + bytes(range(256)) * 48)
	for argv in ([examples / 'nvdla-example-net', '-o', net, '--width', '64', '--height', '64'],
		     [tools / 'nvdla-run', '--loadable', net, '--input', picture, '--output', share / 'expected.dimg']):
		said = subprocess.run([str(word) for word in argv], capture_output=True, text=True)
		if said.returncode != 0:
			raise Failure(f'{argv[0]} fails: {said.stderr.strip()}')


def _host_model():
	"""Return the ONNX model that tests/packages/host.txt describes as text."""
	said = subprocess.run(['protoc', f'--proto_path={ROOT / "umd/compiler/import/onnx"}', '--encode=nvdla.onnx.Model', 'onnx.proto'],
			      input=(_SOURCES / 'host.txt').read_bytes(), capture_output=True)
	if said.returncode != 0:
		raise Failure(f'protoc does not make a model of host.txt: {said.stderr.decode().strip()}')
	return said.stdout


def _make_disk(system, folder):
	"""Make a disk image with a copy of @system, and return its path. The file system has no journal, because it has
	to survive only orderly reboots."""
	disk, log = folder / 'disk', folder / 'disk.log'
	command = namespace.inside(system, {system: '/tmp/system', folder: '/tmp/folder'},
				   ['mke2fs', '-q', '-t', 'ext4', '-O', '^has_journal', '-d', '/tmp/system', '/tmp/folder/disk', '4G'], owners=True)
	if processes.run_logged(command, log, lambda text: None) != 0:
		raise Failure(f'the disk of the guest cannot be made: {processes.tail(log, 1).strip()}; log: {log}')
	return disk


def _kernel(system):
	"""Return the Kernel that is installed in @system."""
	image = next((system / 'boot').glob('vmlinuz-*'))
	release = image.name.removeprefix('vmlinuz-')
	modules = system / 'usr/lib/modules' / release
	return guest.Kernel(release, image, modules, modules / 'build')


def _boot(found, system, disk, share, logs, accelerator, progress):
	"""Run the guest until it powers off; returns its failures as sentences."""
	kernel = _kernel(system)
	initrd = kernel.image.with_name(f'initrd.img-{kernel.release}')
	# The decompressed image is cached in a folder of its own, because the guest tree may have another kernel with
	# the same release.
	image = kernel_image.uncompressed(kernel, cache_dir() / 'images' / NAME) if accelerator == 'tcg' else kernel.image
	with vm.scratch() as folder:
		socket = Path(folder) / 'device'
		model = machine.start_model(socket, logs / 'sim.log')
		qemu = None
		try:
			words = ' '.join([_WORDS, *(machine.EMULATED_WORDS if accelerator == 'tcg' else ())])
			argv = [*found.qemu, *machine.arguments(accelerator, _MEMORY, 'iommu', _PROCESSORS[accelerator]),
				'-kernel', image, '-initrd', initrd, '-append', words, '-chardev', f'file,id=serial,path={logs / "console.log"}',
				'-serial', 'chardev:serial', '-drive', f'file={disk},format=raw,if=virtio,cache=unsafe',
				*machine.folder_arguments([(share, True)]), *machine.device_arguments([socket])]
			(logs / 'qemu.command').write_text(shlex.join(map(str, argv)) + '\n')
			progress(f'booting Debian {_RELEASE} ({accelerator}) to install, upgrade and purge the packages')
			with open(logs / 'qemu.log', 'wb') as log:
				qemu = processes.spawn(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
						       env=found.environment)
			return _serve(qemu, system, share, logs)
		finally:
			processes.end(qemu)
			processes.end(model)


def _serve(qemu, system, share, logs):
	"""Run each make for which the guest asks (make.sh) until QEMU ends; returns a list of problems, as
	sentences."""
	limit = pace.Limit(_SECONDS)
	job, console = share / 'compile', logs / 'console.log'
	while qemu.poll() is None:
		if limit.is_over():
			return [f'the guest was stopped after {_SECONDS} s, or more as this machine is slow']
		# Stop a guest that panicked, because with panic=-1 it would reboot again and again.
		if 'Kernel panic' in console.read_text(errors='replace'):
			return ['the guest was stopped after a panic']
		if (job / 'arguments').is_file() and not (job / 'status').is_file():
			_compile(system, job, logs / 'compiled')
		time.sleep(0.2)
	return [] if qemu.returncode == 0 else [f'QEMU ended with status {qemu.returncode}: {processes.tail(logs / "qemu.log", 1)}']


def _compile(system, job, kept):
	"""Run DKMS's make in @system instead of the guest; @job: the folder in which make.sh left arguments and
	sources.

	The compiled files are kept in the folder @kept, from which the second version of the packages takes them,
	because it has the same sources.
	"""
	directory = (job / 'directory').read_text().strip()
	arguments = [word.replace(directory, _INSIDE) for word in (job / 'arguments').read_text().splitlines()]
	compiled = kept / _digest(job / 'build', arguments)
	status = 0
	if compiled.is_dir():
		shutil.copytree(compiled, job / 'build', symlinks=True, dirs_exist_ok=True,
				ignore=shutil.ignore_patterns(*_OF_DKMS))
		(job / 'log').write_text(f'taken from {compiled}\n')
	else:
		status = processes.run_logged(namespace.inside(system, {job / 'build': _INSIDE}, ['make', '-C', _INSIDE, *arguments],
							       owners=True), job / 'log', lambda text: None)
		if status == 0:
			shutil.copytree(job / 'build', compiled, symlinks=True)
	(job / 'status.new').write_text(f'{status}\n')
	(job / 'status.new').rename(job / 'status')


def _digest(folder, arguments):
	"""Return a digest of everything on which make's result depends: its @arguments and the sources in @folder."""
	sources = [(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob('*'))
		   if path.is_file() and path.name not in _OF_DKMS]
	return hashlib.sha256(repr((arguments, sources)).encode()).hexdigest()


def _collect(share, number):
	"""Return the test cases of the guest's boot @number."""
	said = share / f'tap-{number}'
	if not said.is_file():
		return [Case(f'{NAME}.boot-{number}', results.FAILED, 'the guest did not get there')]
	return results.from_tap(said.read_text(errors='replace'), NAME)
