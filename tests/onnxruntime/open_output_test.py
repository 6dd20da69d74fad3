# SPDX-License-Identifier: MIT
"""Programs and the Python package with an output whose size depends on numbers: open_output_test.py IN_SUITE TREE TOOLS

This process and the programs run with the libraries of TREE, which has ONNX Runtime.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / 'python'))
import nvdla  # pylint: disable=wrong-import-position
import onnx_model  # pylint: disable=wrong-import-position

IN_SUITE, TREE, TOOLS = sys.argv[1:4]
SHAPE = (1, 2, 1, 4)
MODEL = onnx_model.model(
	[onnx_model.node('Conv', ['x', 'w'], 'a'), onnx_model.node('NonZero', ['a'], 'found'),
	 onnx_model.node('Cast', ['found'], 'y', to=1)],
	{'x': SHAPE}, {'y': (4, 'count')}, [onnx_model.tensor('w', 2 * np.eye(2, dtype=np.float32).reshape(2, 2, 1, 1))])


def numbers(*places):
	x = np.zeros(8, np.float32)
	x[list(places)] = 3
	return x.reshape(SHAPE)


def expected(x):
	return np.array(np.nonzero(x), np.float32)


class Programs(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		(self.folder / 'model.onnx').write_bytes(MODEL)

	def run_(self, program, *arguments):
		done = subprocess.run([IN_SUITE, TREE, f'{TOOLS}/{program}', *map(str, arguments)], cwd=self.folder,
				      capture_output=True, text=True, timeout=120, check=False)
		return done.returncode, done.stdout + done.stderr

	def good(self, program, *arguments):
		code, said = self.run_(program, *arguments)
		self.assertEqual(code, 0, said)
		return said

	def test_a_run_writes_and_says_the_size(self):
		self.assertIn('4 x ?', self.good('nvdla-compile', 'model.onnx', '-o', 'net.nvdla', '--report', 'html'))
		for x in (numbers(1, 5, 6), numbers(), numbers(0)):
			np.save(self.folder / 'x.npy', x)
			said = self.good('nvdla-run', 'net.nvdla', '--input', 'x.npy', '--output', 'y.npy')
			y = np.load(self.folder / 'y.npy')
			np.testing.assert_array_equal(y, expected(x))
			self.assertIn(f'y 4x{y.shape[1]} fp32', said)
			said = json.loads(self.good('nvdla-run', 'net.nvdla', '--input', 'x.npy', '--json', '--top', '3'))
			self.assertEqual(said['outputs'][0]['shape'], [4, y.shape[1], 1, 1])
			self.assertEqual(len(said['outputs'][0]['top']), min(3, y.size))
			self.good('nvdla-run', 'net.nvdla', '--input', 'x.npy', '--output', 'y.txt', '--rawdump')
			self.assertEqual((self.folder / 'y.txt').read_text().split(), [f'{one:g}' for one in y.ravel()])

	def test_descriptions_have_the_open_axis(self):
		self.good('nvdla-compile', 'model.onnx', '-o', 'net.nvdla')
		self.assertIn('4x?', self.good('nvdla-info', 'net.nvdla'))
		self.good('nvdla-bench', 'net.nvdla', '--runs', '3', '--warm-up', '0', '--duration', '1', '--in-flight', '2')

	def test_what_needs_a_size_is_refused(self):
		self.good('nvdla-compile', 'model.onnx', '-o', 'net.nvdla')
		code, said = self.run_('nvdla-run', 'net.nvdla', '--output', 'y.dimg')
		self.assertNotEqual(code, 0)
		self.assertIn('write dimg: tensor y 4x0 fp32: no format code for its type', said)
		(self.folder / 'labels.txt').write_text('one\ntwo\nthree\nfour\n')
		code, said = self.run_('nvdla-run', 'net.nvdla', '--labels', 'labels.txt', '--top', '1')
		self.assertNotEqual(code, 0)
		self.assertIn('the number of elements of an output: a varying number', said)


class Package(unittest.TestCase):
	@classmethod
	def setUpClass(cls):
		cls.model = nvdla.compile(MODEL)
		cls.net = nvdla.load(cls.model)
		cls.inputs = [numbers(1, 5, 6), numbers(), numbers(0), numbers(*range(8)), numbers(7, 2)]

	def check(self, answers):
		for x, y in zip(self.inputs, answers):
			self.assertEqual(y.dtype, np.float32)
			np.testing.assert_array_equal(y, expected(x))

	def test_arrays_have_the_shape_of_their_run(self):
		self.assertEqual(self.net.outputs[0].shape, (4, None))
		self.check([self.net(x) for x in self.inputs])
		self.check([self.net(x, raw=True) for x in self.inputs])
		self.check(self.net.map(self.inputs * 4, depth=4))

	def test_many_in_flight(self):
		async def all_of_them():
			return await asyncio.gather(*(self.net.run_async(x) for x in self.inputs))
		self.check(asyncio.run(all_of_them()))

	def test_pool(self):
		self.check(nvdla.Pool(['embedded', 'embedded']).load(self.model).map(self.inputs))

	def test_layout_is_the_models(self):
		net = nvdla.load(self.model, layout='nhwc')
		self.assertEqual(net.outputs[0].shape, (4, None))
		self.check([net(x.transpose(0, 2, 3, 1)) for x in self.inputs])

	def test_no_memory_is_shared(self):
		with self.assertRaisesRegex(nvdla.Unsupported, 'None'):
			self.net.shared()


if __name__ == '__main__':
	unittest.main(argv=['open_output_test'])
