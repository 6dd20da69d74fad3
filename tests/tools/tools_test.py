# SPDX-License-Identifier: MIT
"""The runtime's programs, from outside: what they print and write, and their exit codes."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path
from xml.etree import ElementTree

from programs import CODES, DIGITS, HEIGHT, PROGRAMS, WIDTH, ProgramTest, call, npy


class Eval(ProgramTest):
	"""Handwritten digits in a folder for each class."""
	NAMES = 'zero one two three four five six seven eight nine'.split()

	def setUp(self):
		super().setUp()
		pixels = (DIGITS / 'held_out.npy').read_bytes()
		labels = (DIGITS / 'held_out_labels.npy').read_bytes()
		self.count = 40
		everything = (len(pixels) - pixels.index(b'\n') - 1) // 64
		self.pictures = self.folder / 'pictures'
		first, self.truth = len(pixels) - 64 * everything, []
		step = (len(labels) - labels.index(b'\n') - 1) // everything
		for i in range(self.count):
			label = labels[len(labels) - step * (everything - i)]
			(self.pictures / self.NAMES[label]).mkdir(parents=True, exist_ok=True)
			path = self.pictures / self.NAMES[label] / f'{i:03}.pgm'
			path.write_bytes(b'P5 8 8 255\n' + pixels[first + 64 * i:first + 64 * (i + 1)])
			self.truth.append((path, label))
		self.labels = self.write('labels.txt', '\n'.join(self.NAMES).encode())
		self.run_ = ('nvdla-eval', DIGITS / 'digits.onnx', self.pictures, '--labels', self.labels)

	def test_share_of_right_answers(self):
		right = sum(self.good('nvdla-run', DIGITS / 'digits.onnx', '--input', path, '--top', 1).split()[-2] == str(label)
			    for path, label in self.truth)
		said = json.loads(self.good(*self.run_, '--json'))
		self.assertEqual(said['device'], 'embedded')
		self.assertIn("on embedded (host time, not a chip's)", self.good(*self.run_))
		said = said['networks']
		self.assertEqual((said[0]['pictures'], said[0]['first']), (self.count, right / self.count))
		self.assertLessEqual(said[0]['first'], said[0]['first_five'])

	def test_the_network_may_be_an_option(self):
		model, folder = DIGITS / 'digits.onnx', self.pictures
		expected = self.good(*self.run_).split()[0]
		for words in (('--model', model, folder), (folder, '--model', model)):
			self.assertIn(expected, self.good('nvdla-eval', '--labels', self.labels, *words))
		said = self.bad(2, 'nvdla-eval', '--labels', self.labels, '--model', model, model, folder)
		self.assertIn('excludes --model', said)
		self.assertIn('folder is required', self.bad(2, 'nvdla-eval', '--labels', self.labels, model))

	def test_integers_beside_floats(self):
		net = self.folder / 'fixed.nvdla'
		self.good('nvdla-compile', DIGITS / 'digits.onnx', '-o', net, '--calibrate', DIGITS / 'held_out.npy')
		said = json.loads(self.good(*self.run_, '--json', '--calibrate', DIGITS / 'held_out.npy', '--against', net))
		floats, integers, other = said['networks']
		self.assertEqual([floats['network'], integers['network'], other['network']],
				 ['digits.onnx', 'digits.onnx int8', 'fixed.nvdla'])
		self.assertEqual(integers['first'], other['first'])
		self.assertEqual(floats['same_as_first'], 1)
		self.assertGreater(integers['first'], 0.8)

	def test_models_are_compiled_for_the_device(self):
		"""Also those of --against, when the first network is a loadable."""
		net, model = self.folder / 'large.nvdla', DIGITS / 'digits.onnx'
		self.good('nvdla-compile', model, '-o', net, '--target', 'nv_large', '--calibrate', DIGITS / 'held_out.npy')
		on_large = ('nvdla-eval', net, self.pictures, '--labels', self.labels, '--device', 'embedded:nv_large')
		self.good(*on_large, '--against', net)
		self.assertIn('is fp16, and nv_large computes with int8', self.bad(2, *on_large, '--against', model))

	def test_a_core_without_floats(self):
		"""Only the calibrated network is judged; the examples are all arguments up to the next option."""
		said = self.good('nvdla-eval', '--calibrate', DIGITS / 'seven.pgm', DIGITS / 'held_out.npy', '--device', 'embedded:nv_small',
				 '--labels', self.labels, DIGITS / 'digits.onnx', self.pictures)
		self.assertRegex(said, r'^network .*\ndigits.onnx int8 +40 .*\non embedded:nv_small .*\n$')
		self.assertIn('same as line 1', self.good(*self.run_, '--calibrate', DIGITS / 'held_out.npy'))

	def test_list_of_pictures(self):
		for path, label in self.truth:
			path.rename(self.pictures / path.name)
		truth = self.write('truth.txt', ''.join(f'{path.name} {label}\n' for path, label in self.truth).encode())
		self.assertRegex(self.good(*self.run_, '--truth', truth), r'digits.onnx +40 +\d')
		self.assertIn(' 7 ', self.good(*self.run_, '--truth', truth, '--limit', 7))
		self.assertIn('no folder with pictures', self.bad(2, *self.run_).replace('has no', 'no'))

	def test_spaces_in_a_list_of_pictures(self):
		"""Both in paths and in classes: the path ends where there is such a picture."""
		(self.pictures / 'my pictures').mkdir()
		lines = []
		for path, label in self.truth:
			path.rename(self.pictures / 'my pictures' / f'a {path.name}')
			lines.append(f'my pictures/a {path.name} the {self.NAMES[label]}\n')
		labels = self.write('names.txt', ''.join(f'the {name}\n' for name in self.NAMES).encode())
		words = ('nvdla-eval', DIGITS / 'digits.onnx', self.pictures, '--labels', labels, '--truth')
		truth = self.write('truth.txt', ''.join(lines).encode())
		self.assertRegex(self.good(*words, truth), r'digits.onnx +40 +\d')
		truth = self.write('gone.txt', b'my pictures/gone.pgm the one\n')
		self.assertIn(str(self.pictures / 'my pictures/gone.pgm'), self.bad(2, *words, truth))
		truth = self.write('eleven.txt', lines[0].split(' the ')[0].encode() + b' the eleven\n')
		self.assertIn('eleven.txt:1: the eleven: is neither', self.bad(2, *words, truth))

	def test_what_cannot_be_judged(self):
		wrong = self.write('wrong.txt', b'a\nb\n')
		said = self.bad(2, 'nvdla-eval', DIGITS / 'digits.onnx', self.pictures, '--labels', wrong)
		self.assertIn('neither the name nor the number of one of 2 classes', said)
		twice = self.write('twice.txt', '\n'.join(self.NAMES[:8] + ['seven', 'nine']).encode())
		said = self.bad(2, 'nvdla-eval', DIGITS / 'digits.onnx', self.pictures, '--labels', twice)
		self.assertTrue('is the name of 2 classes' in said or 'neither' in said, said)
		short = self.write('short.txt', '\n'.join(self.NAMES + ['ten']).encode())
		said = self.bad(2, 'nvdla-eval', DIGITS / 'digits.onnx', self.pictures, '--labels', short)
		self.assertIn('has 11 lines, which must be the number of elements of an output: 10', said)
		truth = self.write('truth.txt', b'a.pgm\n')
		self.assertIn('truth.txt:1', self.bad(2, *self.run_, '--truth', truth))
		(self.pictures / 'zero' / 'z.png').write_bytes(b'no picture')
		self.assertIn('z.png', self.bad(2, *self.run_))


class Models(ProgramTest):
	def said(self, picture):
		said = self.good('nvdla-run', '--model', DIGITS / 'digits.onnx', '--input', picture, '--top', '1')
		return said.splitlines()[-1].split()

	def test_picture(self):
		self.assertEqual(self.said(DIGITS / 'seven.pgm')[0], '7')

	def test_in_c(self):
		self.assertEqual(self.good('read-digit', DIGITS / 'digits.onnx', DIGITS / 'seven.pgm'), '7\n')
		self.assertIn('no PGM picture', self.bad(1, 'read-digit', DIGITS / 'digits.onnx', DIGITS / 'digits.onnx'))
		self.assertIn('seven.pgm', self.bad(1, 'read-digit', DIGITS / 'seven.pgm', DIGITS / 'seven.pgm'))
		wide = self.folder / 'wide.pgm'
		wide.write_bytes(b'P5 2 1 65535\n' + bytes(4))
		self.assertIn('no PGM picture', self.bad(1, 'read-digit', DIGITS / 'digits.onnx', wide))

	def test_pictures_are_fitted(self):
		pixels = (DIGITS / 'seven.pgm').read_bytes()[-64:]
		lines = [pixels[line:line + 8] for line in range(0, 64, 8)]
		# Three times as large, in colour, with something on both sides.
		wide = b''.join(b'\x10\x10\x10' * 6 + b''.join(bytes([pixel]) * 9 for pixel in line) + b'\x10\x10\x10' * 6
				for line in lines for _ in range(3))
		self.assertEqual(self.said(self.write('wide.ppm', b'P6 36 24 255\n' + wide)),
				 self.said(DIGITS / 'seven.pgm'))

	def test_how_a_picture_becomes_the_input_is_said(self):
		digits, seven = DIGITS / 'digits.onnx', DIGITS / 'seven.pgm'
		wide = self.write('wide.ppm', b'P6 10 8 255\n' + bytes(3 * 80))
		for words, said in (((digits, '--input', seven), f'picture {seven}: 8 x 8; grey; the input\'s numbers are the pixels, '
				     '0 to 255; --mean and --normalize scale them'),
				    ((digits, '--input', wide, '--mean', 8, '--normalize', 16),
				     f'picture {wide}: 10 x 8, cropped to its centre and scaled to 8 x 8; its luminance; '
				     'the input\'s numbers are (pixel - 8) / 16, by --mean and --normalize'),
				    ((self.net, '--input', self.picture()), f'picture {self.folder / "in.ppm"}: {WIDTH} x {HEIGHT}; '
				     'red, green, blue; pixels are the input\'s integers')):
			with self.subTest(said):
				self.assertEqual(self.good('nvdla-run', *words).splitlines()[0], said)
				json.loads(self.good('nvdla-run', *words, '--json'))
		self.assertIn('takes grey pixels, and mean has 2 numbers',
			      self.bad(2, 'nvdla-run', digits, '--input', seven, '--mean', '1,2'))
		self.assertNotIn('picture', self.good('nvdla-run', digits))

	def test_a_mean_for_each_colour(self):
		why = '--mean: give three numbers, for red, green and blue'
		for mean in ('3', '3,4'):
			self.assertIn(why, self.bad(2, 'nvdla-run', self.net, '--input', self.picture(), '--input-scale', 1, '--mean', mean))
		self.good('nvdla-run', self.net, '--input', self.picture(), '--input-scale', 1, '--mean', '3,4,5')

	def test_array_of_bytes(self):
		seven = self.write('seven.npy', npy('|u1', (1, 1, 8, 8), (DIGITS / 'seven.pgm').read_bytes()[-64:]))
		self.assertEqual(self.said(seven), self.said(DIGITS / 'seven.pgm'))

	def test_loadable_takes_what_its_model_takes(self):
		net, of_model, of_net = (self.folder / name for name in ('net.nvdla', 'model.npy', 'net.npy'))
		seven = self.write('seven.npy', npy('|u1', (8, 8), (DIGITS / 'seven.pgm').read_bytes()[-64:]))
		self.good('nvdla-compile', DIGITS / 'digits.onnx', '-o', net)
		for given in (seven, DIGITS / 'seven.pgm'):
			self.good('nvdla-run', DIGITS / 'digits.onnx', '--input', given, '--output', of_model)
			self.good('nvdla-run', net, '--input', given, '--output', of_net)
			self.assertEqual(of_model.read_bytes(), of_net.read_bytes())
		# Through its text form, too.
		text = self.folder / 'net.json'
		self.good('nvdla-convert', net, text)
		self.assertEqual(json.loads(text.read_text())['tensor_desc_list'][0]['signature'],
				 {'shape': [1, 1, 8, 8], 'order': 'nchw', 'is_8_bits': 0})
		self.good('nvdla-run', text, '--input', seven, '--output', of_net)
		self.assertEqual(of_model.read_bytes(), of_net.read_bytes())

	def test_names_that_are_not_utf_8(self):
		"""JSON is UTF-8 only; a byte of a name that is none is printed as by the other formats."""
		model = self.write('model.onnx', (DIGITS / 'digits.onnx').read_bytes().replace(b'picture', b'pict\xffre'))
		net, text, again = (self.folder / name for name in ('net.nvdla', 'net.json', 'again.nvdla'))
		self.assertIn(r'pict\xffre', self.good('nvdla-compile', model, '-o', net, '--report', 'text'))
		for words in (('--json',), ('--format', 'json'), ('--format', 'text'), ('--format', 'dot'), ('--format', 'svg')):
			with self.subTest(words):
				self.assertIn('pict', self.good('nvdla-info', net, *words))
		self.good('nvdla-convert', net, text)
		self.assertEqual(json.loads(text.read_text())['tensor_desc_list'][0]['name'], r'pict\xffre')
		self.good('nvdla-convert', text, again)
		answers = {self.good('nvdla-run', file, '--input', DIGITS / 'seven.pgm', '--top', 1).splitlines()[-1] for file in (net, again)}
		self.assertEqual(len(answers), 1, answers)

	def test_arrays_of_another_shape(self):
		line = self.write('line.npy', npy('<f4', (64,), [0] * 64))
		said = self.bad(2, 'nvdla-run', DIGITS / 'digits.onnx', '--input', line)
		self.assertIn('the array has the shape [64], the model has [1, 1, 8, 8]', said)
		said = self.bad(2, 'nvdla-compile', DIGITS / 'digits.onnx', '-o', self.folder / 'out', '--calibrate', line)
		self.assertIn('line.npy', said)
		self.assertIn('[64], the model has [1, 1, 8, 8]', said)

	def test_model_is_no_loadable(self):
		for program in ('nvdla-run', 'nvdla-info', 'nvdla-prof'):
			said = self.bad(2, program, '--loadable', DIGITS / 'digits.onnx')
			self.assertIn('is an ONNX model; make a loadable of it: nvdla-compile', said)

	def test_no_input_is_said(self):
		said = call('nvdla-run', DIGITS / 'digits.onnx')
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertIn("input 'picture' is zero: --input", said.stderr)

	def test_named_by_its_place(self):
		said = self.good('nvdla-run', DIGITS / 'digits.onnx', '--input', DIGITS / 'seven.pgm', '--top', '1')
		self.assertEqual(said.splitlines()[-1].split(), self.said(DIGITS / 'seven.pgm'))

	def compile(self, *options):
		net = self.folder / 'digits.nvdla'
		said = self.good('nvdla-compile', DIGITS / 'digits.onnx', '-o', net, *options)
		ran = self.good('nvdla-run', net, '--input', DIGITS / 'seven.pgm', '--top', '1')
		self.assertEqual(ran.splitlines()[-1].split()[0], '7')
		return said

	def test_calibrated(self):
		for precision in ('int8', 'int16'):
			said = self.compile('--calibrate', DIGITS / 'held_out.npy', '--precision', precision,
					    '--report', 'json')
			for layer in json.loads(said)['layers']:
				self.assertGreater(layer['error']['ownRatio'], 40, layer)
		self.assertIn('loses most: ', self.compile('--calibrate', DIGITS / 'held_out.npy', '--report', 'text'))

	def test_report(self):
		plain = ('--strategy', 'never')
		report = json.loads(self.compile('--report', 'json', *plain))
		self.assertEqual(report['cpuOperations'], 1)
		steps = [step for layer in report['layers'] for step in layer['steps']]
		# First convolution: 8x8 positions, 8 kernels of 3x3x1; second: 4x4, 16 kernels of 3x3x8; then 10 of 2x2x16.
		self.assertEqual([step['macs'] for step in steps if step.get('macs')], [4608, 18432, 640])
		self.assertEqual(sum(layer['macs'] for layer in report['layers']), 4608 + 18432 + 640)
		self.assertEqual(sum(layer['dramBytes'] for layer in report['layers']), report['dramBytes'])
		self.assertEqual([(step['engines'], 'cycles' in step) for step in steps][-1], ('SOFTMAX', False))
		self.assertEqual([step['engines'] for step in steps][0], 'CONV+SDP')
		# Cycles are those that nvdla-prof predicts, on the same chip.
		slow = json.loads(self.compile('--report', 'json', '--dram', '1GB/s', *plain))
		said = self.good('nvdla-prof', '--model', DIGITS / 'digits.onnx', '--chip', '--dram', '1GB/s', *plain)
		cycles = [int(line.split()[-5]) for line in said.splitlines() if '->' in line]
		self.assertEqual([step['cycles'] for layer in slow['layers'] for step in layer['steps'] if 'cycles' in step], cycles)
		self.assertGreater(slow['durationNs'], report['durationNs'])
		for memory in report['memories']:
			for one in memory['ranges']:
				self.assertLessEqual(one['offset'] + one['bytes'], memory['bytes'])
		named = {one['name'] for memory in report['memories'] for one in memory['ranges']}
		self.assertLessEqual({'picture', 'first_positive', 'first_largest', 'digit'}, named)

	def test_report_has_the_names_of_nodes(self):
		"""Layers have the names of tensors, other programs show those of nodes."""
		digits = (DIGITS / 'digits.onnx').read_bytes()
		model = self.write('named.onnx', digits.replace(b'\x1a\nfirst_sums', b'\x1a\nfirst/Conv'))
		words = ('nvdla-compile', model, '-o', self.folder / 'named.nvdla', '--report')
		nodes = {layer['name']: layer.get('node') for layer in json.loads(self.good(*words, 'json'))['layers']}
		self.assertEqual(nodes.pop('first_sums'), 'first/Conv')
		self.assertEqual(set(nodes.values()), {None})
		line, = (line for line in self.good(*words, 'text').splitlines() if 'node ' in line)
		self.assertRegex(line, r'^Conv +first_sums .*; node first/Conv$')
		self.assertEqual(self.good(*words, 'html').count('; node first/Conv<'), 1)

	def test_report_as_text_and_pictures(self):
		text = self.compile('--report', 'text', '--strategy', 'never')
		self.assertRegex(text, r'(?m)^  CONV\+SDP +1x8x8 -> 8x8x8 +\d+ +4608 .*direct 3x3, pad 1; ')
		self.assertRegex(text, r'(?m)^Softmax +digit .*CPU: ')
		self.assertRegex(text, r"(?m)^memory @\d+: DRAM .* input 'picture'")
		self.assertIn('runs/s', text)
		picture = self.compile('--report', 'svg')
		ElementTree.fromstring(picture)
		for words in ('MaxPool', 'max 2x2, stride 2', 'second_largest: ', 'on the core'):
			self.assertIn(words, picture)
		file = self.folder / 'report.html'
		self.assertEqual(self.compile('--report', 'html', '--report-file', file), '')
		page = file.read_text()
		for words in ('<td class="t">Conv</td>', 'direct 3x3, pad 1', 'over channels', '1 x 8 x 8 x 8'):
			self.assertIn(words, page)
		self.assertNotIn('http', page.replace('http://www.w3.org/2000/svg', ''))
		# What the rows name is in the pictures: an operation twice, in the timeline and the graph.
		operations = [one for row in re.findall(r'<tr data-op="([^"]*)"', page) for one in row.split()]
		drawn = [one for box in re.findall(r'<g data-op="([^"]*)"', page) for one in box.split()]
		self.assertEqual(set(operations), set(drawn))
		self.assertLessEqual(set(re.findall(r'<tr class="layer" data-layer="([^"]+)"', page)),
				     set(re.findall(r'<g data-layer="([^"]*)"', page)))
		if shutil.which('node'):
			script = self.write('page.js', re.search(r'<script>(.*)</script>', page, re.DOTALL)[1].encode())
			subprocess.run(['node', '--check', script], check=True)

	def test_drawings_of_large_models_can_be_read(self):
		data = os.environ.get('NVDLA_REFERENCE_DATA')
		if not data:
			self.skipTest('no reference data: set NVDLA_REFERENCE_DATA')
		for model in ('mobilenet_v2_1.0_224_uint8/*.tflite', 'hand_landmark_lite_float/*.tflite', 'light_resnet50_onnx/*.onnx'):
			with self.subTest(model):
				model = next((Path(data) / 'models').glob(model))
				net, file = self.folder / 'net.nvdla', self.folder / 'report.html'
				self.good('nvdla-compile', model, '-o', net, '--report', 'html', '--report-file', file)
				page = file.read_text()
				graphs = page[page.index('<summary>Model and network<'):]
				for drawing in (graphs, self.good('nvdla-info', net, '--format', 'svg')):
					width, height = (int(number) for number in re.search(r'<svg [^>]*width="(\d+)" height="(\d+)"', drawing).groups())
					self.assertLess(width, 6000)
					self.assertLess(height, 12000)
				# Each operation of the table is in the graph once, alone or in a box for several.
				rows, drawn = ([one for names in re.findall(f'<{element} data-op="([^"]*)"', where) for one in names.split()]
					       for element, where in (('tr', page), ('g', graphs)))
				self.assertEqual(sorted(rows), sorted(drawn))

	def test_strategy(self):
		def report(*options):
			return json.loads(self.compile('--report', 'json', *options))
		def choices(report):
			return [choice for layer in report['layers'] for choice in layer.get('choices', [])]
		auto, never = report(), report('--strategy', 'never')
		self.assertLessEqual(auto['durationNs'], never['durationNs'])
		self.assertEqual(choices(never), [])
		self.assertIn('pooling on the fly', [one['what'] for choice in choices(auto) for one in choice['candidates']])
		for choice in choices(auto):
			chosen = choice['candidates'][choice['chosen']]
			self.assertEqual(chosen['cycles'], min(one['cycles'] for one in choice['candidates']))
		fused = report('--strategy', 'never,fused-pooling=always')
		self.assertEqual([step['engines'] for layer in fused['layers'] for step in layer['steps']][0], 'CONV+SDP+PDP')
		self.assertIn('pooling on the fly: ', self.compile('--report', 'text', '--strategy', 'fused-pooling=always'))
		self.assertGreater(report('--sram-size', '64K')['sramBytes'], 0)
		self.assertEqual(never['sramBytes'], 0)
		for program in ('nvdla-compile', 'nvdla-run'):
			model = (DIGITS / 'digits.onnx',) + (('-o', self.folder / 'out') if program == 'nvdla-compile' else ())
			self.assertIn('no layer of the graph', self.bad(2, program, *model, '--strategy', 'bands=always'))
			self.assertIn("'bands=often'", self.bad(2, program, *model, '--strategy', 'bands=often'))
			self.assertIn("--target: 'nv_tiny': is not known; there are: nv_full, nv_small", self.bad(2, program, *model, '--target', 'nv_tiny'))
			self.good(program, *model, '--target', 'nv_full')

	def test_another_core(self):
		model, net = DIGITS / 'digits.onnx', self.folder / 'small.nvdla'
		small = ('--device', 'embedded:nv_small')
		self.good('nvdla-compile', model, '-o', net, '--target', 'nv_small', '--calibrate', DIGITS / 'held_out.npy')
		self.assertRegex(self.good('nvdla-run', net, *small, '--input', DIGITS / 'seven.pgm', '--top', '1'), r'\b7\b')
		self.assertIn("the network is for nv_small, but the device 'embedded' is nv_full: compile", self.bad(2, 'nvdla-run', net))
		self.assertIn('nv_small', self.good('nvdla-info', net))
		self.assertRegex(self.good('nvdla-info', '--chip', net), r'CONV\+SDP')
		# The core of a model is the device's.
		for program in ('nvdla-run', 'nvdla-bench', 'nvdla-prof'):
			self.assertIn('nv_small computes with int8; calibrate the float model (nvdla-compile --target nv_small --calibrate)',
				      self.bad(2, program, model, *small, '--host', 'never'))
		# No library is the remedy; one that is there computes the model all the same.
		said = call('nvdla-compile', model, '-o', net, '--target', 'nv_small')
		if said.returncode:
			self.assertIn('(--calibrate)', said.stderr)
			self.assertNotIn('install', said.stderr)

	def test_a_core_without_on_chip_memory(self):
		model, words = DIGITS / 'digits.onnx', ('--sram-size', '64K')
		why = '--sram-size: nv_small has no on-chip memory that the driver can use\n'
		for program, *others in (
				('nvdla-compile', '-o', self.folder / 'out', '--target', 'nv_small', '--calibrate', DIGITS / 'held_out.npy'),
				('nvdla-run', '--device', 'embedded:nv_small'), ('nvdla-info', '--target', 'nv_small')):
			with self.subTest(program):
				self.assertEqual(self.bad(2, program, model, *words, *others), f'{program}: {why}')

	def test_calibrated_with_a_folder_of_pictures(self):
		pictures = self.folder / 'pictures'
		pictures.mkdir()
		(pictures / 'seven.pgm').write_bytes((DIGITS / 'seven.pgm').read_bytes())
		(pictures / 'notes.txt').write_text('no picture')
		self.compile('--calibrate', pictures, '--ranges', 'entropy', '--keep-bias')

	def scores(self, *words):
		"""The ten scores of nvdla-run, by class."""
		top = json.loads(self.good('nvdla-run', *words, '--top', 10, '--json'))['outputs'][0]['top']
		return [entry['value'] for entry in sorted(top, key=lambda entry: entry['index'])]

	def test_pictures_become_the_numbers_of_the_calibration(self):
		seven, net = DIGITS / 'seven.pgm', self.folder / 'net.nvdla'
		picture = seven.read_bytes()
		dim = self.write('dim.pgm', picture[:-64] + bytes(pixel // 3 for pixel in picture[-64:]))
		for ranges in 'minmax', 'percentile', 'powers-of-two':
			for scaling in (), ('--mean', 3), ('--mean', 8, '--normalize', 0.75):
				self.good('nvdla-compile', DIGITS / 'digits.onnx', '-o', net, '--ranges', ranges, *scaling, '--calibrate', dim)
				# The layers' ranges are those of the dim picture.
				for shown, error in (dim, 0.1), (seven, 0.3):
					with self.subTest(ranges=ranges, scaling=scaling, shown=shown.name):
						wanted = self.scores(DIGITS / 'digits.onnx', '--input', shown, *scaling)
						got = self.scores(net, '--input', shown)
						self.assertLess(max(abs(one - other) for one, other in zip(got, wanted)), error)
				said = self.good('nvdla-run', net, '--input', seven).splitlines()[0]
				self.assertIn('as in the calibration' if scaling else "the input's numbers are the pixels", said)

	def test_cache(self):
		cache = self.folder / 'cache'
		model = self.write('digits.onnx', (DIGITS / 'digits.onnx').read_bytes())
		seven = self.write('seven.npy', npy('|u1', (1, 1, 8, 8), (DIGITS / 'seven.pgm').read_bytes()[-64:]))
		run = ('nvdla-run', model, '--cache', cache, '--input', seven, '--top', '1')
		first = self.good(*run).splitlines()[1:]
		kept = list(cache.iterdir())
		self.assertEqual(len(kept), 1)
		self.assertEqual(self.good(*run).splitlines()[1:], first)
		self.assertEqual(list(cache.iterdir()), kept)
		# A damaged one counts as none, and another model has another file.
		kept[0].write_bytes(kept[0].read_bytes()[:-1])
		self.assertEqual(self.good(*run).splitlines()[1:], first)
		model.write_bytes(model.read_bytes() + b'\x3a\x00')
		self.good(*run)
		self.assertEqual(len(list(cache.iterdir())), 2)
		# And so has one that is carried out otherwise.
		for number, option in enumerate(('--strategy=never', '--sram-size=64K', f'--dump-surfaces={self.folder / "dumped"}')):
			for _ in range(2):
				self.assertEqual(self.good(*run, option).splitlines()[-1].split()[0], first[-1].split()[0])
				self.assertEqual(len(list(cache.iterdir())), 3 + number)

	def test_dumped_surfaces(self):
		folder = self.folder / 'surfaces'
		run = ('nvdla-run', DIGITS / 'digits.onnx', '--input', DIGITS / 'seven.pgm')
		surfaces = json.loads(self.good(*run, '--json', '--dump-surfaces', folder))['surfaces']
		self.assertEqual({one['file'] for one in surfaces}, {path.name for path in folder.iterdir()})
		self.assertIn('digit', surfaces[0]['name'])
		self.assertGreater(len(surfaces), 5)
		# The Conv's sums before its ReLU are inside one hardware layer.
		self.assertFalse([one['name'] for one in surfaces if 'sums' in one['name']])
		for one in surfaces:
			contents = (folder / one['file']).read_bytes()
			data = contents[10 + struct.unpack_from('<H', contents, 8)[0]:]
			numbers = struct.unpack(f'<{len(data) // 4}f', data)
			self.assertAlmostEqual(min(numbers), one['least'], places=4)
			self.assertAlmostEqual(max(numbers), one['most'], places=4)
			self.assertEqual((one['type'], one['at_highest']), ('fp16', 0))
		said = self.good(*run, '--dump-surfaces', folder)
		self.assertIn('at highest', said)
		self.assertIn('give the model', self.bad(2, 'nvdla-run', self.net, '--dump-surfaces', folder))

	def test_given_scales_hold_for_pictures_of_8_bit_models(self):
		data = os.environ.get('NVDLA_REFERENCE_DATA')
		if not data:
			self.skipTest('no reference data: set NVDLA_REFERENCE_DATA')
		model = Path(data) / 'models' / 'resnet8_int8' / 'model.tflite'
		out, outputs = self.folder / 'out.raw', []
		for options in ((), ('--input-scale', 1, '--input-zero', -128), ('--input-scale', 8)):
			self.good('nvdla-run', '--model', model, '--input', DIGITS / 'seven.pgm', '--output', out, *options)
			outputs.append(out.read_bytes())
		self.assertEqual(outputs[0], outputs[1])
		self.assertNotEqual(outputs[0], outputs[2])

	def test_memory_is_that_of_some_models(self):
		data = os.environ.get('NVDLA_REFERENCE_DATA')
		if not data:
			self.skipTest('no reference data: set NVDLA_REFERENCE_DATA')
		command = [PROGRAMS['nvdla-compile'], Path(data) / 'models' / 'light_resnet50_onnx' / 'model.onnx',
			   '-o', self.folder / 'out']
		_, status, used = os.wait4(os.spawnv(os.P_NOWAIT, command[0], command), 0)
		self.assertEqual(status, 0)
		# The small file stands for 102 MB of constants.
		self.assertLess(used.ru_maxrss, (3 * 102 + 200) * 1000)

	def test_what_is_no_calibration(self):
		def bad(code, words, *options):
			said = self.bad(code, 'nvdla-compile', DIGITS / 'digits.onnx', '-o', self.folder / 'out', *options)
			self.assertIn(words, said)

		bad(2, 'int8 and int16 need --calibrate', '--precision', 'int8')
		table = self.folder / 'calibration.cache'
		for rows, words in (('TRT-7103-EntropyCalibration2\npicture: 3d010a14\n', 'has no row'),
				    ('picture: 3d010a1g\n', 'calibration.cache, line 1'),
				    ('{ "picture": { "scale": 1, "offset": 2 } }', '\'picture\': has an "offset"')):
			table.write_text(rows)
			bad(2, words, '--calibration-table', table)
		bad(2, 'fp16 excludes --calibrate', '--precision', 'fp16', '--calibrate', DIGITS / 'seven.pgm')
		bad(2, 'has the shape [360], the model has [1, 1, 8, 8]', '--calibrate', DIGITS / 'held_out_labels.npy')
		empty = self.folder / 'empty'
		empty.mkdir()
		bad(2, 'has no picture and no .npy', '--calibrate', empty)


class Tools(ProgramTest):
	def test_there_and_back(self):
		text, again = self.folder / 'net.json', self.folder / 'again.nvdla'
		self.good('nvdla-convert', self.net, text)
		self.good('nvdla-convert', text, again)
		second = self.folder / 'again.json'
		self.good('nvdla-convert', again, second)
		self.assertEqual(text.read_text(), second.read_text())
		self.assertEqual(self.good('nvdla-info', '--json', again), text.read_text())

	def test_weights_as_files(self):
		text = self.folder / 'net.json'
		self.good('nvdla-convert', '--blob-files', self.net, text)
		self.assertNotIn('base64', text.read_text())
		self.assertTrue(list(self.folder.glob('*.bin')))
		self.good('nvdla-convert', text, self.folder / 'again.nvdla')
		for to in (self.net, '-'):
			self.assertIn('must end in .json', self.bad(2, 'nvdla-convert', '--blob-files', text, to))

	def test_damage_is_named(self):
		text = self.folder / 'net.json'
		self.good('nvdla-convert', self.net, text)
		text.write_text(text.read_text().replace('"pad_val": 0', '"pad_val": 40000'))
		said = self.bad(2, 'nvdla-info', text)
		self.assertIn('conv.pad_val: is 40000, must be a whole number from -32768 to 32767', said)
		self.assertIn(str(text), said)
		self.assertEqual(said.count('\n'), 1)

	def test_info_formats(self):
		self.assertIn('CONV', self.good('nvdla-info', self.net))
		self.assertTrue(self.good('nvdla-info', '--format', 'dot', self.net).startswith('digraph'))
		self.assertTrue(self.good('nvdla-info', '--format', 'svg', self.net).startswith('<svg'))
		out = self.folder / 'net.svg'
		self.assertEqual(self.good('nvdla-info', '--format', 'svg', '-o', out, self.net), '')
		self.assertTrue(out.read_text().endswith('</svg>\n'))
		self.assertIn('pdf', self.bad(2, 'nvdla-info', '--format', 'pdf', self.net))

	def test_registers_of_a_dump_get_names(self):
		dump = self.folder / 'dump.txt'
		dump.write_text('nvdla coredump 2\nvariant: nv_full\n\n[registers]\n0x00000 = 0x00303031\n0x05014 = 0x00000001\n'
				'0x0ffff = 0x00000001\n')
		self.assertEqual(self.good('nvdla-info', '--dump', dump),
				 'nvdla coredump 2\nvariant: nv_full\n\n[registers]\nGLB.S_NVDLA_HW_VERSION = 0x00303031\n'
				 'CDMA.D_MISC_CFG = 0x00000001\n0x0ffff = 0x00000001\n')
		self.assertIn('has no register', self.bad(2, 'nvdla-info', '--dump', self.net))
		self.assertIn('network: is for networks, not for --dump', self.bad(2, 'nvdla-info', '--dump', dump, self.net))
		self.assertIn('excludes', self.bad(2, 'nvdla-info', '--dump', dump, '--json'))

	def test_either_form_runs(self):
		text = self.folder / 'net.json'
		self.good('nvdla-convert', self.net, text)
		results = []
		for net in (self.net, text):
			out = self.folder / 'out.raw'
			self.good('nvdla-run', '--loadable', net, '--image', self.picture(), '--output', out)
			results.append(out.read_bytes())
		self.assertTrue(any(results[0]))
		self.assertEqual(results[0], results[1])

	def array(self, values, code='<f4', shape=(1, 3, HEIGHT, WIDTH)):
		return self.write('in.npy', npy(code, shape, values))

	def numbers(self, path):
		contents = path.read_bytes()
		length, = struct.unpack_from('<H', contents, 8)
		data = contents[10 + length:]
		return contents[10:10 + length], struct.unpack(f'<{len(data) // 4}f', data)

	def test_network_has_its_place(self):
		outputs = []
		for named in ((self.net,), ('--loadable', self.net)):
			out = self.folder / 'out.raw'
			self.good('nvdla-run', *named, '--input', self.picture(), '--output', out)
			outputs.append(out.read_bytes())
		self.assertEqual(outputs[0], outputs[1])
		self.assertIn('excludes --loadable', self.bad(2, 'nvdla-run', self.net, '--loadable', self.net))
		for program in ('nvdla-run', 'nvdla-bench', 'nvdla-prof', 'nvdla-info'):
			self.assertEqual(self.bad(2, program),
					 f'{program}: network is required: a loadable or a model; see {program} --help\n')

	def test_element_types_of_arrays(self):
		values = [(i * 37) % 128 for i in range(3 * WIDTH * HEIGHT)]
		outputs = set()
		for code in CODES:
			out = self.folder / 'out.raw'
			self.good('nvdla-run', self.net, '--input', self.array(values, code), '--output', out)
			outputs.add(out.read_bytes())
		self.assertEqual(len(outputs), 1)
		self.assertTrue(any(outputs.pop()))
		unread = self.write('in.npy', npy('|i1', (1, 3, HEIGHT, WIDTH), values).replace(b"'|i1'", b"'<c8'"))
		self.assertIn('float16 to float64', self.bad(2, 'nvdla-run', self.net, '--input', unread))

	def test_layout(self):
		values = [(i * 37) % 128 for i in range(3 * WIDTH * HEIGHT)]
		last = [values[c * WIDTH * HEIGHT + pixel] for pixel in range(WIDTH * HEIGHT) for c in range(3)]
		first_npy, last_npy = self.folder / 'first.npy', self.folder / 'last.npy'
		self.good('nvdla-run', self.net, '--input', self.array(values), '--layout', 'nchw', '--output', first_npy)
		self.good('nvdla-run', self.net, '--input', self.array(last, shape=(1, HEIGHT, WIDTH, 3)), '--layout', 'nhwc',
			  '--output', last_npy)
		(header, first), (header_last, transposed) = self.numbers(first_npy), self.numbers(last_npy)
		n, c, h, w = map(int, re.findall(rb'\d+', re.search(rb'\((.*?)\)', header)[1]))
		self.assertIn(b'(%d, %d, %d, %d' % (n, h, w, c), header_last)
		self.assertEqual([first[(image * c + channel) * h * w + pixel] for image in range(n) for pixel in range(h * w)
				  for channel in range(c)], list(transposed))
		self.assertTrue(any(first))
		said = self.bad(2, 'nvdla-run', self.net, '--input', self.array(values), '--layout', 'nhwc')
		self.assertIn(f'[1, 3, {HEIGHT}, {WIDTH}]; accepted is [1, {HEIGHT}, {WIDTH}, ', said)

	def test_scales(self):
		run = ('nvdla-run', '--loadable', self.net)
		raw, npy = self.folder / 'out.raw', self.folder / 'out.npy'
		steps = [(i * 37) % 128 for i in range(3 * WIDTH * HEIGHT)]
		outputs = []
		for scale, zero, values in ((1, 0, steps), (0.25, 0, [s / 4 for s in steps]),
					    (0.5, 7, [(s - 7) / 2 for s in steps])):
			self.good(*run, '--input', self.array(values), '--input-scale', scale, '--input-zero', zero,
				  '--output', raw)
			outputs.append(raw.read_bytes())
		self.assertTrue(any(outputs[0]))
		self.assertEqual(outputs[0], outputs[1])
		# The channel that the array does not have is 7 now; the network gives it no weight.
		self.assertEqual(outputs[0], outputs[2])

		self.good(*run, '--input', self.array(steps), '--output', npy)
		header, plain = self.numbers(npy)
		self.assertRegex(header, rb"'shape': \(1, \d+, \d+, \d+,\)")
		self.good(*run, '--input', self.array(steps), '--output', npy, '--output-scale', 0.5, '--output-zero', -4)
		self.assertEqual(self.numbers(npy)[1], tuple((one + 4) / 2 for one in plain))
		said = json.loads(self.good(*run, '--input', self.array(steps), '--json', '--top', 1, '--output-scale', 0.5,
					    '--output-zero', -4))
		self.assertEqual(said['outputs'][0]['quantization'], [{'scale': 0.5, 'zero_point': -4}])
		self.assertEqual(said['outputs'][0]['top'][0]['value'], (max(plain) + 4) / 2)

	def test_scales_of_pictures(self):
		run = ('nvdla-run', '--loadable', self.net, '--input', self.picture(), '--output')
		outputs = []
		# The network takes pixels as unsigned.
		for name, options in (('a', ()), ('b', ('--input-scale', 1)),
				      ('c', ('--input-scale', 1 / 255, '--normalize', 255))):
			out = self.folder / f'{name}.raw'
			self.good(*run, out, *options)
			outputs.append(out.read_bytes())
		self.assertEqual(outputs[0], outputs[1])
		self.assertEqual(outputs[0], outputs[2])
		self.assertIn('--normalize: ', self.bad(2, *run, self.folder / 'd.raw', '--normalize', 255))

	def test_scales_are_checked(self):
		run = ('nvdla-run', '--loadable', self.net, '--input', self.picture(), '--json')
		self.assertIn('a,b,c', self.bad(2, *run, '--input-scale', '1,,2'))
		self.assertIn('2x', self.bad(2, *run, '--output-scale', '2x'))
		self.assertIn('positive', self.bad(2, *run, '--input-scale', '0'))
		self.assertIn('3 values', self.bad(2, *run, '--input-scale', '1,2,3'))
		self.assertIn('2 scales and 3 zero points', self.bad(2, *run, '--input-scale', '1,2', '--input-zero',
								     '1,2,3'))
		self.assertIn('--input-zero: 1.5: must be an integer', self.bad(2, *run, '--input-zero', '1.5'))
		self.assertIn('--output-scale', self.bad(2, *run, '--output-scale', 1, '--output-scale', 1))
		self.assertIn('must be 0 to 255', self.bad(2, *run, '--input-zero', -1))
		self.good(*run, '--input-scale', '1,2,3,4', '--input-zero', '1,2,3,255')
		self.good(*run, '--output-scale', 1, '--output-zero', -5)

	def test_labels(self):
		outputs = json.loads(self.good('nvdla-run', '--loadable', self.net, '--json'))['outputs']
		n, c, h, w = outputs[0]['shape']
		labels = self.write('labels.txt', b''.join(b'class %d\r\n' % i for i in range(n * c * h * w)))
		said = self.good('nvdla-run', '--loadable', self.net, '--input', self.picture(), '--labels', labels)
		top = said.splitlines()[-1].split(maxsplit=2)
		self.assertEqual(top[2], f'class {top[0]}')
		said = json.loads(self.good('nvdla-run', '--loadable', self.net, '--input', self.picture(), '--labels',
					    labels, '--top', 3, '--json'))
		for entry in said['outputs'][0]['top']:
			self.assertEqual(entry['label'], f'class {entry["index"]}')
		self.assertEqual(len(said['outputs'][0]['top']), 3)
		self.assertIn('--top: 0: prints no number', self.bad(2, 'nvdla-run', self.net, '--labels', labels, '--top', 0))
		empty = self.write('empty.txt', b'')
		for words in (('nvdla-run', self.net), ('nvdla-eval', self.net, self.folder)):
			self.assertIn('empty.txt: is empty', self.bad(2, *words, '--labels', empty))

	def test_whose_time_it_is(self):
		self.assertIn("1 run on embedded (host time, not a chip's), ", self.good('nvdla-run', self.net))
		self.assertIn('1 run on embedded:realtime (time of the described chip), ',
			      self.good('nvdla-run', self.net, '--device', 'embedded:realtime'))
	def test_repeat(self):
		said = json.loads(self.good('nvdla-run', '--loadable', self.net, '--repeat', 3, '--json'))
		self.assertEqual(len(said['runs']), 3)

	def test_perf(self):
		said = self.good('nvdla-run', '--loadable', self.net, '--perf')
		self.assertRegex(said, r'0\.0\+1\+2 +CONV\+SDP\+PDP +\w.* (ns|us|ms) .*%')
		said = json.loads(self.good('nvdla-run', '--loadable', self.net, '--perf', '--json', '--repeat', 2))
		self.assertEqual([one['engine'] for one in said['operations']], ['CONV', 'SDP', 'PDP'])
		for one in said['operations']:
			self.assertGreater(one['duration_ns'], 0)
			self.assertIn('saturation', one['counters'])

	def test_prof(self):
		trace, svg = self.folder / 'run.json', self.folder / 'run.svg'
		said = self.good('nvdla-prof', self.net, '--trace', trace, '--svg', svg, '--input', self.picture())
		self.assertIn("net.nvdla on embedded (host time, not a chip's): ", said)
		self.assertIn('CONV busy', said)
		events = [event for event in json.loads(trace.read_text())['traceEvents'] if event['ph'] == 'X']
		self.assertEqual(sorted(event['cat'] for event in events), ['CONV', 'PDP', 'SDP'])
		conv, sdp, pdp = (next(event for event in events if event['cat'] == engine)
				  for engine in ('CONV', 'SDP', 'PDP'))
		# One chain: consumers are enabled first, and none is done before the producer began.
		self.assertLessEqual(pdp['ts'], sdp['ts'])
		self.assertLessEqual(sdp['ts'], conv['ts'])
		self.assertGreaterEqual(pdp['ts'] + pdp['dur'], conv['ts'])
		self.assertTrue(svg.read_text().endswith('</svg>\n'))

	def test_prof_by_layer(self):
		model, csv, out = DIGITS / 'digits.onnx', self.folder / 'rows.csv', self.folder / 'rows.json'
		self.good('nvdla-prof', model, '--by-layer', '--csv', csv, '--json', out)
		rows = json.loads(out.read_text())['rows']
		lines = csv.read_text().splitlines()
		self.assertEqual([line.split(',')[2] for line in lines[1:]], [row['layer'] for row in rows])
		self.assertIn('first_largest', {row['layer'] for row in rows} | {'first_largest'})
		self.assertEqual(len({row['layer'] for row in rows}), len(rows))
		# The same names on a chip, in the graph and behind the compiler.
		net = self.folder / 'digits.nvdla'
		self.good('nvdla-compile', model, '-o', net)
		longest = self.good('nvdla-prof', net, '--chip', '--sort', 'time', '--top', 1).splitlines()
		name = longest[1].split()[2]
		self.assertIn(name, {row['layer'] for row in rows})
		self.assertIn(name, self.good('nvdla-info', net))
		for form in ('dot', 'svg'):
			self.assertIn(name, self.good('nvdla-info', net, '--format', form))
		text = self.folder / 'digits.json'
		self.good('nvdla-convert', net, text)
		self.assertIn(name, json.loads(text.read_text())['task_list'][0]['layers'])
		# Standard output has the rows alone.
		self.assertTrue(self.good('nvdla-prof', net, '--csv', '-').startswith('op,engine,layer,'))

	def test_bench(self):
		run = ('nvdla-bench', self.net, '--warm-up', 0, '--runs', 7)
		said = json.loads(self.good(*run, '--in-flight', 2, '--json'))
		self.assertEqual((said['network'], said['device'], said['in_flight'], said['runs']),
				 ('net.nvdla', 'embedded', 2, 7))
		times = [said[name] for name in ('min_ms', 'p50_ms', 'p90_ms', 'p99_ms', 'max_ms')]
		self.assertEqual(times, sorted(times))
		self.assertGreater(times[0], 0)
		self.assertTrue(times[0] <= said['mean_ms'] <= times[-1])
		self.assertAlmostEqual(said['runs_per_second'], 7 / said['seconds'])
		before = self.write('before.json', json.dumps(dict(said, in_flight=1, p50_ms=times[1] / 1000)).encode())
		lines = self.good(*run, '--compare', before).splitlines()
		ratio = float(next(line for line in lines if line.startswith('p50')).split()[3])
		self.assertGreater(ratio, 10)
		self.assertIn('device model on this host', lines[-1])

	def test_bench_compares_what_is_alike(self):
		run = ('nvdla-bench', self.net, '--warm-up', 0, '--runs', 1)
		before = json.loads(self.good(*run, '--json'))
		for change, words in (({'in_flight': 3}, 'with --in-flight 3'), ({'network': 'x'}, 'measurement of x'),
				      ({'p90_ms': 'much'}, 'has no p90_ms')):
			other = self.write('other.json', json.dumps(dict(before, **change)).encode())
			self.assertIn(words, self.bad(2, *run, '--compare', other))
		self.assertIn('is not the output of nvdla-bench --json', self.bad(2, *run, '--compare', self.net))

	def test_bench_is_interrupted(self):
		run = subprocess.Popen([PROGRAMS['nvdla-bench'], self.net, '--warm-up', '0', '--duration', '1000'],
				       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
		while run.poll() is None:
			if self.has_begun(run):
				run.send_signal(signal.SIGINT)
			time.sleep(0.05)
		self.assertIn('p99', run.communicate()[0])
		self.assertEqual(run.returncode, 0)

	def test_an_interrupted_warm_up_is_no_measurement(self):
		run = subprocess.Popen([PROGRAMS['nvdla-bench'], self.net, '--warm-up', '1000'], stdout=subprocess.PIPE,
				       stderr=subprocess.PIPE, text=True)
		while run.poll() is None:
			if self.has_begun(run):
				run.send_signal(signal.SIGINT)
			time.sleep(0.05)
		said, error = run.communicate()
		self.assertEqual((said, run.returncode), ('', 1), error)
		self.assertIn('interrupted during the warm-up', error)

	def has_begun(self, run):
		"""It catches the signal, which it does last before the first run."""
		status = Path(f'/proc/{run.pid}/status').read_text()
		return int(re.search(r'SigCgt:\s*([0-9a-f]+)', status)[1], 16) >> (signal.SIGINT - 1) & 1

	def test_chip(self):
		trace, svg = self.folder / 'chip.json', self.folder / 'chip.svg'
		said = self.good('nvdla-prof', '--chip', self.net, '--trace', trace, '--svg', svg)
		self.assertIn('CONV+SDP+PDP', said)
		self.assertRegex(said, r'on 1 GHz, DRAM 10 GB/s after 100 ns.* runs/s')
		self.assertEqual(self.good('nvdla-info', '--chip', self.net), said)
		events = [event for event in json.loads(trace.read_text())['traceEvents'] if event['ph'] == 'X']
		self.assertEqual(sorted(event['cat'] for event in events), ['CONV', 'PDP', 'SDP'])
		used = [event for event in json.loads(trace.read_text())['traceEvents'] if event['ph'] == 'C']
		self.assertEqual({event['name'] for event in used}, {'MACs', 'DRAM'})
		self.assertTrue(all(0 <= event['args']['%'] <= 100 for event in used), used)
		self.assertEqual(max(used, key=lambda event: event['ts'])['args']['%'], 0)
		self.assertRegex(svg.read_text(), r'(?s)DRAM<.*used [1-9][0-9.]*%.*</svg>\n$')
		slow = self.good('nvdla-info', '--chip', '--clock', '100MHz', '--dram', '50MB/s', self.net)
		self.assertIn('100 MHz, DRAM 50 MB/s', slow)
		self.assertRegex(slow, r'CONV\+SDP\+PDP .* DRAM\n')

	def test_chip_of_a_model(self):
		slow = ('--chip', '--dram', '0.3GB/s', DIGITS / 'digits.onnx')
		self.assertEqual(self.good('nvdla-info', *slow), self.good('nvdla-prof', *slow))
		said = self.good('nvdla-info', '--chip', DIGITS / 'digits.onnx')
		self.assertRegex(said, r'CONV\+SDP .*\ndigits.onnx on 1 GHz')
		self.assertIn('1 operation on the CPU is not included', said)
		nameless = self.write('nameless', (DIGITS / 'digits.onnx').read_bytes())
		self.assertEqual(self.good('nvdla-prof', '--chip', '--model', nameless), said.replace('digits.onnx', 'nameless'))
		self.assertIn('network is required', self.bad(2, 'nvdla-info', '--chip'))
		self.assertIn('network is required', self.bad(2, 'nvdla-prof'))

	def test_prof_of_a_model(self):
		said = self.good('nvdla-prof', DIGITS / 'digits.onnx', '--input', DIGITS / 'seven.pgm')
		self.assertIn('SOFTMAX', said)

	def test_chip_says_why(self):
		net = self.folder / 'bounds.nvdla'
		self.good('nvdla-example-net', '--network', 'bounds', '-o', net)
		lines = self.good('nvdla-info', '--chip', net).splitlines()
		stem = next(line for line in lines if 'image 7x7' in line)
		deep = next(line for line in lines if '64x28x28 -> 64x28x28' in line)
		classes = next(line for line in lines if '-> 1000x1x1' in line)
		use = [float(line.split('%')[0].split()[-1]) for line in (stem, deep, classes)]
		self.assertTrue(stem.endswith('MAC') and use[0] < 50, stem)
		self.assertTrue(deep.endswith('MAC') and use[1] > use[0], deep)
		self.assertTrue(classes.endswith('DRAM') and use[2] < 5, classes)
		self.good('nvdla-example-net', '--network', 'bounds', '--post-extension', 2, '-o', net)
		extended = next(line for line in self.good('nvdla-info', '--chip', net).splitlines() if 'image 7x7' in line)
		self.assertGreater(float(extended.split('%')[0].split()[-1]), 1.3 * use[0])
		for lines in 3, 4:
			self.assertIn('--post-extension',
				      self.bad(2, 'nvdla-example-net', '--network', 'bounds', '--post-extension', lines, '-o', net))

	def test_chip_units(self):
		said = self.bad(2, 'nvdla-prof', '--chip', '--dram', '10GB', self.net)
		self.assertIn('--dram: "10GB" is not a bandwidth: a number and GB/s, MB/s, kB/s or B/s', said)
		self.assertIn('--clock: "0Hz" is too small', self.bad(2, 'nvdla-info', '--chip', '--clock', '0Hz', self.net))
		self.assertIn('--chip', self.bad(2, 'nvdla-prof', '--dram', '10GB/s', self.net))
		self.assertIn('--device', self.bad(2, 'nvdla-prof', '--chip', '--device', 'embedded', self.net))

	def test_edges(self):
		edges, timeline = self.folder / 'edges.png', self.folder / 'edges.svg'
		said = self.good('nvdla-edges', '--input', self.picture(), '--output', edges, '--timeline', timeline,
				 '--width', 32, '--height', 16)
		for word in ('CONV', 'SDP', 'PDP', 'read stall', 'write stall', 'saturated', 'NaN out'):
			self.assertIn(word, said)
		self.assertEqual(edges.read_bytes()[16:24], struct.pack('>2I', 64, 16))
		self.assertTrue(timeline.read_text().endswith('</svg>\n'))
		for text in said, timeline.read_text().replace('&#39;', "'").replace('&apos;', "'"):
			self.assertIn("nvdla-edges on embedded (host time, not a chip's)", text)

	def test_edges_on_another_core(self):
		command = ('nvdla-edges', '--input', self.picture(), '--width', 32, '--height', 16, '--output')
		usual, other = self.folder / 'usual.png', self.folder / 'other.png'
		self.good(*command, usual)
		self.good(*command, other, '--device', 'embedded:nv_large')
		self.assertEqual(usual.read_bytes(), other.read_bytes())
		self.assertIn('nv_small: has no look-up tables', self.bad(2, *command, other, '--device', 'embedded:nv_small'))

	def test_top_needs_a_device(self):
		said = self.bad(3, 'nvdla-top', '--once', '--device', '/dev/accel/none')
		self.assertIn('/dev/accel/none', said)
		self.assertIn('nvdla-prof', said)
		for name in 'embeded', 'embedded':
			self.assertIn(f'{name}: is neither a device file nor', self.bad(3, 'nvdla-top', '--once', '--device', name))
		self.bad(2, 'nvdla-top', '--interval', 0)
		self.assertIn('busy,memory,name,pid', self.bad(2, 'nvdla-top', '--sort', 'cpu'))

	def test_exit_codes(self):
		self.bad(2, 'nvdla-run')
		self.bad(2, 'nvdla-run', '--loadable', self.folder / 'none')
		self.bad(2, 'nvdla-run', '--loadable', self.write('empty', b''))
		self.bad(2, 'nvdla-run', '--loadable', self.net, '--labels', self.folder / 'none')
		self.bad(2, 'nvdla-run', '--loadable', self.net, '--input', self.write('text', b'hello'))
		self.bad(2, 'nvdla-run', '--loadable', self.net, '--repeat', 0)
		self.bad(3, 'nvdla-run', '--loadable', self.net, '--device', '/dev/accel/none')
		for program in 'nvdla-run', 'nvdla-prof', 'nvdla-bench':
			self.assertIn('the network is for nv_full', self.bad(2, program, self.net, '--device', 'embedded:nv_small'))
		self.bad(2, 'nvdla-convert', self.net, '/proc/version')


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
