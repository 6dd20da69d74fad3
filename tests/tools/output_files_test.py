# SPDX-License-Identifier: MIT
"""Files that programs write: one that would replace a file of the same command, or that cannot be written, is refused
before anything is computed."""

import os
import shutil
import unittest
from pathlib import Path

from programs import DIGITS, ProgramTest


class OutputFiles(ProgramTest):
	def setUp(self):
		super().setUp()
		self.model = self.copy('digits.onnx')
		self.picture = self.copy('seven.pgm')
		self.photo = self.write('photo.png', (DIGITS.parent / 'chelsea.png').read_bytes())
		self.samples = self.folder / 'samples'
		self.samples.mkdir()
		self.sample = Path(shutil.copy(DIGITS / 'held_out.npy', self.samples))
		self.labels = self.write('labels.txt', b'%d\n' * 10 % tuple(range(10)))
		self.table = self.write('table.json', b'{}')
		self.net_text, self.weights = self.write('caffe.prototxt', b''), self.write('caffe.caffemodel', b'')
		self.out = self.folder / 'out'

	def copy(self, name):
		return Path(shutil.copy(DIGITS / name, self.folder))

	def over_inputs(self):
		"""Commands and their option for an output, which is given one of the inputs."""
		report = (self.model, '-o', self.out, '--report', 'text')
		return [
			('nvdla-compile', (self.model,), '-o', [self.model]),
			('nvdla-compile', (self.model, '--calibrate', self.sample), '-o', [self.model, self.sample]),
			('nvdla-compile', (self.model, '--calibrate', self.samples), '-o', [self.sample]),
			('nvdla-compile', (self.model, '--calibration-table', self.table), '-o', [self.table]),
			('nvdla-compile', (self.net_text,), '-o', [self.net_text, self.weights]),
			('nvdla-compile', report, '--report-file', [self.model]),
			('nvdla-run', (self.model, '--input', self.sample, '--labels', self.labels), '--output',
			 [self.model, self.sample, self.labels]),
			('nvdla-run', ('--model', self.model, '--image', self.picture), '--output', [self.model, self.picture]),
			('nvdla-run', ('--loadable', self.net), '--output', [self.net]),
			('nvdla-prof', (self.model, '--input', self.picture), '--svg', [self.model, self.picture]),
			*(('nvdla-prof', (self.net,), option, [self.net]) for option in ('--trace', '--csv', '--json')),
			('nvdla-info', (self.net,), '-o', [self.net]),
			('nvdla-info', ('--dump', self.table), '-o', [self.table]),
			('nvdla-convert', (self.net,), None, [self.net]),
			('nvdla-edges', ('--input', self.photo), '--output', [self.photo]),
			('nvdla-edges', ('--input', self.photo), '--timeline', [self.photo]),
		]

	def names(self, path):
		"""Further names of the file."""
		hard, soft = self.folder / 'hard', self.folder / 'soft'
		hard.unlink(missing_ok=True)
		soft.unlink(missing_ok=True)
		os.link(path, hard)
		soft.symlink_to(path)
		return path, path.parent / '.' / '..' / path.parent.name / path.name, os.path.relpath(path), hard, soft

	def test_over_an_input(self):
		for program, arguments, option, inputs in self.over_inputs():
			for path in inputs:
				before = path.read_bytes()
				for name in self.names(path):
					with self.subTest(program, option=option, name=name):
						words = (option, name) if option else (name,)
						said = self.bad(2, program, *arguments, *words)
						self.assertTrue(said.startswith(f'{program}: '), said)
						self.assertIn('is the input file; name another', said)
						self.assertEqual(path.read_bytes(), before)
						self.assertFalse(self.out.exists())

	def test_over_an_input_by_the_default(self):
		before = self.write('edges.png', self.photo.read_bytes()).read_bytes()
		said = self.bad(2, 'nvdla-edges', '--input', 'edges.png', cwd=self.folder)
		self.assertEqual(said, 'nvdla-edges: --output: edges.png: is the input file; name another\n')
		self.assertEqual((self.folder / 'edges.png').read_bytes(), before)

	def test_over_an_input_by_the_usual_name(self):
		self.write('output.dimg', self.photo.read_bytes())
		said = self.bad(2, 'nvdla-run', self.net, '--image', 'output.dimg', cwd=self.folder)
		self.assertIn('--output: output.dimg: is the input file; name another', said)
		self.assertEqual((self.folder / 'output.dimg').read_bytes(), self.photo.read_bytes())

	def test_two_outputs(self):
		for program, arguments, first, second in (
				('nvdla-compile', (self.model, '--report', 'text'), '-o', '--report-file'),
				('nvdla-run', (self.model,), '--output', '--output'),
				('nvdla-prof', (self.net,), '--svg', '--csv'),
				('nvdla-prof', (self.net,), '--trace', '--json'),
				('nvdla-edges', ('--input', self.photo), '--output', '--timeline')):
			for there in (False, True):
				path = self.folder / 'both.npy'
				if there:
					path.write_text('old')
				with self.subTest(program, first=first, second=second, there=there):
					said = self.bad(2, program, *arguments, first, path, second, self.folder / '.' / 'both.npy')
					self.assertIn(', too; name another', said)
					self.assertEqual(path.exists() and path.read_text(), there and 'old')
				path.unlink(missing_ok=True)

	def test_places_without_a_file(self):
		commands = [(program, (*arguments, option) if option else arguments) for program, arguments, option, _ in self.over_inputs()]
		for program, arguments in [*commands, ('nvdla-example-net', ('-o',))]:
			for path, words in ((self.folder / 'none' / 'x.npy', f'there is no folder {self.folder / "none"}'),
					    (self.net / 'x.npy', f'{self.net} is no folder'),
					    (self.samples, 'is a folder; name a file')):
				with self.subTest(program, path=path):
					said = self.bad(2, program, *arguments, path)
					self.assertIn(f'{path}: {words}', said)
					self.assertFalse(self.out.exists())

	def test_what_is_no_file(self):
		"""Standard output, devices and pipes are no files, so two outputs can go to one."""
		for path in ('-', '/dev/null', '/dev/stdout'):
			with self.subTest(path):
				self.good('nvdla-prof', self.net, '--svg', path, '--csv', path)
		self.good('nvdla-run', self.net, '--output', self.folder / 'x.npy')
		self.good('nvdla-run', self.net, '--output', self.folder / 'x.npy')
		self.good('nvdla-info', self.net, '-o', self.folder / 'dangling.txt')


if __name__ == '__main__':
	import sys
	unittest.main(argv=sys.argv[:1])
