# SPDX-License-Identifier: MIT
"""The guest's root file system: an initramfs put together from files of the host.

It consists of three cpio archives, which the kernel unpacks one after the other. The first one, the base, depends only
on the kernel and is kept in the cache. The second one has the driver and the programs, the third one the settings and
the command. The archives are not compressed, because an emulated processor would take seconds to decompress them.
"""

import contextlib
import gzip
import hashlib
import lzma
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

from . import suite_tree
from .console import Failure
from .paths import build_dir

_INIT = Path(__file__).with_name('guest-init.sh')
# Modules of the guest's buses and file systems. Modules that the driver needs are found by its
# dependencies.
_MODULES = ('virtio_iommu', '9p', '9pnet_virtio')
# Modules of DRM that the image also has if the kernel has them as modules: helpers that the driver
# may use, and vgem, which tests load to get buffers of another device.
_OPTIONAL_MODULES = ('drm', 'drm_shmem_helper', 'drm_exec', 'gpu-sched', 'vgem')
# User id of the guest's ordinary user if no folder of another user is shared with the guest.
USER_ID = 1000
_FOLDERS = ('bin', 'dev', 'etc', 'lib', 'lib64', 'lib/modules', 'proc', 'root', 'run', 'sys', 'tmp', 'usr',
	    'usr/bin', 'usr/lib', 'usr/libexec', 'usr/share', 'var')


class Archive:
	"""A cpio archive in the "newc" format, in memory. Paths are relative to the root."""

	def __init__(self):
		self._parts = []
		self._names = set()
		self._inode = 0

	def _add(self, name, mode, contents):
		if name in self._names:
			return
		self._names.add(name)
		self._inode += 1
		encoded = name.encode() + b'\0'
		fields = (self._inode, mode, 0, 0, 1, 0, len(contents), 0, 0, 0, 0, len(encoded), 0)
		header = b'070701' + b''.join(b'%08x' % field for field in fields)
		self._parts += [header, encoded, b'\0' * (-(len(header) + len(encoded)) % 4),
				contents, b'\0' * (-len(contents) % 4)]

	def folder(self, name):
		"""Add a folder and its parents."""
		parent = os.path.dirname(name)
		if parent:
			self.folder(parent)
		if name:
			self._add(name, stat.S_IFDIR | 0o755, b'')

	def file(self, name, contents, executable=False):
		self.folder(os.path.dirname(name))
		self._add(name, stat.S_IFREG | (0o755 if executable else 0o644), contents)

	def link(self, name, target):
		self.folder(os.path.dirname(name))
		self._add(name, stat.S_IFLNK | 0o777, target.encode())

	def finish(self):
		"""Return the archive's bytes; nothing may be added afterwards."""
		self._add('TRAILER!!!', 0, b'')
		return b''.join(self._parts)


def _read_module(path):
	if path.suffix == '.xz':
		return lzma.decompress(path.read_bytes())
	if path.suffix == '.gz':
		return gzip.decompress(path.read_bytes())
	if path.suffix == '.zst':
		try:
			return subprocess.run(['zstd', '-dcq', str(path)], capture_output=True, check=True).stdout
		except FileNotFoundError:
			raise Failure('zstd is missing and this kernel\'s modules need it: apt-get install zstd') from None
	return path.read_bytes()


def _dependencies(module):
	"""Return the names of the modules on which @module, the bytes of a .ko file, depends."""
	match = re.search(rb'(?:^|\0)depends=([^\0]*)\0', module)
	return [name for name in match.group(1).decode().split(',') if name] if match else []


class Modules:
	"""The loadable modules of one kernel, by name, with their dependencies."""

	def __init__(self, kernel):
		self._kernel = kernel
		self._paths = {}
		for path in kernel.modules.glob('kernel/**/*.ko*'):
			self._paths.setdefault(self._plain(path.name.split('.ko')[0]), path)

	@staticmethod
	def _plain(name):
		return name.replace('-', '_')

	def closure(self, names, optional=()):
		"""Return {name: contents} of the modules @names and @optional and all their dependencies, in the order
		in which they have to be loaded.

		A module without a file is assumed to be built into the kernel; if it is not, kbuild or insmod fails.
		"""
		loaded = {}

		def visit(name):
			plain = self._plain(name)
			if plain in loaded or plain not in self._paths:
				return
			contents = _read_module(self._paths[plain])
			for needed in _dependencies(contents):
				visit(needed)
			loaded[plain] = contents

		for name in (*names, *optional):
			visit(name)
		return loaded


def libraries(programs, lister=lambda program: ['ldd', str(program)]):
	"""Return the absolute paths of the shared libraries and loaders that @programs need.

	@lister(program) returns a command that prints the libraries of a program as ldd does.
	"""
	found = set()
	for program in programs:
		said = subprocess.run(lister(program), capture_output=True, text=True)
		for line in said.stdout.splitlines():
			missing = re.match(r'\s*(\S+) => not found', line)
			if missing:
				raise Failure(f'{missing.group(1)} is not installed and {program} needs it: build again')
			match = re.match(r'\s*(?:\S+ => )?(/\S+) \(0x', line)
			if match:
				found.add(match.group(1))
	return found


def suite_files(built):
	"""Return the files that the guest needs to run the program and modules @built with the libraries of the suite
	tree (packages of a newer Debian): {path in the guest: path on this machine, or contents}."""
	found = libraries(built, lambda path: suite_tree.loader_command('--list', path))
	return ({str(path): stripped(path, build_dir() / 'vm' / 'stripped') for path in built}
		| {str(path): Path(path) for path in [*found, *suite_tree.loaded()]} | {str(suite_tree.RUNNER): suite_tree.RUNNER})


def stripped(path, cache):
	"""Return the contents of a program without its debug information, which the guest does not need. They are kept
	in @cache."""
	contents = path.read_bytes()
	if not contents:
		# The guest's shell would run an empty file as a script without commands, which succeeds.
		raise Failure(f'{path} is empty: it is being built, or a build was interrupted; build again')
	if not contents.startswith(b'\x7fELF') or not shutil.which('strip'):
		return contents
	kept = cache / f'stripped-{hashlib.sha256(contents).hexdigest()[:20]}'
	# Another process, which makes the image of another guest, may delete the file meanwhile (_drop_oldest()).
	with contextlib.suppress(FileNotFoundError):
		return kept.read_bytes()
	cache.mkdir(parents=True, exist_ok=True)
	partial = kept.with_suffix(f'.{os.getpid()}')
	subprocess.run(['strip', '--strip-debug', '-o', str(partial), str(path)], check=True)
	stripped = partial.read_bytes()
	os.replace(partial, kept)
	_drop_oldest(cache, 'stripped-*', 32)
	return stripped


def _drop_oldest(cache, pattern, keep):
	"""Delete all but the newest @keep files in @cache that match @pattern, because each build adds some."""
	def age(path):
		try:
			return path.stat().st_mtime
		except FileNotFoundError:
			return 0

	files = sorted(cache.glob(pattern), key=age)
	for path in files[:-keep]:
		path.unlink(missing_ok=True)


def base(found, kernel, cache):
	"""Return the archive with busybox, init and modules, which depends only on the kernel. It is kept in @cache."""
	identity = (_INIT.read_bytes(), str(kernel.modules), str(os.stat(kernel.image).st_mtime_ns),
		    str(found.busybox), Path(__file__).read_bytes())
	digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:20]
	kept = cache / f'base-{kernel.release}-{digest}.cpio'
	with contextlib.suppress(FileNotFoundError):
		return kept.read_bytes()
	archive = Archive()
	for name in _FOLDERS:
		archive.folder(name)
	archive.file('init', _INIT.read_bytes(), executable=True)
	archive.file('bin/busybox', found.busybox.read_bytes(), executable=True)
	if found.root is None:
		for library in _busybox_libraries(found.busybox):
			archive.file(library.lstrip('/'), Path(library).read_bytes(), executable=True)
	_add_modules(archive, kernel)
	contents = archive.finish()
	cache.mkdir(parents=True, exist_ok=True)
	for stale in cache.glob(f'base-{kernel.release}-*.cpio'):
		stale.unlink(missing_ok=True)
	partial = kept.with_suffix(f'.{os.getpid()}')
	partial.write_bytes(contents)
	os.replace(partial, kept)
	return contents


def _busybox_libraries(busybox):
	"""Return the libraries of the program @busybox; a static one needs none."""
	said = subprocess.run(['ldd', str(busybox)], capture_output=True, text=True)
	return libraries([busybox]) if said.returncode == 0 else set()


def _add_modules(archive, kernel):
	folder = f'lib/modules/{kernel.release}'
	modules = Modules(kernel)
	order = modules.closure(_MODULES)
	for name, contents in modules.closure(_MODULES, _OPTIONAL_MODULES).items():
		archive.file(f'{folder}/{name}.ko', contents)
	# init loads the modules in this order; so the image needs no tables of depmod.
	archive.file(f'{folder}/order', ''.join(f'{name}\n' for name in order).encode())


def programs(kernel, module, executables, files, cache):
	"""Return the archive with the driver and the programs.

	@module is nvdla.ko or None; the modules that nvdla.ko needs are added.
	@executables are {name in /usr/bin: path}, @files {absolute path in the guest: path, or contents}.
	"""
	archive = Archive()
	folder = f'lib/modules/{kernel.release}'
	if module is not None:
		contents = module.read_bytes()
		needed = Modules(kernel).closure(_dependencies(contents))
		for name, other in needed.items():
			archive.file(f'{folder}/{name}.ko', other)
		archive.file(f'{folder}/nvdla.ko', contents)
		archive.file(f'{folder}/nvdla.order', ''.join(f'{name}\n' for name in needed).encode())
	for name, path in executables.items():
		archive.file(f'usr/bin/{name}', stripped(path, cache), executable=True)
	for library in sorted(libraries([path for path in executables.values() if _is_elf(path)])):
		archive.file(library.lstrip('/'), Path(library).read_bytes(), executable=True)
	for name, source in files.items():
		if isinstance(source, bytes):
			archive.file(name.lstrip('/'), source)
		else:
			archive.file(name.lstrip('/'), source.read_bytes(), executable=os.access(source, os.X_OK))
	return archive.finish()


def _is_elf(path):
	with open(path, 'rb') as program:
		return program.read(4) == b'\x7fELF'


def settings(variables, command, user=USER_ID):
	"""Return the archive with init's configuration, the command and the users. @user: UID of the ordinary user, who
	may use the device as a member of the group "render"."""
	archive = Archive()
	archive.file('etc/passwd', (f'root:x:0:0:root:/root:/bin/sh\nuser:x:{user}:{user}:user:/tmp:/bin/sh\n'
				    'nobody:x:65534:65534:nobody:/:/bin/sh\n').encode())
	archive.file('etc/group', f'root:x:0:\nrender:x:107:user\nuser:x:{user}:\nnogroup:x:65534:\n'.encode())
	archive.file('etc/vm.conf', ''.join(f'{name}={value}\n' for name, value in variables.items()).encode())
	if command is not None:
		archive.file('etc/vm.command', command.encode(), executable=True)
	return archive.finish()
