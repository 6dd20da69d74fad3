# SPDX-License-Identifier: MIT
"""Pictures and arrays as inputs: which numbers a network gets, and what the programs say of them."""

import os
import struct
import sys
import unittest
import zlib

from programs import DIGITS, HEIGHT, WIDTH, ProgramTest, call, npy

sys.path.insert(0, str(DIGITS))
import onnx_file  # pylint: disable=wrong-import-position

GREY, COLOUR, PALETTE, GREY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6


def _chunk(kind, data):
	return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(width, height, kind, samples, depth=8, chunks=()):
	"""The bytes of a PNG whose samples have @depth bits; @chunks: further (kind, data), before the pixels."""
	data = struct.pack(f'>{len(samples)}{"B" if depth == 8 else "H"}', *samples)
	line = len(data) // height
	lines = b''.join(b'\0' + data[at:at + line] for at in range(0, len(data), line))
	return (b'\x89PNG\r\n\x1a\n' + _chunk(b'IHDR', struct.pack('>2I5B', width, height, depth, kind, 0, 0, 0)) +
		b''.join(_chunk(*one) for one in chunks) + _chunk(b'IDAT', zlib.compress(lines)) + _chunk(b'IEND', b''))


def with_alpha(samples, count, opaque):
	"""@samples with an alpha from 0 to @opaque behind each pixel of @count samples."""
	pixels = len(samples) // count
	return [sample for i in range(pixels)
		for sample in (*samples[i * count:(i + 1) * count], opaque * i // (pixels - 1))]


def wide(samples):
	"""8-bit samples as 16-bit ones: 255 becomes 65535."""
	return [257 * sample for sample in samples]


class OtherFiles(ProgramTest):
	def test_remedies(self):
		"""Of a file that cannot be read, the message says what to do."""
		for name, contents, words in (
				('a.gif', b'GIF89a', 'is a GIF picture; convert it to PNG or JPEG'),
				('a.bmp', b'BM', 'is a BMP picture; convert it to PNG or JPEG'),
				('a.webp', b'RIFF\0\0\0\0WEBPVP8 ', 'is a WebP picture; convert it to PNG or JPEG'),
				('a.npz', b'PK\x03\x04', 'a .npz file; save each array in a file of its own, .npy, with numpy.save()'),
				('a.txt', b'hello', 'convert it to one of these')):
			path = self.write(name, contents)
			for words_ in (('nvdla-run', self.net, '--input'), ('nvdla-prof', self.net, '--input'), ('nvdla-edges', '--input'),
				       ('nvdla-compile', DIGITS / 'digits.onnx', '-o', self.folder / 'out', '--calibrate')):
				with self.subTest(words_, name=name):
					self.assertIn(f'{path}: {words}' if words[:2] == 'is' else words, self.bad(2, *words_, path))

	def test_pictures_that_would_be_left_out(self):
		classes = self.folder / 'pictures'
		(classes / '0').mkdir(parents=True)
		(classes / '0' / 'a.pgm').write_bytes((DIGITS / 'seven.pgm').read_bytes())
		(classes / '0' / 'notes.txt').touch()
		labels, model = self.write('labels', b'%d\n' * 10 % tuple(range(10))), DIGITS / 'digits.onnx'
		eval_, compile_ = (('nvdla-eval', model, classes, '--labels', labels),
				   ('nvdla-compile', model, '-o', self.folder / 'out', '--calibrate', classes / '0'))
		for words in eval_, compile_:
			self.good(*words)
		(classes / '0' / 'b.WebP').touch()
		for words in eval_, compile_:
			self.assertIn('b.WebP: is a picture of a kind that cannot be read; convert it', self.bad(2, *words))

	def test_transposed_arrays(self):
		"""The remedy names the option, and the program that has it."""
		nodes = [onnx_file.node('Relu', ['x'], 'y')]
		model = self.write('model.onnx', onnx_file.model('test', nodes, [], {'x': (1, 3, 4, 5)}, {'y': (1, 3, 4, 5)}))
		last = self.write('last.npy', npy('<f4', (1, 4, 5, 3), [1] * 60))
		for words in (('nvdla-run', model, '--input'), ('nvdla-prof', model, '--input'),
			      ('nvdla-compile', model, '-o', self.folder / 'out', '--calibrate')):
			self.assertIn('transpose the array, whose channels are last (nhwc; nvdla-run reads such an array with --layout nhwc, '
				      'other programs have no such option)', self.bad(2, *words, last))
		self.good('nvdla-run', model, '--input', last, '--layout', 'nhwc')


class Pictures(ProgramTest):
	def numbers(self, network, name, contents):
		out = self.folder / 'out.npy'
		self.good('nvdla-run', network, '--input', self.write(name, contents), '--output', out)
		return out.read_bytes()

	def same(self, network, expected, files):
		expected = self.numbers(network, 'expected', expected)
		for what, contents in files.items():
			with self.subTest(what):
				self.assertEqual(self.numbers(network, 'a.png', contents), expected)

	def test_grey_pngs_are_the_8_bit_picture(self):
		"""16 bits are not linear light, and transparency is ignored."""
		pixels = [4 * i for i in range(64)]
		gamma, alpha = (b'gAMA', struct.pack('>I', 45455)), with_alpha(pixels, 1, 255)
		palette = (b'PLTE', bytes(value for grey in range(256) for value in (grey, grey, grey)))
		self.same(DIGITS / 'digits.onnx', b'P5 8 8 255\n' + bytes(pixels), {
			'8 bits': png(8, 8, GREY, pixels),
			'8 bits, gamma of sRGB': png(8, 8, GREY, pixels, chunks=[gamma]),
			'16 bits': png(8, 8, GREY, wide(pixels), 16),
			'16 bits, gamma of sRGB': png(8, 8, GREY, wide(pixels), 16, [gamma]),
			'8 bits, alpha': png(8, 8, GREY_ALPHA, alpha),
			'16 bits, alpha': png(8, 8, GREY_ALPHA, wide(alpha), 16),
			'a transparent grey': png(8, 8, GREY, pixels, chunks=[(b'tRNS', struct.pack('>H', 128))]),
			'palette': png(8, 8, PALETTE, pixels, chunks=[palette]),
			'palette, alpha': png(8, 8, PALETTE, pixels, chunks=[palette, (b'tRNS', bytes(256))])})

	def test_colour_pngs_are_the_8_bit_picture(self):
		pixels = list(range(256)) * 3
		alpha = with_alpha(pixels, 3, 255)
		self.same(self.net, b'P6 %d %d 255\n' % (WIDTH, HEIGHT) + bytes(pixels), {
			'8 bits': png(WIDTH, HEIGHT, COLOUR, pixels),
			'16 bits': png(WIDTH, HEIGHT, COLOUR, wide(pixels), 16),
			'8 bits, alpha': png(WIDTH, HEIGHT, COLOUR_ALPHA, alpha),
			'16 bits, alpha': png(WIDTH, HEIGHT, COLOUR_ALPHA, wide(alpha), 16)})

	def test_pgm_of_16_bits_is_refused(self):
		wide_pgm = self.write('wide.pgm', b'P5 8 8 65535\n' + bytes(128))
		self.assertIn('largest value 65535, only 255 is read',
			      self.bad(2, 'nvdla-run', DIGITS / 'digits.onnx', '--input', wide_pgm))


class Arrays(ProgramTest):
	def setUp(self):
		super().setUp()
		self.int8 = self.folder / 'int8.nvdla'
		self.good('nvdla-compile', DIGITS / 'digits.onnx', '-o', self.int8, '--calibrate', DIGITS / 'held_out.npy')

	def said(self, network, array):
		"""What both programs say of an array, without their name and the file's."""
		said = set()
		for program in ('nvdla-run', 'nvdla-prof'):
			run = call(program, network, '--input', array)
			self.assertEqual(run.returncode, 0, run.stderr)
			said.add(run.stderr.removeprefix(f'{program}: {array}: '))
		self.assertEqual(len(said), 1, said)
		return said.pop()

	def test_nans_are_said(self):
		file = self.write('nan.npy', npy('<f4', (8, 8), [0.5] * 62 + [float('nan')] * 2))
		self.assertEqual(self.said(DIGITS / 'digits.onnx', file), "input 'picture' has 2 NaNs\n")
		self.assertEqual(self.said(self.int8, file), "input 'picture' has 2 NaNs: the network gets 0 instead\n")

	def test_clipped_numbers_are_said(self):
		nan = float('nan')
		for code, values, said in (('<f4', [0.5] * 61 + [1e6, -300, 300], "3 of 64 numbers of input 'picture' are outside "),
					   ('<f8', [0.5] * 63 + [1e6], "1 of 64 numbers of input 'picture' is outside "),
					   ('<f2', [1] * 60 + [600] * 4, "4 of 64 numbers of input 'picture' are outside "),
					   ('<i8', [0] * 62 + [999] * 2, "2 of 64 numbers of input 'picture' are outside "),
					   ('<f4', [nan] + [999] * 63, "input 'picture' has 1 NaN: the network gets 0 instead; 63 of 64 ")):
			with self.subTest(code=code, said=said):
				file = self.write('large.npy', npy(code, (8, 8), values))
				self.assertTrue(self.said(self.int8, file).startswith(said), self.said(self.int8, file))
		self.assertRegex(self.said(self.int8, file), r'are outside -?[0-9.]+ to [0-9.]+ and were clipped\n$')

	def test_nothing_is_said_of_numbers_that_fit_and_of_elements(self):
		seven = (DIGITS / 'seven.pgm').read_bytes()[-64:]
		for network, code, values in ((self.int8, '<f4', seven), (self.int8, '|i1', [127] * 64), (self.int8, '|u1', [255] * 64),
					      (DIGITS / 'digits.onnx', '<f4', [1e4] * 64)):
			with self.subTest(network=network, code=code):
				said = call('nvdla-run', network, '--input', self.write('a.npy', npy(code, (8, 8), values)))
				self.assertNotIn('clipped', said.stderr)


class HostLibraries(ProgramTest):
	def test_a_missing_library_is_told_with_what_fetches_it(self):
		nodes = [onnx_file.node('Hardmax', ['x'], 'y')]
		model = self.write('model.onnx', onnx_file.model('test', nodes, [], {'x': (1, 4)}, {'y': (1, 4)}))
		self.write('libnvdla-host-onnx.so', b'')
		compiled = call('nvdla-compile', model, '-o', self.folder / 'out', env={**os.environ, 'LD_LIBRARY_PATH': str(self.folder)})
		if compiled.returncode == 0:
			self.skipTest('a module is installed where this build would install its own')
		said = compiled.stderr
		self.assertIn('does not load', said)
		self.assertIn('install ONNX Runtime (Debian 13 and newer: libonnxruntime-dev), then build this project anew', said)
		self.assertIn('; or, on Debian 12 too, run the model with scripts/run --model of this project, which fetches the library',
			      said)


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
