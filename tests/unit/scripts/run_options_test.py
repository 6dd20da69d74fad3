# SPDX-License-Identifier: MIT
"""scripts/run: options that would have no effect are refused by their names; which files it names."""

import contextlib
import errno
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stack import build, console, guest, modelrun, run
from stack.console import Failure


class RunOptions(unittest.TestCase):
	def refusal(self, *words):
		said = io.StringIO()
		with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
			run.parse(words)
		self.assertEqual(ended.exception.code, 2)
		return said.getvalue()

	def test_without_effect(self):
		for words in (('--kernel', '7.3', '--device', 'embedded'), ('--labels', 'names.txt'), ('--top', '3'),
			      ('--mean', '1,2,3'), ('--normalize', '255'), ('--output', 'x.png', '--model', 'm.onnx')):
			with self.subTest(words):
				self.assertIn(f'{words[0]} has no effect without', self.refusal(*words))

	def test_with_effect(self):
		self.assertEqual(run.parse([]).output.name, 'edges.png')
		self.assertEqual(run.parse(['--kernel', '7.3']).kernel, '7.3')
		found = run.parse(['--model', 'm.onnx', '--labels', 'names.txt', '--mean', '1', '--normalize', '2'])
		self.assertEqual((found.top, found.normalize), (3, '2'))

	def test_what_is_no_number(self):
		for words in (('--mean', '1,,2'), ('--mean', 'a'), ('--mean', '')):
			with self.subTest(words):
				self.assertIn('argument --mean: ', self.refusal('--model', 'm.onnx', *words))

	def test_files_that_cannot_be(self):
		"""Said before anything is built, and nothing is made."""
		with tempfile.TemporaryDirectory() as name:
			folder = Path(name)
			text, tflite, onnx = folder / 'README.md', folder / 'm.tflite', folder / 'm.onnx'
			text.write_text('# Text\n')
			tflite.write_bytes(b'\x1c\x00\x00\x00TFL3')
			onnx.write_bytes(b'\x12\x01')
			(folder / 'f.png').mkdir()
			for words, why in ((('--model', text), 'is not a model of TensorFlow Lite, ONNX or Caffe'),
					   (('--model', folder / 'none.onnx'), 'is not there'),
					   (('--picture', text), 'is not a PNG'),
					   (('--model', tflite, '--labels', folder / 'none'), 'is not there'),
					   (('--output', folder / 'e.jpg'), 'e.png'),
					   (('--output', folder), f'is a folder: name a PNG in it, such as {folder}/edges.png'),
					   (('--output', folder / 'f.png'), 'is a folder'),
					   (('--output', folder / 'none' / 'e.png'), 'there is no folder')):
				with self.subTest(words), self.assertRaisesRegex(console.Failure, why) as failed:
					run.check_files(run.parse(list(map(str, words))))
				self.assertEqual(failed.exception.status, 2)
			for words in ((), ('--model', tflite), ('--model', onnx), ('--output', folder / 'e.png')):
				run.check_files(run.parse(list(map(str, words))))
			for option in ('--picture', '--model', '--labels'):
				words = [option, str(tflite), *(('--model', str(onnx)) if option == '--labels' else ())]
				refused = mock.patch('builtins.open', side_effect=lambda path, *how: self.refuse(path, tflite, *how))
				with self.subTest(option), refused, self.assertRaisesRegex(console.Failure, f'{option} .*: Permission') as failed:
					run.check_files(run.parse(words))
				self.assertEqual(failed.exception.status, 2)
			self.assertEqual(len(list(folder.iterdir())), 4)

	def test_models_that_are_obviously_none(self):
		"""Told before the compiler is built, which takes minutes."""
		with tempfile.TemporaryDirectory() as name:
			for suffix, contents, why in (('.onnx', b'{"a": 1}\n' * 99, 'is a text file, and a .onnx is none'),
						      ('.onnx', b'', 'is empty'), ('.onnx', b' \n', 'is empty'),
						      ('.tflite', b'text\n' * 99, 'is not a model of TensorFlow Lite'),
						      ('.tflite', b'', 'is not a model of TensorFlow Lite'),
						      ('.prototxt', b'', 'is empty'), ('.prototxt', b'\n', 'is empty'),
						      ('.prototxt', b'\x0a\x05Model', 'is no text file, and a .prototxt is one'),
						      ('.onnx', b'\x08\x07', ''), ('.onnx', b'\x3a\x0a\x0a\x08abcdef', ''),
						      ('.prototxt', 'name: "\u00e9"\r\n\tlayer {'.encode(), '')):
				model = Path(name, f'm{suffix}')
				model.write_bytes(contents)
				expected = self.assertRaisesRegex(Failure, why) if why else contextlib.nullcontext()
				with self.subTest(contents), expected as failed:
					run.check_files(run.parse(['--model', str(model)]))
				self.assertTrue(not why or failed.exception.status == 2)

	def refuse(self, path, refused, *how):
		"""Open a file as open() does; but @refused as if this user were not allowed to read it."""
		if path == refused:
			raise PermissionError(errno.EACCES, 'Permission denied', str(path))
		return io.open(path, *how)


class Machine(unittest.TestCase):
	def test_that_cannot_use_the_guest_tree(self):
		"""Said before anything is built, with what works instead."""
		with (mock.patch.object(guest, '_choice', return_value='tree'),
		      mock.patch.object(guest.namespace, 'prefix', side_effect=console.Failure('no mounts here')),
		      mock.patch.object(run.build, 'build') as built,
		      self.assertRaisesRegex(console.Failure, '(?s)no mounts here.*--device embedded')):
			run.prepare_programs_and_tree('program')
		built.assert_not_called()


# Says what it was given and what there is, and writes what the example writes.
_PROGRAM = r'''#!/bin/sh
echo "ran with $*" && cat "$4" && printf '\211PNG new' >"$6" && echo svg >"$8"
'''


class FilesOfARun(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		self.picture = self.folder / '-a b.ppm'
		self.picture.write_bytes(b'P6 of mine\n')
		self.output = self.folder / 'mine.png'

	def embedded(self, script, folder=None):
		"""What scripts/run --device embedded prints if @script is the example, and @folder the current one."""
		program = self.folder / 'program'
		program.write_text(script)
		program.chmod(0o755)
		run = ('import sys\nfrom pathlib import Path\nfrom stack import console, run\n'
		       'program = Path(sys.argv.pop(1))\nrun.prepare_programs = lambda *further: program\nconsole.run_program(run.main)\n')
		return subprocess.run([sys.executable, '-c', run, program, '--device', 'embedded', '--picture', self.picture,
				       '--output', self.output], capture_output=True, text=True, cwd=folder or self.folder)

	def test_no_folder_is_named_that_is_gone(self):
		ran = self.embedded(_PROGRAM)
		self.assertEqual(ran.returncode, 0, ran.stderr)
		self.assertIn(f'--input {self.picture} --output ./mine.png --timeline ./mine.timeline.svg', ran.stdout)
		self.assertIn('P6 of mine', ran.stdout)
		self.assertIn('result: mine.png,', ran.stdout)
		self.assertEqual(self.output.read_bytes(), b'\x89PNG new')
		self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
				 ['-a b.ppm', 'mine.png', 'mine.timeline.svg', 'program'])
		for path in re.findall(r'/\S*', ran.stdout.replace(str(self.picture), '')):
			self.assertTrue(Path(path).exists() or path.startswith('/mine.'), path)

	def test_a_picture_elsewhere_has_its_whole_path(self):
		ran = self.embedded(_PROGRAM, '/')
		self.assertIn(f'result: {str(self.output)[1:]},', ran.stdout)
		ran = self.embedded(_PROGRAM, '/usr')
		self.assertIn(f'result: {self.output},', ran.stdout)

	def test_a_run_without_a_picture_says_which(self):
		ran = self.embedded('#!/bin/sh\n')
		self.assertEqual(ran.returncode, 1)
		self.assertEqual(ran.stderr, f'scripts/run: the example wrote no PNG for {self.output}\n')

	def test_a_file_that_cannot_be_written_has_the_path_that_was_given(self):
		for number, name in ((6, 'mine.png'), (8, 'mine.timeline.svg')):
			for status, ours in ((1, 1), (2, 2), (3, 1)):
				ran = self.embedded(f'#!/bin/sh\necho "nvdla-edges: write file: ${number}: No space left" >&2\nexit {status}\n')
				self.assertEqual(ran.returncode, ours)
				self.assertEqual(ran.stderr.splitlines(), [f'nvdla-edges: write file: {self.folder / name}: No space left',
									   f'scripts/run: the example failed (status {status})'])

	def test_the_guests_messages_have_the_path_that_was_given(self):
		def fails(command, errors):
			errors(b'nvdla-edges: write file: ./mine')
			errors(b'.png: No space left\n')
			return mock.Mock(problems=[], status=1)

		with (mock.patch.object(run.vm, 'Machine') as machine, contextlib.redirect_stderr(io.StringIO()) as said,
		      contextlib.redirect_stdout(io.StringIO()), self.assertRaises(Failure)):
			machine.return_value.run.side_effect = fails
			run.run_in_guest(None, mock.Mock(release='7.3'), None, Path('edges'), self.picture, self.folder / 'mine.png',
					 Path('given/mine.png'))
		self.assertEqual(said.getvalue(), 'nvdla-edges: write file: given/mine.png: No space left\n')

	def test_no_room_for_the_guests_picture_is_told_of_the_output(self):
		"""The copy of the picture is in the folder of the output; the picture itself is not at fault."""
		full = OSError(errno.ENOSPC, 'No space left on device', str(self.picture))
		with (mock.patch.object(run.shutil, 'copyfile', side_effect=full), mock.patch.object(run.vm, 'Machine') as machine,
		      self.assertRaisesRegex(Failure, '^--output given/mine.png: .*No space left') as failed):
			run.run_in_guest(None, mock.Mock(release='7.3'), None, Path('edges'), self.picture, self.folder / 'mine.png',
					 Path('given/mine.png'))
		self.assertEqual(failed.exception.status, 1)
		machine.assert_not_called()

	def test_a_folder_that_cannot_be_written_is_named(self):
		for number, status in ((errno.ENOSPC, 1), (errno.EACCES, 2), (errno.EROFS, 2)):
			refusal = OSError(number, os.strerror(number), str(self.folder / '.run-123'))
			with (mock.patch.object(run.tempfile, 'TemporaryDirectory', side_effect=refusal),
			      self.assertRaisesRegex(Failure, f'^--output mine.png: .*{os.strerror(number)}') as failed,
			      run.beside(self.output, Path('mine.png'))):
				pass
			self.assertEqual(failed.exception.status, status)
			self.assertNotIn('.run-', str(failed.exception))

	def test_a_clone_that_cannot_be_written_is_told_with_the_option_that_helps(self):
		"""Without --output, the folder out/ is made in the clone."""
		refusal = PermissionError(errno.EACCES, 'Permission denied', '/clone/out')
		with (mock.patch.object(Path, 'mkdir', side_effect=refusal),
		      self.assertRaisesRegex(Failure, r'^--output /clone/out/edges.png: .*\(Permission denied\): name a file in another '
					     'folder with --output, or make this one yours$'),
		      run.beside(Path('/clone/out/edges.png'), Path('/clone/out/edges.png'))):
			pass

	def test_a_full_disk_that_only_the_host_sees_is_told(self):
		"""The guest writes to the shared folder later than the example ends, so the example may end with 0."""
		for free, end in ((3, 'mine.png: its folder has 12 KiB free; free some space there, or name another'), (1000, 'mine.png')):
			with (mock.patch.object(run.space, 'free', return_value=free * 4096),
			      self.assertRaisesRegex(Failure, f'wrote no PNG for given/{end}$') as failed):
				run.keep_result(self.folder / 'none', self.output, Path('given/mine.png'))
			self.assertEqual(failed.exception.status, 1)

	def test_the_guest_has_the_files_under_their_names(self):
		other = self.folder / 'other' / self.picture.name
		other.parent.mkdir()
		other.write_text('labels')
		share = self.folder / 'share'
		share.mkdir()
		command = run.with_files(share, [self.picture, other], ['sh', '-c', 'echo "$@"; cat "$@"', 'sh', self.picture, other])
		for path in (self.picture, other):
			path.unlink()
		other.parent.rmdir()
		said = subprocess.run(command, cwd=share, capture_output=True, text=True)
		self.assertEqual(said.stdout, f'{self.picture} {other}\nP6 of mine\nlabels', said.stderr)

	def test_the_counters_fit_a_terminal(self):
		for engine, operations in (('conv', '17'), ('sdp', '4294967295000')):
			counters = self.folder / f'counters_{engine}'
			counters.mkdir()
			(counters / 'operations').write_text(f'{operations}\n')
		script = run._AND_COUNTERS.replace('/sys/class/accel/accel0/device', str(self.folder))
		said = subprocess.run(['sh', '-c', script, 'sh', 'true'], capture_output=True, text=True, check=True).stdout
		_, place, title, operations, *_ = said.splitlines()
		self.assertEqual(place, f'{self.folder}:')
		self.assertEqual(title.split(), ['counters_conv', 'counters_sdp', 'counters_pdp'])
		self.assertEqual(operations.split(), ['operations', '17', '4294967295000', '-'])
		self.assertLess(max(map(len, said.replace(place, '').splitlines())), 80)

	def test_the_guest_has_the_loadable_in_its_folder(self):
		arguments = run.parse(['--model', str(self.folder / 'net.onnx')])
		done = mock.Mock(problems=[], status=0)
		with (mock.patch.object(run, 'prepare_programs_and_tree'), mock.patch.object(run, 'prepare_guest'),
		      mock.patch.object(run, 'prepare_module', return_value=(None, mock.Mock(), None)),
		      mock.patch.object(modelrun, '_compile', return_value=modelrun._Native()),
		      mock.patch.object(modelrun.vm, 'Machine') as machine):
			machine.return_value.run.return_value = done
			self.assertEqual(modelrun.run(arguments, self.picture), 0)
		words = machine.return_value.run.call_args.args[0]
		self.assertEqual(words[words.index('--loadable') + 1], 'net.nvdla')
		self.assertEqual(words[words.index('--input') + 1], str(self.picture))

	def test_a_wrong_number_of_means_is_told_before_the_guest_boots(self):
		for channels, mean, wanted in ((3, '128', 'three'), (3, '1,2', 'three'), (3, '1,2,3', None), (1, '128', None),
						   (1, '1,2,3', 'one'), (1, '1,2', 'one'), (1, '128,128,128', None), (1, '3,0,0', None)):
			network = {'memory_list': [{'flags': ['alloc'], 'bind_id': 0, 'tensor_desc_id': 0},
						   {'flags': ['alloc', 'input'], 'bind_id': 0, 'tensor_desc_id': 4}],
				   'tensor_desc_list': [{'id': 0, 'c': 1}, {'id': 4, 'c': channels}]}
			info = mock.Mock(returncode=0, stdout=json.dumps(network))
			arguments = run.parse(['--model', str(self.folder / 'net.onnx'), '--mean', mean])
			with (self.subTest(channels=channels, mean=mean), mock.patch.object(run, 'prepare_programs_and_tree'),
			      mock.patch.object(modelrun, '_compile', return_value=modelrun._Native()),
			      mock.patch.object(modelrun, '_try', return_value=info),
			      mock.patch.object(modelrun, '_run_in_guest', return_value=0) as guest_run):
				with self.assertRaisesRegex(Failure, f'--mean {mean}: give {wanted} number') if wanted else contextlib.nullcontext():
					modelrun.run(arguments, self.picture)
				self.assertEqual(guest_run.called, not wanted)

	def test_a_wrong_number_of_labels_is_told_before_the_guest_boots(self):
		"""The rule is that of nvdla-run: the number of elements of an output without open axes."""
		labels = self.folder / 'labels.txt'
		open_axis = {'signature': {'shape': [1, 0xffffffff]}}
		for text, outputs, wanted in (
				('a\nb\n', [{'c': 2}], None), ('a\nb', [{'c': 2}], None), ('a\r\n\n', [{'c': 2}], None),
				('a\nb\n', [{'c': 3}], 'has 2 lines, which must be the number of elements of an output: 3'),
				('', [{'c': 3}], 'has 0 lines'), ('a\n' * 12, [{'c': 7}, {'c': 3, 'h': 2, 'w': 2, 'signature': {'shape': [12]}}], None),
				('a\n' * 5, [{'c': 7}, {'c': 3, 'h': 2, 'w': 2}], ': 7, 12$'),
				('a\n', [open_axis], 'an output: a varying number$'), ('a\n', [open_axis, {}], None), ('a\n', [], None)):
			labels.write_bytes(text.encode())
			network = {'memory_list': [{'flags': ['alloc', 'input'], 'bind_id': 0, 'tensor_desc_id': 9},
						   *({'flags': ['alloc', 'output'], 'bind_id': index, 'tensor_desc_id': index}
						     for index, _ in enumerate(outputs))],
				   'tensor_desc_list': [{'id': 9, 'c': 1}, *({'n': 1, 'c': 1, 'h': 1, 'w': 1, 'id': index} | output
									     for index, output in enumerate(outputs))]}
			info = mock.Mock(returncode=0, stdout=json.dumps(network))
			arguments = run.parse(['--model', str(self.folder / 'net.onnx'), '--labels', str(labels)])
			with (self.subTest(text=text, outputs=outputs), mock.patch.object(run, 'prepare_programs_and_tree') as built,
			      mock.patch.object(modelrun, '_compile', return_value=modelrun._Native()),
			      mock.patch.object(modelrun, '_try', return_value=info),
			      mock.patch.object(modelrun, '_run_in_guest', return_value=0) as guest_run):
				with self.assertRaisesRegex(Failure, f'--labels {labels}: .*{wanted}') if wanted else contextlib.nullcontext() as failed:
					modelrun.run(arguments, self.picture)
				self.assertEqual(guest_run.called, not wanted)
				self.assertIn('umd/tools/nvdla-info', built.call_args.args)
				self.assertTrue(not wanted or failed.exception.status == 2)

	def test_the_guest_gets_no_model_that_needs_this_systems_library(self):
		fine, refused = mock.Mock(returncode=0, stderr=''), mock.Mock(returncode=1, stderr='layer 3')
		missing = mock.Mock(returncode=1, stderr='libnvdla-host-onnx.so: does not load')
		for device, tries, way in ((None, [fine], modelrun._Native), (None, [refused, fine, fine], modelrun._InSuite),
					   (None, [refused, missing, fine], modelrun._InSuite),
					   ('embedded', [fine], modelrun._Native), ('embedded', [missing, fine], modelrun._InSuite)):
			words = ['--model', str(self.folder / 'net.onnx'), *(('--device', device) if device else ())]
			with (self.subTest(device=device, tries=len(tries)), mock.patch.object(modelrun, '_try', side_effect=tries),
			      mock.patch.object(modelrun.suite_tree, 'ensure'), mock.patch.object(modelrun.build, 'build') as built,
			      mock.patch.object(modelrun.build, 'suite_module', return_value=Path('/modules/a.so')) as module):
				found = modelrun._compile(run.parse(words), self.folder / 'net.nvdla')
				self.assertIsInstance(found, way)
				self.assertEqual(module.called, way is modelrun._InSuite)
				built.assert_not_called()
				if module.called:
					self.assertEqual(found.command('program')[1:3], ['--modules', '/modules'])

	def test_a_library_that_cannot_be_fetched_is_told_with_what_it_is_for(self):
		missing = mock.Mock(returncode=1, stderr="IsNaN 'x1': libnvdla-host-onnx.so: does not load; install libonnxruntime-dev\n")
		for device, tries, hint in (('vm', [missing, missing], 'use --device embedded'), ('embedded', [missing], 'install lib')):
			arguments = run.parse(['--model', str(self.folder / 'net.onnx'), '--device', device])
			with (self.subTest(device), mock.patch.object(modelrun, '_try', side_effect=tries),
			      mock.patch.object(modelrun.suite_tree.archive, 'opened', side_effect=Failure('the archive is expired')),
			      mock.patch.object(modelrun.suite_tree, 'cache_dir', return_value=self.folder),
			      mock.patch.object(modelrun.suite_tree.guest_tree, 'cache_dir', return_value=self.folder),
			      contextlib.redirect_stdout(io.StringIO()), self.assertRaises(Failure) as raised):
				modelrun._compile(arguments, self.folder / 'net.nvdla')
			message = str(raised.exception)
			self.assertIn('libonnxruntime-dev and libtensorflow-lite-dev of a newer Debian release cannot be fetched: the archive is '
				      "expired\nit is for this: IsNaN 'x1'", message)
			self.assertTrue(message.splitlines()[-1].endswith(hint) or hint in message, message)

	def test_a_model_that_needs_the_suite_tree_leaves_the_build_directory_as_it_is(self):
		"""The host's own programs would look for a library there that they cannot load."""
		ran = []
		with (mock.patch.object(build, 'build_dir', return_value=self.folder / 'build'),
		      mock.patch.object(build, '_tool', side_effect=lambda name: name),
		      mock.patch.object(build.suite_tree, 'path', return_value=Path('/cache/suite-1')),
		      mock.patch.object(build, '_run', side_effect=lambda argv, *rest: ran.append(argv))):
			module = build.suite_module(print, 'umd/a.so')
		self.assertEqual(module, self.folder / 'build/suite-1/umd/a.so')
		for argv in ran:
			self.assertIn(self.folder / 'build/suite-1', argv)
			self.assertNotIn('configure', argv)
		self.assertIn('-Dsuite_tree=/cache/suite-1', ran[0])

	def test_modules_precede_those_of_the_build_directory(self):
		loader = self.folder / 'usr/lib64/ld-linux-x86-64.so.2'
		loader.parent.mkdir(parents=True)
		loader.write_text('#!/bin/sh\necho "$@"\n')
		loader.chmod(0o755)
		with mock.patch.object(modelrun.suite_tree, 'path', return_value=self.folder):
			words = modelrun.suite_tree.loader_command('program', 'x', modules='/modules')
		said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
		self.assertRegex(said, f'^--library-path /modules:{self.folder}/usr/lib/.* program x$')


if __name__ == '__main__':
	unittest.main()
