# SPDX-License-Identifier: MIT
"""Options that could be ignored: each has its effect, or is refused by its name."""

import json
import os
import resource
import signal
import struct
import subprocess
import threading
import unittest
from pathlib import Path

from programs import DIGITS, HEIGHT, PROGRAMS, WIDTH, ProgramTest, call

MODEL, PICTURE, SAMPLES = DIGITS / 'digits.onnx', DIGITS / 'seven.pgm', DIGITS / 'held_out.npy'


def npy(shape):
	"""A numpy array of int8 zeros."""
	header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
	count = 1
	for extent in shape:
		count *= extent
	return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + bytes(count)


def limited():
	"""Limits the largest file: as on a disk that is full, only that the error has another name."""
	signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
	resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


class Options(ProgramTest):
	def setUp(self):
		super().setUp()
		self.out, self.page = self.folder / 'out', self.folder / 'page.html'
		self.raw, self.npy = self.folder / 'x.raw', self.folder / 'x.npy'
		self.array = self.write('in.npy', npy((1, 3, 16, 16)))
		self.picture()
		self.names = self.write('names.txt', b'a\nb\nc\n')

	def table(self):
		"""A row for the input and for each layer of the model."""
		said = json.loads(self.good('nvdla-compile', MODEL, '-o', self.out, '--report', 'json'))
		names = ['picture'] + [layer['name'] for layer in said['layers']]
		return self.write('table.json', json.dumps({name: {'scale': 0.25} for name in names}).encode())

	def options(self):
		"""Per program: what is always given, and per option its words, what makes it work, and what does not."""
		net, run = (self.net,), (MODEL,)
		picture, array = ('--input', self.folder / 'in.ppm'), ('--input', self.array)
		calibrate = ('--calibrate', SAMPLES)
		compile_ = (MODEL, '-o', self.out)
		made = ('-o', self.out)
		table = ('--calibration-table', self.table())
		ten = self.write('ten.txt', b'%d\n' * 10 % tuple(range(10)))
		strategy = [(word, [run], [net]) for word in (
			('--strategy', 'never'), ('--sram-size', '64K'), ('--fold-sums', 'never'), ('--target', 'nv_full'),
			('--cache', self.folder / 'cache'), ('--shape', '1x1x8x8'), ('--shape', 'picture=1x1x8x8'),
			('--host', 'never'))]
		return {
			'nvdla-run': strategy + [
				(('--normalize', 255), [net + picture + ('--input-scale', '0.01')],
				 [net, net + array, net + picture]),
				(('--mean', '1,2,3'), [net + picture + ('--input-scale', 1)], [net, net + array, net + picture]),
				(('--input-scale', 1), [net + picture, net + array], [net]),
				(('--input-zero', 1), [net + picture, net + array], [net]),
				(('--output-scale', 1), [net + ('--output', self.npy), net + ('--top', 1), net + ('--json',)],
				 [net, net + ('--output', self.raw)]),
				(('--output-zero', 1), [net + ('--output', self.npy)], [net, net + ('--output', self.raw)]),
				(('--layout', 'nchw'), [net + array, net + ('--output', self.npy)],
				 [net, net + picture, net + ('--output', self.raw)]),
				(('--rawdump',), [net + ('--output', self.folder / 'x.txt')],
				 [net + ('--output', self.raw), net + ('--output', self.npy)]),
				(('--labels', ten), [run], [net]),
				(('--labels', self.names), [], [net, run]),
				(('--verbose',), [net], [net + ('--json',)]),
				(('--saturated-above', 3), [net, net + ('--perf', '--json')], [net + ('--perf',)]),
				(('--nan-above', 3), [net, net + ('--perf', '--json')], [net + ('--perf',)]),
				(('--lut-misses-above', 3), [net, net + ('--perf', '--json')], [net + ('--perf',)]),
				(('--dump-surfaces', self.folder / 'surfaces'), [run], [net]),
				(('--output', self.folder / 'x.png'), [], [net, run]),
				(('--output', self.folder / 'x.txt'), [net + ('--rawdump',)], [net, run]),
				(('--output', self.folder / 'x'), [], [net]),
			],
			'nvdla-compile': [
				(table, [compile_, compile_ + calibrate], []),
				(('--precision', 'fp16'), [compile_], [compile_ + calibrate, compile_ + table]),
				(('--precision', 'int8'), [compile_ + calibrate, compile_ + table], [compile_]),
				(('--precision', 'int16'), [compile_ + calibrate, compile_ + table], [compile_]),
				(('--ranges', 'entropy'), [compile_ + calibrate],
				 [compile_, compile_ + table, compile_ + calibrate + table]),
				(('--percentile', 99), [compile_ + calibrate + ('--ranges', 'percentile')],
				 [compile_, compile_ + calibrate, compile_ + calibrate + ('--ranges', 'entropy')]),
				(('--keep-bias',), [compile_ + calibrate, compile_ + calibrate + table],
				 [compile_, compile_ + table]),
				(('--mean', 1), [compile_ + ('--calibrate', PICTURE)], [compile_, compile_ + calibrate]),
				(('--normalize', 2), [compile_ + ('--calibrate', PICTURE)], [compile_, compile_ + calibrate]),
				(('--clock', '2GHz'), [compile_ + ('--report', 'text')], [compile_]),
				(('--report-file', self.page), [compile_ + ('--report', 'html')], [compile_]),
			],
			'nvdla-info': strategy + [
				(('--json',), [net], [net + ('--format', 'dot'), net + ('--chip',)]),
				(('--format', 'dot'), [net], [net + ('--chip',)]),
				(('--clock', '2GHz'), [net + ('--chip',)], [net]),
			],
			'nvdla-prof': strategy + [
				(('--device', 'embedded'), [net], [net + ('--chip',)]),
				(picture, [net], [net + ('--chip',)]),
				(('--warm-up', 2), [net], [net + ('--chip',)]),
				(('--mean', 1), [run + ('--input', PICTURE)], [net, net + array, net + ('--chip',)]),
				(('--normalize', 255), [run + ('--input', PICTURE)], [net, net + array, net + ('--chip',)]),
				(('--timeout', 20000), [net], [net + ('--chip',)]),
				(('--clock', '2GHz'), [net + ('--chip',)], [net]),
			],
			'nvdla-example-net': [
				(('--post-extension', 2), [made + ('--network', 'bounds')], [made]),
				(('--width', 32), [made], [made + ('--network', 'bounds')]),
				(('--height', 32), [made], [made + ('--network', 'bounds')]),
			],
			'nvdla-convert': [
				(('--blob-files',), [net + (self.folder / 'x.json',)], [net + (self.out,)]),
			],
		}

	def test_each_has_its_effect_or_is_refused(self):
		for program, rows in self.options().items():
			for words, works, refused in rows:
				for others in works:
					with self.subTest(program, words=words, others=others):
						said = call(program, *others, *words)
						self.assertEqual(said.returncode, 0, said.stderr)
				for others in refused:
					with self.subTest(program, words=words, refused=others):
						said = call(program, *others, *words)
						self.assertEqual(said.returncode, 2, said.stderr)
						self.assertIn(words[0], said.stderr)

	def test_endings_that_are_known_are_named(self):
		said = self.bad(2, 'nvdla-run', self.net, '--output', self.folder / 'x.png')
		self.assertIn('.dimg, .npy or .raw', said)
		for name in 'e.jpg', 'e.txt', 'e':
			path = self.folder / name
			said = self.bad(2, 'nvdla-edges', '--input', PICTURE, '--output', path)
			self.assertEqual(said, f'nvdla-edges: --output: {path}: must end in .png, because the picture is a PNG\n')
			self.assertFalse(path.exists())

	def test_precision_of_integers(self):
		if not os.environ.get('NVDLA_REFERENCE_DATA'):
			self.skipTest('no reference data: set NVDLA_REFERENCE_DATA')
		model = Path(os.environ['NVDLA_REFERENCE_DATA']) / 'models' / 'resnet8_int8' / 'model.tflite'
		said = self.bad(2, 'nvdla-compile', model, '-o', self.out, '--precision', 'fp16')
		self.assertIn('--precision', said)
		self.assertFalse(self.out.exists())

	def test_every_program_explains_itself(self):
		self.assertRegex(self.good('read-digit', '--version'), r'^read-digit \d+\.\d+\.\d+\n$')
		self.assertIn('Example: read-digit ', self.good('read-digit', '--help'))
		for program in set(self.commands()) - {'read-digit'}:
			with self.subTest(program):
				self.assertRegex(self.good(program, '--version'), rf'^{program} \d+\.\d+\.\d+\n$')
				lines = self.good(program, '--help').splitlines()
				self.assertTrue(any(line.startswith(f'Example: {program} ') for line in lines))
				self.assertLessEqual(max(map(len, lines)), 100)
				self.assertNotRegex('\n'.join(lines), r'UINT|FLOAT|REQUIRED|Excludes|Needs| in \[')
				said = self.bad(2, program, '--hepl')
				self.assertEqual(said, f'{program}: there is no option --hepl; did you mean --help?; '
						 f'see {program} --help\n')
				self.assertTrue(self.bad(2, program, '-?').startswith(f'{program}: '))

	def test_devices_have_the_kernels_names(self):
		for device, words in (('accel77', '/dev/accel/accel77: no such device'),
				      ('embeded', 'embeded: is neither a device file nor "embedded"')):
			for program in ('nvdla-run', 'nvdla-prof'):
				self.assertIn(words, self.bad(3, program, self.net, '--device', device))

	def test_standard_output_and_pipes(self):
		"""A file "-" is standard output; what comes through a pipe is read as a file is."""
		printed = self.good('nvdla-info', self.net, '--format', 'json')
		self.assertEqual(self.good('nvdla-info', self.net, '--format', 'json', '-o', '-'), printed)
		self.assertEqual(self.good('nvdla-convert', self.net, '-'), printed)
		self.assertTrue(self.good('nvdla-compile', MODEL, '-o', self.out, '--report', 'svg', '--report-file', '-')
				.startswith('<svg'))
		self.assertIn('<svg', self.good('nvdla-prof', self.net, '--svg', '-'))
		self.assertEqual(self.said('nvdla-example-net', '-o', '-', '--width', WIDTH, '--height', HEIGHT), self.net.read_bytes())
		edges = ('nvdla-edges', '--input', PICTURE, '--output')
		for words, refused in (((*edges, '-'), '--output: -: is standard output'),
				       ((*edges, self.folder / 'e.PNG', '--timeline', '-'), '--timeline: -: is standard output'),
				       (('nvdla-run', self.net, '--output', '-', '--rawdump'), '--output: -: is standard output'),
				       (('nvdla-run', self.net, '--output', '-', '--json'), '--output: -: is standard output'),
				       (('nvdla-compile', MODEL, '-o', '-', '--report', 'text'), '--report: goes to standard output'),
				       (('nvdla-compile', MODEL, '-o', '-', '--report', 'svg', '--report-file', '-'),
					'--report: goes to standard output')):
			self.assertIn(refused, self.bad(2, *words))
		self.assertTrue(self.said('nvdla-compile', MODEL, '-o', '-', '--report', 'text', '--report-file', '/dev/null'))
		pipe = self.folder / 'pipe'
		os.mkfifo(pipe)
		writer = threading.Thread(target=lambda: pipe.write_bytes(self.net.read_bytes()))
		writer.start()
		self.assertEqual(self.good('nvdla-info', pipe, '--format', 'json'), printed)
		writer.join()
		self.assertFalse(Path('-').exists())

	def test_files_that_cannot_be(self):
		"""The same exit code whatever is wrong with a name, and wherever it is given."""
		for path in (self.folder, self.folder / 'none', self.net / 'none', '/dev/null'):
			with self.subTest(path):
				self.assertIn(str(path), self.bad(2, 'nvdla-info', path))
		folder = self.folder / 'pictures'
		folder.mkdir()
		ten = self.write('ten.txt', b'%d\n' * 10 % tuple(range(10)))
		judge = ('nvdla-eval', MODEL, folder, '--labels', ten)
		there = self.write('truth', b'seven 7')
		edges = ('nvdla-edges', '--input', PICTURE)
		for path in (self.folder / 'none' / 'x', self.net / 'x'):
			for words in (
					('nvdla-run', path), ('nvdla-run', self.net, '--input', path), ('nvdla-run', MODEL, '--labels', path),
					('nvdla-run', self.net, '--output', f'{path}.npy'), ('nvdla-run', f'{path}.onnx'),
					('nvdla-bench', path), ('nvdla-bench', self.net, '--compare', path),
					('nvdla-info', self.net, '--output', path),
					('nvdla-prof', path), ('nvdla-prof', self.net, '--input', path),
					*(('nvdla-prof', self.net, option, path) for option in ('--svg', '--csv', '--json', '--trace')),
					('nvdla-eval', MODEL, path, '--labels', ten), ('nvdla-eval', MODEL, folder, '--labels', path),
					('nvdla-eval', path, folder, '--labels', ten, '--truth', there),
					(*judge, '--truth', path), (*judge, '--truth', there, '--against', path), (*judge, '--truth', there),
					(*judge, '--truth', there, '--calibrate', path),
					('nvdla-compile', f'{path}.onnx', '-o', self.out), ('nvdla-compile', MODEL, '-o', path),
					('nvdla-compile', MODEL, '-o', self.out, '--calibrate', path),
					('nvdla-compile', MODEL, '-o', self.out, '--report', 'svg', '--report-file', path),
					('nvdla-convert', path, '-'), ('nvdla-convert', self.net, f'{path}.json'),
					('nvdla-edges', '--input', path), (*edges, '--output', path),
					(*edges, '--output', self.folder / 'edges.png', '--timeline', path),
					('nvdla-example-net', '-o', path)):
				with self.subTest(words):
					said = self.bad(2, *words)
					self.assertTrue(said.startswith(f'{words[0]}: '), said)
					self.assertIn(str(folder / 'seven' if words == (*judge, '--truth', there) else path), said)
		self.assertIn('none', self.bad(2, 'nvdla-run', MODEL, '--dump-surfaces', self.net / 'none'))

	def test_files_of_another_kind(self):
		"""What the file is, and what is to be done with it."""
		png, jpeg = self.write('a.png', b'\x89PNG\r\n\x1a\n' + bytes(100)), self.write('b', b'\xff\xd8\xff\xe0' + bytes(100))
		tflite, onnx = self.write('c', b'\x1c\x00\x00\x00TFL3' + bytes(100)), self.write('d', MODEL.read_bytes())
		archive = self.write('e.nvdla', b'PK\x03\x04' + bytes(100))
		for path, kind, remedy in ((png, 'a PNG picture', '--input'), (jpeg, 'a JPEG picture', '--input'),
					   (self.folder / 'in.ppm', 'a PPM picture', '--input'), (self.array, 'a numpy array', '--input'),
					   (tflite, 'a TensorFlow Lite model', 'nvdla-compile'), (onnx, 'an ONNX model', 'nvdla-compile'),
					   (archive, 'a zip archive', 'a loadable is needed')):
			for words in (('nvdla-run', path), ('nvdla-bench', path), ('nvdla-info', path), ('nvdla-prof', path),
				      ('nvdla-eval', path, self.folder, '--labels', self.names, '--truth', self.write('truth', b'in.ppm a')),
				      ('nvdla-convert', path, '-')):
				with self.subTest(words):
					said = self.bad(2, *words)
					self.assertIn(f'{path}: is {kind}', said)
					self.assertIn(remedy, said)
		script = self.write('train.py', b'import sys\n' * 9)
		for program in ('nvdla-run', 'nvdla-info'):
			self.assertIn('train.py: file: is not a loadable, as NVDA is not at byte 4: ', self.bad(2, program, script))
		half = self.write('half.nvdla', self.net.read_bytes()[:20])
		self.assertIn('is a loadable that is truncated', self.bad(2, 'nvdla-info', half))
		for path, kind in ((png, 'a PNG picture'), (self.net, 'a loadable'), (archive, 'a zip archive')):
			for words in (('nvdla-compile', path, '-o', self.out), ('nvdla-run', '--model', path)):
				with self.subTest(words):
					self.assertIn(f'{path}: is {kind}', self.bad(2, *words))
		for program in ('nvdla-run', 'nvdla-bench', 'nvdla-prof', 'nvdla-info'):
			self.assertIn('which is compiled already; name it with --loadable\n', self.bad(2, program, '--model', self.net))
		self.assertIn('; it may be truncated', self.bad(2, 'nvdla-compile', self.write('half.onnx', onnx.read_bytes()[:2000]), '-o', self.out))

	def test_more_samples_than_the_network_takes(self):
		self.assertRegex(self.bad(2, 'nvdla-run', MODEL, '--input', SAMPLES), r'has \d+ samples, the network takes 1\n')

	def test_tensors_in_the_models_words(self):
		self.assertRegex(self.good('nvdla-run', MODEL, '--top', 1), r'(?m)^digit 1x10 fp16:$')
		said = self.good('nvdla-info', MODEL)
		self.assertRegex(said, r'input: picture 1x1x8x8 fp16, ')
		self.assertRegex(said, r'output: digit 1x10 fp16, .* there 1x10x1x1 FEATURE')

	def test_cores_of_the_device_model(self):
		"""All of them are named where a device can be given, and can be opened."""
		for program in ('nvdla-run', 'nvdla-bench', 'nvdla-prof', 'nvdla-eval', 'nvdla-edges'):
			said = ' '.join(self.good(program, '--help').split())
			self.assertIn('embedded:CORE has CORE, one of nv_full, nv_large, nv_small, nv_small_256, nv_small_256_full', said)
		self.good('nvdla-run', self.net, '--device', 'embedded:nv_full')
		for core in ('nv_large', 'nv_small', 'nv_small_256', 'nv_small_256_full'):
			self.assertIn(f'is {core}: compile the model for {core}', self.bad(2, 'nvdla-run', self.net, '--device', f'embedded:{core}'))

	def test_cache_that_cannot_be(self):
		for folder in (self.net, '/proc/none'):
			self.assertIn('--cache', self.bad(2, 'nvdla-run', MODEL, '--cache', folder))

	def test_cache_on_a_full_disk(self):
		"""What cannot be kept is said, and the result is the same."""
		cache, results = self.folder / 'cache', []
		for options in ({}, {'preexec_fn': limited}):
			said = self.printing('nvdla-info', (MODEL, '--cache', cache), **options)
			self.assertEqual(said.returncode, 0, said.stderr)
			results.append(said.stdout)
			self.assertEqual(said.stderr.count('\n'), len(options), said.stderr)
			for file in cache.iterdir():
				file.unlink()
		self.assertEqual(*results)
		self.assertRegex(said.stderr, rf'^nvdla-info: --cache: {MODEL} is not kept: .*File too large')

	def test_folders_to_write(self):
		"""No folder is named "-", and at most one is made."""
		for program, option in (('nvdla-run', '--trace'), ('nvdla-run', '--dump-surfaces'),
					*((program, '--cache') for program in ('nvdla-run', 'nvdla-bench', 'nvdla-prof', 'nvdla-info'))):
			for path, words in (('-', '-: is standard output'), (self.folder / 'no' / 'x', f'there is no folder {self.folder}/no'),
					    (f'{self.folder}/no/x/', f'there is no folder {self.folder}/no'),
					    (self.net, f'{self.net}: is a file'), (self.net / 'x', f'{self.net} is no folder')):
				with self.subTest(program, option=option, path=path):
					said = self.bad(2, program, MODEL, option, path)
					self.assertIn(f'{option}: {path}: ', said)
					self.assertIn(words, said)
		self.assertFalse(Path('-').exists())
		self.good('nvdla-run', MODEL, '--trace', f'{self.folder}/trace/', '--cache', self.folder / 'new')

	def said(self, program, *arguments):
		"""The bytes that a program prints."""
		return subprocess.run([PROGRAMS[program], *map(str, arguments)], stdout=subprocess.PIPE, check=True).stdout

	def commands(self):
		"""A command of each program, one that prints where there is one that ends."""
		suite = self.folder / 'suite' / 'empty'
		suite.mkdir(parents=True, exist_ok=True)
		(suite / 'trace').touch()
		commands = {
			'nvdla-run': (self.net,),
			'nvdla-bench': (self.net, '--runs', 1, '--warm-up', 0),
			'nvdla-info': (self.net,),
			'nvdla-prof': (self.net,),
			'nvdla-eval': ('--help',),
			'nvdla-compile': (MODEL, '-o', self.out, '--report', 'text'),
			'nvdla-convert': ('--help',),
			'nvdla-top': ('--help',),
			'nvdla-edges': ('--input', DIGITS.parent / 'chelsea.png', '--output', self.folder / 'edges.png'),
			'nvdla-example-net': ('--help',),
			'nvdla-sim': ('--help',),
			'nvdla-trace': (suite, '-v'),
			'read-digit': (MODEL, PICTURE),
		}
		self.assertEqual(set(commands), set(PROGRAMS))
		return commands

	def test_full_standard_output(self):
		for program, arguments in self.commands().items():
			for words in (arguments, ('--help',), ('--version',)):
				with self.subTest(program, words=words), open('/dev/full', 'w') as full:
					said = self.printing(program, words, stdout=full)
					self.assertEqual(said.returncode, 1, said.stderr)
					self.assertRegex(said.stderr, rf'(?m)^{program}: .*No space left on device$')

	def test_messages_that_cannot_be_written(self):
		"""An exit code does not depend on messages, whether standard error is full or closed."""
		mute = {'nvdla-run': (self.net,)}  # says that its input is zero
		for program, good in (self.commands() | mute).items():
			for words, code in ((good, 0), (('--none', 'none', 'none'), 1 if program == 'read-digit' else 2)):
				with self.subTest(program, words=words), open('/dev/full', 'w') as full:
					for options in ({'stderr': full}, {'preexec_fn': lambda: os.close(2), 'stderr': None}):
						self.assertEqual(self.printing(program, words, **options).returncode, code)
			with self.subTest(program, both='full'), open('/dev/full', 'w') as full:
				self.assertEqual(self.printing(program, good, stdout=full, stderr=full).returncode, 1)

	def printing(self, program, arguments, **streams):
		return subprocess.run([PROGRAMS[program], *map(str, arguments)], text=True,
				      **{'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE} | streams)

	def test_a_file_outlives_a_full_disk(self):
		for program, arguments, path in (
				('nvdla-run', (self.net, '--output', self.folder / 'x.dimg'), self.folder / 'x.dimg'),
				('nvdla-compile', (MODEL, '-o', self.out), self.out),
				('nvdla-convert', (self.net, self.folder / 'x.json'), self.folder / 'x.json'),
				('nvdla-info', (self.net, '-o', self.folder / 'x.text'), self.folder / 'x.text')):
			with self.subTest(program):
				path.write_text('what was there')
				before = sorted(self.folder.iterdir())
				said = subprocess.run([PROGRAMS[program], *map(str, arguments)], capture_output=True, text=True,
						      preexec_fn=limited)
				self.assertEqual(said.returncode, 1, said.stderr)
				self.assertIn('File too large', said.stderr)
				self.assertEqual(path.read_text(), 'what was there')
				self.assertEqual(sorted(self.folder.iterdir()), before)

	def test_a_file_keeps_its_mode_and_its_links(self):
		real, link = self.folder / 'real.dimg', self.folder / 'link.dimg'
		real.write_text('old')
		real.chmod(0o640)
		link.symlink_to(real)
		self.good('nvdla-run', self.net, '--output', link)
		self.assertTrue(link.is_symlink())
		self.assertEqual(real.stat().st_mode & 0o777, 0o640)
		self.assertEqual(real.read_bytes()[:4], b'DIMG')

	@unittest.skipIf(os.geteuid(), 'only root can give a file any group')
	def test_a_file_keeps_its_group(self):
		self.out.touch()
		os.chown(self.out, -1, os.getegid() + 1)
		self.good('nvdla-compile', MODEL, '-o', self.out)
		self.assertEqual(self.out.stat().st_gid, os.getegid() + 1)


if __name__ == '__main__':
	import sys
	unittest.main(argv=sys.argv[:1])
