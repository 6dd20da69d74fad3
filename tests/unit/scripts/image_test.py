# SPDX-License-Identifier: MIT
"""The guest's image: the archive format, modules in loading order, libraries; the kernel it boots."""

import gzip
import lzma
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from stack import image, kernel_image
from stack.guest import Kernel


def entries(archive):
	"""Read a newc archive back: {name: (mode, contents)}, and the number of bytes read."""
	found = {}
	at = 0
	while True:
		assert archive[at:at + 6] == b'070701', f'no header at {at}'
		fields = [int(archive[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
		mode, size, length = fields[1], fields[6], fields[11]
		name = archive[at + 110:at + 110 + length - 1].decode()
		start = (at + 110 + length + 3) & ~3
		at = (start + size + 3) & ~3
		if name == 'TRAILER!!!':
			return found, at
		found[name] = (mode, archive[start:start + size])


def module(depends):
	return b'\x7fELF junk\0license=GPL\0depends=' + depends.encode() + b'\0name=x\0'


class ArchiveTest(unittest.TestCase):
	def test_contents_survive_at_every_alignment(self):
		archive = image.Archive()
		for size in range(9):
			archive.file('f' * (size + 1), b'x' * size)
		found, end = entries(archive.finish())
		self.assertEqual({name: contents for name, (_, contents) in found.items()},
				 {'f' * (size + 1): b'x' * size for size in range(9)})
		self.assertEqual(end % 4, 0)

	def test_folders_come_before_their_files_and_once(self):
		archive = image.Archive()
		archive.file('a/b/c', b'1')
		archive.file('a/b/d', b'2', executable=True)
		archive.link('a/e', 'b/c')
		found, _ = entries(archive.finish())
		self.assertEqual(list(found), ['a', 'a/b', 'a/b/c', 'a/b/d', 'a/e'])
		self.assertEqual(found['a'][0], 0o040755)
		self.assertEqual(found['a/b/c'][0], 0o100644)
		self.assertEqual(found['a/b/d'][0], 0o100755)
		self.assertEqual(found['a/e'], (0o120777, b'b/c'))

	def test_the_first_of_two_files_of_a_name_counts(self):
		archive = image.Archive()
		archive.file('a', b'1')
		archive.file('a', b'2')
		self.assertEqual(entries(archive.finish())[0]['a'][1], b'1')


class ModulesTest(unittest.TestCase):
	def setUp(self):
		self.folder = Path(tempfile.mkdtemp())
		self.addCleanup(shutil.rmtree, self.folder)
		kernel = self.folder / 'kernel'
		kernel.mkdir()
		(kernel / 'gpu-sched.ko').write_bytes(module('drm'))
		(kernel / 'drm.ko.xz').write_bytes(lzma.compress(module('base,other')))
		(kernel / 'base.ko').write_bytes(module(''))
		(kernel / 'other.ko').write_bytes(module('base,built-in'))
		self.modules = image.Modules(Kernel('6.12.1-x', None, self.folder, None))

	def test_needed_modules_come_first(self):
		self.assertEqual(list(self.modules.closure(['gpu-sched'])), ['base', 'other', 'drm', 'gpu_sched'])

	def test_a_module_that_is_built_in_is_left_out(self):
		self.assertEqual(list(self.modules.closure(['built_in'])), [])

	def test_compressed_modules_are_unpacked(self):
		self.assertEqual(self.modules.closure(['drm'])['drm'], module('base,other'))


class LibrariesTest(unittest.TestCase):
	def test_a_program_brings_its_libraries_and_loader(self):
		found = image.libraries(['/usr/bin/python3'])
		self.assertTrue(any('libc.so' in name for name in found), found)
		self.assertTrue(any(Path(name).name.startswith('ld-') for name in found), found)
		for name in found:
			self.assertTrue(Path(name).is_file(), name)

	def test_nothing_needs_nothing(self):
		self.assertEqual(image.libraries([]), set())


class SettingsTest(unittest.TestCase):
	def test_the_shell_reads_back_what_was_set(self):
		found, _ = entries(image.settings({'folder': "'a b'", 'export X': '1'}, 'true\n'))
		self.assertEqual(found['etc/vm.command'][1], b'true\n')
		said = subprocess.run(['sh', '-c', found['etc/vm.conf'][1].decode() + 'printf "%s|%s" "$folder" "$X"'],
				      capture_output=True, text=True, check=True).stdout
		self.assertEqual(said, 'a b|1')

	def test_without_a_command_there_is_none(self):
		self.assertNotIn('etc/vm.command', entries(image.settings({}, None))[0])

	def test_who_there_is(self):
		found, _ = entries(image.settings({}, None, 1234))
		self.assertIn(b'\nuser:x:1234:1234:', found['etc/passwd'][1])
		self.assertIn(b'\nrender:x:107:user\n', found['etc/group'][1])


class KernelImage(unittest.TestCase):
	ELF = b'\x7fELF' + bytes(range(256))

	def setUp(self):
		self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
		self.kernel = Kernel('9.9.9-test', self.folder / 'vmlinuz', self.folder, Path('/build'))
		(self.folder / 'config').write_text('#\nCONFIG_PVH=y\n')

	def boots(self, payload, cut=None):
		"""What is booted of a bzImage with @payload, of which everything behind @cut is missing."""
		head = bytearray(1024)
		head[0x1f1] = 1
		head[0x202:0x206] = b'HdrS'
		struct.pack_into('<II', head, 0x248, 16, len(payload))
		self.kernel.image.write_bytes((bytes(head) + bytes(16) + payload + b'behind it')[:cut])
		return kernel_image.uncompressed(self.kernel, self.folder / 'cache')

	def size(self):
		return struct.pack('<I', len(self.ELF))

	def test_is_the_elf_image_inside(self):
		payloads = {'gzip': gzip.compress(self.ELF), 'xz': lzma.compress(self.ELF) + self.size()}
		if shutil.which('zstd'):
			payloads['zstd'] = subprocess.run(['zstd', '-cq'], input=self.ELF, capture_output=True,
							  check=True).stdout + self.size()
		for name, payload in payloads.items():
			with self.subTest(name):
				found = self.boots(payload)
				self.assertEqual(found.read_bytes(), self.ELF)
				self.assertEqual(kernel_image.uncompressed(self.kernel, self.folder / 'cache'), found)
				shutil.rmtree(found.parent)

	def test_is_the_kernel_itself_if_there_is_none(self):
		packed = gzip.compress(self.ELF)
		for name, payload, cut in (('no ELF', gzip.compress(b'MZ'), None), ('cut', packed, 1024 + 16 + 40),
					   ('unknown', b'LZ' + packed, None), ('no header', packed, 0x240)):
			with self.subTest(name):
				self.assertEqual(self.boots(payload, cut), self.kernel.image)

	def test_is_the_kernel_itself_if_it_cannot_start_so(self):
		(self.folder / 'config').write_text('# CONFIG_PVH is not set\n')
		self.assertEqual(self.boots(gzip.compress(self.ELF)), self.kernel.image)


if __name__ == '__main__':
	unittest.main()
