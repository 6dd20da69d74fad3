# SPDX-License-Identifier: MIT
"""Finds the parts of the guest (a virtual machine with the driver): QEMU, kernels with their
headers, and busybox.

The parts are this machine's own if they are new enough, otherwise those of the guest tree (unpacked Debian packages).
"""

import dataclasses
import functools
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from . import guest_tree, kernels, namespace
from .architectures import AMD64, Architecture
from .console import Failure, run_program, say, stage

# Oldest QEMU that can be used. QEMU 10.1.0 is the first with the device vfio-user-pci, but gives
# this device a wrong PCI class code.
MIN_QEMU = (10, 1, 1)
# Series of the kernel that scripts/kernel-debug makes; its release ends with "-debug".
DEBUG = 'debug'
# Mount point, in the tree, of a kernel's headers that are outside of the tree. They are mounted while a module is
# built.
_HEADERS_INSIDE = Path('/tmp/kernel')


@dataclasses.dataclass(frozen=True)
class Kernel:
	"""One kernel that the guest can boot. All paths are paths on the host, except @build, a path inside of
	Guest.root, where kbuild runs in this folder (make -C)."""

	release: str	# release, as printed by uname -r
	image: Path	# path of the compressed kernel (bzImage)
	modules: Path	# .../lib/modules/RELEASE
	build: Path	# folder of the headers, as a path inside of Guest.root
	headers: Path | None = None	# folder of headers outside of Guest.root, mounted at @build

	@property
	def version(self):
		return tuple(int(n) for n in re.match(r'(\d+)\.(\d+)(?:\.(\d+))?', self.release).groups('0'))

	@property
	def is_debug(self):
		return self.release.endswith(f'-{DEBUG}')

	def has(self, option):
		"""Whether the kernel was configured with @option=y; False if its configuration is not installed."""
		for config in (self.modules / 'config', self.image.parent / f'config-{self.release}'):
			if config.is_file():
				return f'\n{option}=y\n' in config.read_text()
		return False

	@property
	def series(self):
		"""Name of the kernel for the option --kernel: the first two numbers of its release, or "debug" for the
		debug kernel."""
		if self.is_debug:
			return DEBUG
		return '{}.{}'.format(*self.version)


@dataclasses.dataclass(frozen=True)
class Guest:
	"""Paths of the guest's parts. @root: the tree in which modules are built; None if they are built on the host
	itself."""

	origin: str
	root: Path | None
	qemu: tuple
	environment: dict
	kernels: tuple
	busybox: Path
	architecture: Architecture = AMD64

	def kernel(self, series=None):
		"""Return the newest kernel of @series ("6.12", "7.3", or a whole release), or without @series the
		newest of all."""
		found = [k for k in self.kernels if series in (None, k.series, k.release)]
		if not found:
			# A known kernel is missing if it could not be fetched, so the argument is right.
			raise Failure(f'--kernel {series}: {self.origin} has no such kernel, only {", ".join(self.series())}',
				      1 if series in kernels.known() else 2)
		return max(found, key=lambda kernel: kernel.version)

	def series(self):
		"""Return the series of the available kernels, oldest first, each once."""
		return list(dict.fromkeys(k.series for k in sorted(self.kernels, key=lambda k: k.version)))


def _kernels(root):
	"""Return the kernels under @root that have an image, headers and DRM, and are new enough for the driver."""
	found = []
	for modules in sorted((root / 'lib/modules').glob('*')):
		if not re.match(r'\d+\.\d+', modules.name):
			continue
		images = (modules / 'vmlinuz', root / 'boot' / f'vmlinuz-{modules.name}', root / 'boot' / f'vmlinux-{modules.name}')
		image = next((path for path in images if os.access(path, os.R_OK)), None)
		build = modules / 'build'
		if image is None or not (build / 'Makefile').is_file():
			continue
		if not any((modules / 'kernel/drivers/gpu/drm').glob('drm.ko*')):
			continue
		inside = build if root == Path('/') else Path('/') / build.resolve().relative_to(root)
		kernel = Kernel(modules.name, image, modules, inside)
		if kernel.version >= kernels.oldest():
			found.append(kernel)
	return tuple(found)


def kernel_in(folder, root):
	"""Return the kernel in a @folder of its own, which has vmlinuz, lib/modules/RELEASE, and headers/ for building
	modules.

	@root: Guest.root of the guest that will boot it.
	"""
	modules = next((folder / 'lib' / 'modules').glob('*'), None)
	for part in (folder / 'vmlinuz', modules or folder / 'lib/modules/RELEASE', folder / 'headers' / 'Makefile'):
		if not part.exists():
			raise Failure(f'{folder} has no kernel to boot: {part} is missing')
	headers = folder / 'headers'
	return Kernel(modules.name, folder / 'vmlinuz', modules, _HEADERS_INSIDE if root else headers, headers)


def _qemu_version(argv, environment):
	"""Return the version of QEMU if it has vfio-user-pci, else None."""
	try:
		said = subprocess.run([*argv, '--version'], capture_output=True, text=True, timeout=60,
				      env=environment).stdout
		match = re.search(r'version (\d+)\.(\d+)\.(\d+)', said)
		devices = subprocess.run([*argv, '-device', 'help'], capture_output=True, text=True,
					 timeout=60, env=environment).stdout
	except (OSError, subprocess.SubprocessError):
		return None
	if match and '"vfio-user-pci"' in devices:
		return tuple(int(n) for n in match.groups())
	return None


@functools.lru_cache(maxsize=None)
def _host():
	"""Return a Guest of this machine's own parts, or a sentence about the part that the machine lacks."""
	qemu = shutil.which('qemu-system-x86_64')
	if platform.machine() != 'x86_64':
		return f'the host is {platform.machine()}, not x86_64'
	if not qemu:
		return 'the host has no qemu-system-x86_64'
	version = _qemu_version([qemu], None)
	if not version or version < MIN_QEMU:
		return 'the host\'s QEMU is older than 10.1.1 or has no vfio-user-pci'
	kernels_found = _kernels(Path('/'))
	if not kernels_found:
		return (f'the host has no readable kernel {kernels.known()[0]} or newer with DRM modules '
			'and headers')
	busybox = shutil.which('busybox')
	if not busybox:
		return 'the host has no busybox'
	if not shutil.which('make') or not shutil.which('gcc'):
		return 'the host has no make or gcc'
	return Guest('this machine', None, (qemu,), dict(os.environ), kernels_found, Path(busybox))


def _tree(root, architecture=AMD64):
	library = root / 'usr/lib' / AMD64.library_folder
	# QEMU is started by the tree's own loader with the tree's libraries, because the host's C library may be
	# older.
	qemu = (str(root / 'usr/lib64/ld-linux-x86-64.so.2'), '--library-path', str(library),
		str(root / 'usr/bin' / architecture.qemu),
		'-L', str(root / 'usr/share/qemu'), '-L', str(root / 'usr/share/seabios'))
	environment = dict(os.environ, QEMU_MODULE_DIR=str(library / 'qemu'))
	return Guest('the guest tree', root, qemu, environment, _kernels(root), root / 'usr/bin/busybox', architecture)


def cross(architecture, progress):
	"""Return the Guest of another @architecture; makes the tree for it unless the tree exists."""
	check_machine()
	found = _tree(guest_tree.ensure_cross(architecture, progress), architecture)
	if architecture.flavour and not found.kernels:
		raise Failure(f'{found.root} has no kernel that can be used: scripts/setup --remove, then this again')
	return found


def _choice():
	choice = os.environ.get('NVDLA_GUEST', 'auto')
	if choice not in ('auto', 'host', 'tree'):
		raise Failure(f'NVDLA_GUEST is "{choice}": it can be auto, host or tree')
	return choice


def another(found, progress):
	"""Return the guest tree as a second choice if @found consists of this machine's own parts and $NVDLA_GUEST
	leaves the choice open; None otherwise."""
	return tree(progress) if found.root is None and _choice() == 'auto' else None


def find(progress=lambda text: None, wanted=()):
	"""Return the Guest to use; makes the guest tree if that is needed and does not exist yet.

	$NVDLA_GUEST ("host" or "tree") forces the choice between this machine's parts and the tree; $NVDLA_KERNEL names
	a folder with one more kernel (kernel_in()). @wanted: series of kernels to fetch if the guest tree is used; a
	message names those that Debian's archive does not have.
	"""
	return _with_own_kernel(check_machine() or tree(progress, wanted))


def check_machine():
	"""Return the Guest made of the host's own parts, or None if the guest tree has to be used. Raises Failure if
	this machine can use neither."""
	choice = _choice()
	if choice != 'tree':
		host = _host()
		if isinstance(host, Guest):
			return host
		if choice == 'host':
			raise Failure(f'{host}: install it, or leave NVDLA_GUEST unset')
	if platform.machine() != 'x86_64':
		raise Failure(f'the guest runs on x86_64 hosts, this is {platform.machine()}: '
			      'use --device embedded')
	namespace.prefix()
	return None


def series_there():
	"""Return the series of the kernels on which tests run, oldest first, as far as they are known without making
	the guest tree."""
	host = _choice() != 'tree' and _host()
	if isinstance(host, Guest):
		return _with_own_kernel(host).series()
	path = guest_tree.path()
	there = _with_own_kernel(_tree(path)).series() if path.is_dir() else []
	return sorted({*kernels.known(), *there}, key=kernels.number)


def tree(progress, wanted=()):
	"""Return the guest tree as a Guest, even if this machine has all parts itself. @wanted: see find()."""
	guest = _tree(guest_tree.ensure(progress))
	if not guest.kernels:
		raise Failure(f'{guest.root} has no kernel that can be used: scripts/setup --remove, then scripts/setup')
	missing = [series for series in wanted if series in kernels.known() and series not in guest.series()]
	if missing:
		for series, reason in guest_tree.add_kernels(guest.root, missing, progress).items():
			say(f'guest tree: Linux {series} is passed over: {reason}')
		guest = _tree(guest.root)
	return guest


def _with_own_kernel(guest):
	folder = os.environ.get('NVDLA_KERNEL')
	if not folder:
		return guest
	own = kernel_in(Path(folder).absolute(), guest.root)
	return dataclasses.replace(guest, kernels=(*guest.kernels, own))


def main():
	"""The program that setup.guest_tree_meanwhile() starts."""
	with stage('guest tree') as progress:
		find(progress)
	return 0


if __name__ == '__main__':
	run_program(main)
