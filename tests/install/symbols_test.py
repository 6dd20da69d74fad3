# SPDX-License-Identifier: MIT
"""What libnvdla.so exports: what the headers declare, and of that no C function less than there ever was."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

LIBRARY, SOURCE = sys.argv[1:3]
HEADERS = Path(SOURCE) / 'umd/include/nvdla'
FUNCTIONS = Path(SOURCE) / 'umd/install/libnvdla.functions'


def said(*command, **options):
	return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def symbols():
	"""Names of what the library defines for others, C++ ones in words."""
	names = [line.split()[-1].split('@')[0] for line in said('nm', '-D', '--defined-only', LIBRARY).splitlines()]
	return said('c++filt', input='\n'.join(names)).splitlines()


class Symbols(unittest.TestCase):
	@classmethod
	def setUpClass(cls):
		cls.names = [name for name in symbols() if name != 'NVDLA_0']
		cls.headers = ''.join(path.read_text() for path in HEADERS.glob('*.h'))

	def test_c_functions_are_those_that_are_promised(self):
		promised = [line.split()[0] for line in FUNCTIONS.read_text().splitlines() if line and line[0] != '#']
		self.assertEqual(promised, sorted(promised))
		self.assertEqual(sorted(name for name in self.names if name.startswith('nvdla_')), promised)

	def test_c_functions_are_those_of_the_header(self):
		text = ''.join((HEADERS / name).read_text() for name in ('nvdla.h', 'nvdla_model.h', 'nvdla_report.h'))
		declared = re.findall(r'^[a-z][\w ]*[ *](nvdla_\w+)\(', text, re.MULTILINE)
		self.assertEqual(sorted(declared), sorted(name for name in self.names if name.startswith('nvdla_')))

	def test_everything_else_is_in_the_headers(self):
		for name in self.names:
			if name.startswith('nvdla_'):
				continue
			with self.subTest(name):
				plain = re.sub(r'^(typeinfo name|typeinfo|vtable|guard variable) for ', '', name)
				words = re.match(r'nvdla::(\w+)', re.sub(r'^.*? (?=nvdla::\w+<)', '', plain))
				self.assertIsNotNone(words, 'is not in the namespace nvdla')
				self.assertRegex(self.headers, rf'\b{words[1]}\b')

	def test_every_header_says_what_is_exported(self):
		for path in HEADERS.glob('*.h'):
			with self.subTest(path.name):
				pragmas = re.findall(r'^#pragma GCC visibility (\w+)', path.read_text(), re.MULTILINE)
				self.assertEqual(pragmas, ['push', 'pop'])

	def test_the_soname(self):
		self.assertIn('[libnvdla.so.0]', said('readelf', '-d', LIBRARY))


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
