# SPDX-License-Identifier: MIT
"""Call traces with source lines."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from stack import traces

_SOURCE = '''\
__attribute__((section(".init.text")))
int nvdla_begin(int *place)
{
	return place ? 1 : 2;
}

int nvdla_inner(int *place)
{
	return *place;
}

int nvdla_outer(int *place)
{
	return nvdla_inner(place) + 1;
}
'''


@unittest.skipUnless(shutil.which('addr2line') and shutil.which('cc'), 'no compiler, or no binutils')
class Traces(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.source, self.module = Path(folder.name, 'nvdla_x.c'), Path(folder.name, 'nvdla.ko')
		self.source.write_text(_SOURCE)

	def compile(self, *options):
		subprocess.run(['cc', '-O0', '-c', *options, self.source, '-o', self.module], check=True)

	def test_places_have_lines(self):
		self.compile('-g')
		text = ('[ 1.0] RIP: 0010:nvdla_inner+0x8/0x20 [nvdla]\n'
			'[ 1.1]  ? nvdla_outer+0x10/0x30 [nvdla]\n'
			'[ 1.2]  drm_ioctl+0x12/0x34 [drm]\n'
			'[ 1.3]  nvdla_elsewhere+0x1/0x2 [nvdla]\n')
		said = traces.with_lines(text, self.module).splitlines()
		self.assertRegex(said[0], r'\[nvdla\] \(.*nvdla_x\.c:([7-9]|10)\)$')
		self.assertRegex(said[1], r'\[nvdla\] \(.*nvdla_x\.c:1[2-5]\)$')
		self.assertEqual(said[2:], text.splitlines()[2:])

	def test_instruction_that_failed_and_return_address(self):
		"""The first byte of a function is of its own line, what returns there is of the one before."""
		self.compile('-g')
		text = ('[ 1.0] RIP: 0010:nvdla_outer+0x0/0x20 [nvdla]\n'
			'[ 1.1]  ? nvdla_outer+0x1/0x30 [nvdla]\n'
			'[ 1.2]  nvdla_begin+0x1/0x30 [nvdla]\n')
		said = traces.with_lines(text, self.module).splitlines()
		self.assertRegex(said[0], r'nvdla_x\.c:13\)$')
		self.assertRegex(said[1], r'nvdla_x\.c:13\)$')
		self.assertRegex(said[2], r'nvdla_x\.c:3\)$')

	def test_padding_is_of_the_function_behind_it(self):
		"""The kernel names an address at the start of a function by the padding before, as the code there may be that of a call
		that never returns."""
		self.source.write_text(_SOURCE + '\n__asm__(".type __pfx_nvdla_outer, @function\\n.set __pfx_nvdla_outer, nvdla_inner");\n')
		self.compile('-g')
		text = ('[ 1.0]  ? __pfx_nvdla_outer+0x10/0x10 [nvdla]\n'
			'[ 1.1] RIP: 0010:__pfx_nvdla_outer+0x4/0x10 [nvdla]\n'
			'[ 1.2]  ? __pfx_nvdla_elsewhere+0x10/0x10 [nvdla]\n')
		said = traces.with_lines(text, self.module).splitlines()
		self.assertRegex(said[0], r'\[nvdla\] \(.*nvdla_x\.c:13\)$')
		self.assertRegex(said[1], r'\[nvdla\] \(.*nvdla_x\.c:13\)$')
		self.assertEqual(said[2], text.splitlines()[2])

	def test_without_debug_information(self):
		self.compile('-g0')
		text = '[ 1.0] RIP: 0010:nvdla_inner+0x8/0x20 [nvdla]\n'
		self.assertEqual(traces.with_lines(text, self.module), text)
		self.assertEqual(traces.with_lines(text, None), text)
		self.assertEqual(traces.with_lines(text, self.module.with_name('none.ko')), text)


if __name__ == '__main__':
	unittest.main()
