# SPDX-License-Identifier: MIT
"""What tests of the runtime's programs share; their paths are the arguments of the test."""

import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = {Path(argument).name: str(Path(argument).absolute()) for argument in sys.argv[1:]}
# of the pictures for the example network
WIDTH = HEIGHT = 16
DIGITS = Path(__file__).resolve().parents[2] / 'umd' / 'examples' / 'digits'
CODES = {'<f8': 'd', '<f4': 'f', '<f2': 'e', '<i8': 'q', '<i4': 'i', '<u8': 'Q', '<u4': 'I', '<u2': 'H', '<i2': 'h', '|i1': 'b',
	 '|u1': 'B'}


def call(name, *arguments, **options):
	return subprocess.run([PROGRAMS[name], *map(str, arguments)], capture_output=True, text=True, **options)


def npy(code, shape, values):
	"""The bytes of a numpy array."""
	header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
	return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header +
		struct.pack(f'<{len(values)}{CODES[code]}', *values))


class ProgramTest(unittest.TestCase):
	"""Has a folder of its own, and the example network in it."""

	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		self.net = self.folder / 'net.nvdla'
		self.good('nvdla-example-net', '-o', self.net, '--width', WIDTH, '--height', HEIGHT)

	def good(self, name, *arguments):
		said = call(name, *arguments)
		self.assertEqual(said.returncode, 0, said.stderr)
		return said.stdout

	def bad(self, code, name, *arguments, **options):
		said = call(name, *arguments, **options)
		self.assertEqual(said.returncode, code, said.stderr)
		return said.stderr

	def write(self, name, contents):
		path = self.folder / name
		path.write_bytes(contents)
		return path

	def picture(self):
		header = b'P6 %d %d 255\n' % (WIDTH, HEIGHT)
		return self.write('in.ppm', header + bytes(range(256)) * 3)
