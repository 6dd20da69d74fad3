# SPDX-License-Identifier: MIT
"""Options of nvdla-sim and nvdla-trace: one that can have no effect is refused, and the message says why."""

import os
import resource
import tempfile
import unittest
from pathlib import Path

from programs import call

SIM = [
	# options, words of the message
	(['--variant', 'nv_tiny'], ['--variant', 'nv_tiny', 'nv_full', 'nv_small']),
	(['--variant', 'nv_small', '--cvsram-size', '4M'], ['--cvsram-size', 'nv_small']),
	(['--interrupt-gap', '5us'], ['--interrupt-gap']),
	(['--cvsram-size', '9' * 30], ['--cvsram-size', '4 GiB']),
	(['--cvsram-size', '-1'], ['--cvsram-size', '4 GiB']),
	(['--cvsram-size', '5000'], ['--cvsram-size', '4 KiB']),
	(['--cvsram-size', '8G'], ['--cvsram-size', '4 GiB']),
	(['--cvsram-size', '0', '--cvsram-base', '0x1000'], ['--cvsram-base', '--cvsram-size 0']),
	(['--cvsram-base', '-4096'], ['--cvsram-base', '4 KiB']),
	(['--cvsram-base', '9' * 30], ['--cvsram-base']),
	(['--threads', '100000'], ['--threads']),
	(['--fp16', 'some'], ['--fp16', 'exact']),
	(['--log-level', 'loud'], ['--log-level', 'warning']),
	(['--clock', 'fast'], ['--clock', 'MHz']),
	(['--dram', '10'], ['--dram', 'GB/s']),
]
ADDRESS_SPACE = 1 << 31


class DeviceOptions(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		self.socket = self.folder / 'socket'

	def refused(self, code, words, name, *arguments, **options):
		said = call(name, *arguments, **options)
		self.assertEqual(said.returncode, code, said.stderr)
		for word in words:
			self.assertIn(word, said.stderr)
		self.assertFalse(self.socket.exists())

	def test_sim(self):
		for options, words in SIM:
			with self.subTest(options):
				self.refused(2, words, 'nvdla-sim', '--socket', self.socket, *options)

	@unittest.skipIf(os.environ.get('NVDLA_SANITIZED', 'none') != 'none', 'sanitizers need address space')
	def test_sim_without_memory(self):
		limit = (ADDRESS_SPACE, ADDRESS_SPACE)
		self.refused(1, ['cannot be made'], 'nvdla-sim', '--socket', self.socket, '--cvsram-size', '4G',
			     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))

	def test_sim_socket_in_a_folder_that_is_not_there(self):
		self.refused(2, [str(self.folder / 'none')], 'nvdla-sim', '--socket', self.folder / 'none' / 'socket')

	def trace(self, name):
		folder = self.folder / name
		folder.mkdir()
		(folder / 'trace').write_text('read 0x4 0x0 0x0\n')
		return folder

	def test_trace_folder_without_traces(self):
		empty = self.folder / 'empty'
		empty.mkdir()
		self.refused(2, [str(empty)], 'nvdla-trace', self.trace('some'), empty)

	def test_trace_that_is_not_there(self):
		self.refused(2, [str(self.folder / 'none')], 'nvdla-trace', self.folder / 'none')

	def test_trace_timing_of_nothing(self):
		self.refused(2, ['--timing', 'meta.json'], 'nvdla-trace', '--timing', self.trace('some'))

	def test_trace_options_that_exclude_each_other(self):
		folder = self.trace('some')
		self.refused(2, ['--sim', '--through-qemu'], 'nvdla-trace', '--sim', 'nvdla-sim', folder)
		self.refused(2, ['--timing', '--through-qemu'], 'nvdla-trace', '--timing', '--through-qemu', folder)


if __name__ == '__main__':
	unittest.main(argv=['device_options_test'])
