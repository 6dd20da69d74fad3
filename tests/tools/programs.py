# SPDX-License-Identifier: MIT
"""What tests of the runtime's programs share; their paths are the arguments of the test."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = {Path(argument).name: str(Path(argument).absolute()) for argument in sys.argv[1:]}
# of the pictures for the example network
WIDTH = HEIGHT = 16


def call(name, *arguments, **options):
	return subprocess.run([PROGRAMS[name], *map(str, arguments)], capture_output=True, text=True, **options)


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
