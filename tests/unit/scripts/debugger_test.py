# SPDX-License-Identifier: MIT
"""scripts/vm --gdb, as far as it goes without a guest: gdb's commands, and whether a gdb is there."""

import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from stack import debugger
from stack.paths import ROOT

_SECTIONS = {'.text': '0xffffffffc0486000', '.data': '0xffffffffc035de00', '.init.text': '0xffffffffc0500000',
	     '.strtab': '0xffffffffc0600000'}


class Commands(unittest.TestCase):
	def test_sections_that_stay_and_sources(self):
		said = debugger.commands(Path('/b/kmd-7.3/kmd/nvdla.ko'), 1234, _SECTIONS).splitlines()
		self.assertIn('add-symbol-file /b/kmd-7.3/kmd/nvdla.ko -s .data 0xffffffffc035de00 -s .text 0xffffffffc0486000', said)
		for built_in in ('/mnt/kmd', '/b/kmd-7.3/kmd'):
			self.assertIn(f'set substitute-path {built_in} {ROOT}/kmd', said)
		self.assertIn('target remote 127.0.0.1:1234', said)

	@unittest.skipUnless(shutil.which('gdb') and shutil.which('cc'), 'no gdb, or no compiler')
	def test_gdb_understands_them(self):
		"""The address of a function, and its line in the source tree, from a folder with a space in its name."""
		with tempfile.TemporaryDirectory(prefix='a b') as folder:
			kmd = Path(folder, 'kmd')
			kmd.mkdir()
			source, module = kmd / 'nvdla_pci.c', kmd / 'nvdla.ko'
			source.write_text('\n\nint nvdla_function(int *place)\n{\n\treturn *place;\n}\n')
			subprocess.run(['cc', '-g', '-c', source, '-o', module], check=True)
			commands = [line for line in debugger.commands(module, 1, _SECTIONS).splitlines()
				    if not line.startswith('target')]
			words = [word for line in (*commands, 'info line nvdla_function') for word in ('-ex', line)]
			said = subprocess.run(['gdb', '-batch', '-nx', *words], capture_output=True, text=True).stdout
		self.assertIn(f'Line 4 of "{ROOT}/kmd/nvdla_pci.c" starts at address 0xffffffffc0486000 <nvdla_function>', said)


class Waiting(unittest.TestCase):
	def test_the_guest_goes_on_when_gdb_is_connected(self):
		said = []
		with tempfile.TemporaryDirectory() as folder, socket.create_server(('127.0.0.1', 0)) as stub:
			port = stub.getsockname()[1]
			waiting = debugger.Debugger(port, Path('/b/kmd-7.3/kmd/nvdla.ko'), Path(folder, 'gdb.commands'), said.append)
			self.addCleanup(waiting.close)
			waiting.guests.setblocking(False)
			with socket.create_connection(('127.0.0.1', port)):
				waiting.look()
				waiting.look()
				with self.assertRaises(BlockingIOError):
					waiting.guests.recv(100)
			waiting.write(_SECTIONS)
			self.assertTrue(waiting.waits)
			self.assertTrue(any('gdb -x' in line and 'gdb.commands' in line for line in said), said)
			waiting.look()
			waiting.look()
			self.assertTrue(waiting.waits)
			with socket.create_connection(('127.0.0.1', port)):
				waiting.look()
				self.assertTrue(waiting.waits)
				waiting.look()
			self.assertFalse(waiting.waits)
			self.assertEqual(waiting.guests.recv(100), b'go on\n')


if __name__ == '__main__':
	unittest.main()
