# SPDX-License-Identifier: MIT
"""What all scripts have in common: a help with an example, and wrong options named in one line."""

import contextlib
import errno
import io
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest
from concurrent import futures
from pathlib import Path
from unittest import mock

from stack import console, guest, kmod, package, qemu, upstream, vmrun
from stack.console import Failure
from stack.paths import ROOT, project_version

_SCRIPTS = ('build-kmd', 'check-arm64', 'check-kmd', 'kernel-debug', 'package', 'run', 'setup', 'test', 'upstream', 'vm')


class EachScript(unittest.TestCase):
	def each(self, option, scripts=_SCRIPTS):
		"""(script, what it says to this option), all at the same time."""
		def run(script):
			return subprocess.run([ROOT / 'scripts' / script, option], capture_output=True, text=True,
					      env=dict(os.environ, COLUMNS='100'))
		with futures.ThreadPoolExecutor() as pool:
			return list(zip(scripts, pool.map(run, scripts)))

	def test_help_has_an_example(self):
		for script, said in self.each('--help', (*_SCRIPTS, 'gen-registers', 'public-traces')):
			with self.subTest(script):
				lines = said.stdout.splitlines()
				self.assertTrue(any(line.startswith(f'Example: scripts/{script}') for line in lines))
				self.assertLessEqual(max(map(len, lines)), 100)
				self.assertRegex(said.stdout, '(?i)exit status')

	def test_version_is_that_of_the_project(self):
		others = [script for script in _SCRIPTS if script != 'package']
		for script, said in self.each('--version', (*others, 'gen-registers', 'public-traces')):
			with self.subTest(script):
				self.assertEqual((said.returncode, said.stdout, said.stderr), (0, f'scripts/{script} {project_version()}\n', ''))

	def test_version_of_packages_is_theirs(self):
		said = subprocess.run([ROOT / 'scripts/package', '--help'], capture_output=True, text=True).stdout
		self.assertIn('--version VERSION', said)
		self.assertIn('not that of the script', ' '.join(said.split()))

	def test_help_of_qemu_begins_with_that_of_the_script(self):
		found = types.SimpleNamespace(qemu=['qemu-system-x86_64'], environment={})
		for words, begins in ((['--help'], 'scripts/qemu starts'), (['-version'], '')):
			with self.subTest(words), mock.patch.object(guest, 'find', return_value=found), \
					mock.patch.object(sys, 'argv', ['qemu', *words]), \
					mock.patch.object(os, 'execvpe') as started, \
					contextlib.redirect_stdout(io.StringIO()) as said:
				qemu.main()
				self.assertEqual(said.getvalue()[:19], begins)
				started.assert_called_once_with('qemu-system-x86_64', ['qemu-system-x86_64', *words], {})

	def test_a_wrong_option_is_named_in_one_line(self):
		for script, said in self.each('--hepl'):
			with self.subTest(script):
				self.assertEqual((said.returncode, said.stderr), (2, (
					f'scripts/{script}: there is no option --hepl; did you mean --help?; see scripts/{script} --help\n')))

	def test_two_checks_exclude_each_other(self):
		said = subprocess.run([ROOT / 'scripts/check-kmd', '--all', '--prove'], capture_output=True, text=True)
		self.assertEqual(said.returncode, 2)
		self.assertIn('--prove: not allowed with argument --all', said.stderr)


class Failures(unittest.TestCase):
	"""They begin with the name of the script, as those of a program with the program's name."""

	def said_by(self, main):
		with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended, \
				mock.patch.object(console, '_script', 'x'), mock.patch.object(sys, 'stdout'), \
				mock.patch.object(console.signal, 'signal'):
			console.run_program(main)
		return ended.exception.code, said.getvalue()

	def test_of_a_script(self):
		def wrong():
			console.Parser('scripts/run', '')
			raise Failure('--x 1: it can be 2', 2)

		def full():
			console.Parser('scripts/vm', '')
			raise OSError(errno.ENOSPC, 'No space left on device', '/full/x')

		self.assertEqual(self.said_by(wrong), (2, 'scripts/run: --x 1: it can be 2\n'))
		self.assertEqual(self.said_by(full), (1, 'scripts/vm: /full/x: No space left on device: free some space there\n'))

	def test_of_the_guest(self):
		outcome = types.SimpleNamespace(kernel_log=mock.Mock(**{'read_text.return_value': ''}), problems=['it crashed'])
		with contextlib.redirect_stderr(io.StringIO()) as said, mock.patch.object(console, '_script', 'scripts/vm'):
			vmrun.report(outcome)
		self.assertEqual(said.getvalue().splitlines()[-1], 'scripts/vm: it crashed')


class WrongArguments(unittest.TestCase):
	"""They end a script with 2, before anything is built or fetched; the other failures end it with 1."""

	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		(self.folder / 'file').touch()
		(self.folder / 'headers').mkdir()
		(self.folder / 'headers/Makefile').touch()

	def test_are_told_with_2(self):
		file, here = self.folder / 'file', self.folder
		for module, words, why in (
				(package, ['--version', 'x'], '--version x: it can have letters'),
				(package, ['--output', here], '--output .*: it has files that are no packages'),
				(package, ['--output', file], '--output .*/file: .*/file is no folder'),
				(package, ['--output', file / 'x'], '--output .*/file/x: .*/file is no folder'),
				(upstream, ['--output', file, here], '--output .*/file: .*/file is no folder'),
				(upstream, [here], 'has no MAINTAINERS: name the top folder'),
				(kmod, ['--no-generate', '--kdir', here], '--kdir .* has no Makefile'),
				(kmod, ['--no-generate', '--kdir', here / 'headers'], '--kdir .* is not prepared'),
				(vmrun, ['--timeout', '0', '--', 'true'], '--timeout 0: it can be'),
				(vmrun, ['--timeout', '-1', '--', 'true'], '--timeout -1: it can be'),
				(vmrun, ['--timeout', 'nan', '--', 'true'], '--timeout nan: it can be'),
				(vmrun, ['--gdb', '99999', '--', 'true'], '--gdb 99999: this port'),
				(vmrun, ['--arch', 'arm64', '--device-tree', here / 'none', '--', 'true'], '--device-tree .*: there is no such file')):
			with (self.subTest(words), mock.patch.object(sys, 'argv', [module.__name__, *map(str, words)]),
			      mock.patch.object(kmod, 'build_headers'), mock.patch.object(package, 'build') as built,
			      contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(Failure, why) as failed):
				module.main()
			self.assertEqual(failed.exception.status, 2)
			built.assert_not_called()

	def test_folders_that_can_be(self):
		for path in (self.folder, self.folder / 'a/b', Path('x')):
			console.check_folder('--output', path)
		with mock.patch.object(os, 'access', return_value=False), self.assertRaisesRegex(Failure, 'a/b: .* cannot be written') as failed:
			console.check_folder('--output', self.folder / 'a/b')
		self.assertEqual(failed.exception.status, 2)

	def test_sources_of_another_tree(self):
		"""Those of this checkout are no argument."""
		for source, status in ((self.folder, 2), (kmod.ROOT, 1)):
			with self.assertRaisesRegex(Failure, 'is missing') as failed:
				kmod.build(None, None, source=source, part='nothing')
			self.assertEqual(failed.exception.status, status)


class Progress(unittest.TestCase):
	def test_leaves_stdout_to_a_command(self):
		for is_command in (False, True):
			with (self.subTest(is_command), mock.patch.object(console, 'stdout_is_the_commands', is_command),
			      contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors):
				console.say('built')
				self.assertRegex((errors if is_command else out).getvalue(), r'^\[.* s\] built\n$')
				self.assertEqual((out if is_command else errors).getvalue(), '')

	def test_a_stage_beside_others_is_not_taken_for_a_short_one(self):
		with (mock.patch.object(console, 'durations', {}), mock.patch.object(console, 'beside', set()),
		      contextlib.redirect_stdout(io.StringIO()) as said):
			maker = subprocess.Popen([sys.executable, '-c', 'import time\nwhile time.process_time() < 0.2: pass'])
			with console.stage('build'):
				time.sleep(0.5)
			with console.waiting('guest tree'):
				maker.wait()
				time.sleep(0.1)
			console.say_durations()
		self.assertRegex(said.getvalue(), r'\]   build +0\.\d s, +0\.\d s of processor time\n')
		self.assertRegex(said.getvalue(), r'\]   guest tree +0\.\d s, +0\.[2-9] s of processor time \(it ran beside')


if __name__ == '__main__':
	unittest.main()
