# SPDX-License-Identifier: MIT
"""nvdla-run --trace: what it writes plays elsewhere, in each format."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from programs import ProgramTest, call

EXAMPLES = Path(__file__).resolve().parents[2] / 'umd' / 'examples'
DATA = Path(os.environ.get('NVDLA_REFERENCE_DATA', EXAMPLES.parents[2] / 'shared'))
LENET = DATA / 'loadables' / 'nv_small' / 'lenet_mnist' / 'lenet_mnist.nvdla'


class Recording(ProgramTest):
	def setUp(self):
		super().setUp()
		network = EXAMPLES / 'digits' / 'digits.onnx'
		self.networks = [('nv_full', (network, '--input', EXAMPLES / 'digits' / 'seven.pgm'))]
		if LENET.exists():
			self.networks.append(('nv_small', (LENET, '--input', LENET.with_name('seven.pgm'))))

	def record(self, core, network, *options):
		folder = self.folder / core / 'one'
		folder.parent.mkdir(exist_ok=True)
		self.good('nvdla-run', *network, '--device', f'embedded:{core}', '--trace', folder, *options)
		return folder

	def output_of(self, code, name, *arguments):
		said = call(name, *arguments)
		self.assertEqual(said.returncode, code, said.stderr)
		return said.stdout

	def test_nvdla_trace_plays_it(self):
		for core, network in self.networks:
			for form, name in ('trace', 'trace'), ('txn', 'input.txn'), ('cfg', 'one.cfg'):
				with self.subTest(core=core, form=form):
					folder = self.record(core, network, '--trace-format', form)
					self.assertIn('1 passed, 0 failed', self.good('nvdla-trace', folder))
					# What is expected is looked at.
					text = (folder / name).read_text()
					wrong = re.sub(r'(check_crc\(.*0x)[0-9a-f]{8}', r'\g<1>00000000', text)
					for file in folder.glob('expect-*'):
						file.write_bytes(file.read_bytes()[:-16].replace(b'1', b'2'))
					(folder / name).write_text(wrong)
					self.assertIn('0 passed, 1 failed', self.output_of(1, 'nvdla-trace', folder))
					for file in folder.iterdir():
						file.unlink()

	def test_c_is_played_without_a_system(self):
		for core, network in self.networks:
			with self.subTest(core=core):
				folder = self.record(core, network, '--trace-format', 'c')
				library = folder / 'trace.so'
				compile_ = ('cc', '-std=c99', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC',
					    '-I', EXAMPLES / 'bare-metal', '-o', library)
				subprocess.run((*compile_, folder / 'trace.c'), check=True)
				self.assertRegex(self.good('play-c-trace', library, core), r'^\d+ steps')
				# The last step expects what the network computed last.
				text = (folder / 'trace.c').read_text()
				at = text.rindex('static const uint8_t')
				wrong = re.sub('0x[0-9a-f]{2}', '0x55', text[at:text.index('};', at)])
				(folder / 'trace.c').write_text(text[:at] + wrong + text[text.index('};', at):])
				subprocess.run((*compile_, folder / 'trace.c'), check=True)
				self.assertIn('fails', self.output_of(1, 'play-c-trace', library, core))

	def test_memory_is_where_it_is_wanted(self):
		folder = self.record(*self.networks[0], '--trace-memory', '0xc0000000')
		addresses = [int(line.split()[2], 16) for line in (folder / 'trace').read_text().splitlines()
			     if line.startswith(('load', 'expect'))]
		self.assertGreaterEqual(min(addresses), 0xc0000000)
		self.assertIn('1 passed', self.good('nvdla-trace', folder))

	def test_each_run_is_in_it(self):
		once = (self.record(*self.networks[0]) / 'trace').read_text().count('poll')
		twice = (self.record(*self.networks[0], '--repeat', 2) / 'trace').read_text().count('poll')
		self.assertEqual(twice, 2 * once)

	def test_what_cannot_be_recorded(self):
		network = self.networks[0][1]
		run = ('nvdla-run', *network)
		folder = self.folder / 'x'
		self.assertIn('only these can be recorded',
			      self.bad(2, *run, '--device', '/dev/accel/accel0', '--trace', folder))
		self.assertIn('--trace-format', self.bad(2, *run, '--trace-format', 'txn'))
		self.assertIn('--trace-memory', self.bad(2, *run, '--trace-memory', '0x80000000'))
		for wrong in '0x50000000', '0x80000001', '80000000', '0x', 'here':
			self.assertIn('must be a multiple of 4096',
				      self.bad(2, *run, '--trace', folder, '--trace-memory', wrong))
		self.write('file', b'')
		self.assertIn('is no folder', self.bad(2, *run, '--trace', self.folder / 'file' / 'x'))


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
