# SPDX-License-Identifier: MIT
"""Programs of another processor: what a guest needs to run them."""

import platform
import shutil
import unittest
from pathlib import Path

from stack import architectures, guest, programs


@unittest.skipUnless(platform.machine() == 'x86_64' and shutil.which('readelf'), 'needs this machine\'s own programs')
class FilesTest(unittest.TestCase):
	def setUp(self):
		self.here = guest.Guest('this machine', Path('/'), (), {}, (), Path('/bin/sh'), architectures.AMD64)

	def test_a_program_comes_with_libraries_and_loader(self):
		found = programs.files(self.here, {'shell': Path('/bin/sh')})
		self.assertEqual(found['/usr/bin/shell'], Path('/bin/sh'))
		self.assertIn('libc.so.6', [Path(name).name for name in found])
		self.assertIn('/lib64/ld-linux-x86-64.so.2', found)

	def test_libraries_of_libraries_come_too(self):
		found = programs.files(self.here, {'python': Path('/usr/bin/python3').resolve()})
		self.assertTrue(all(path.is_file() for path in found.values()), found)

	def test_nothing_needs_nothing(self):
		self.assertEqual(programs.files(self.here, {}), {})


if __name__ == '__main__':
	unittest.main()
