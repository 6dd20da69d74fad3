# SPDX-License-Identifier: MIT
"""A step of a build that fails on a full disk: the disk is named, not a source."""

import collections
import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stack import build, kmod, space
from stack.console import Failure

_Usage = collections.namedtuple('_Usage', 'free')


class FullDisk(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		self.free = {self.folder / 'build': 1 << 30, Path(tempfile.gettempdir()): 1 << 31}
		(self.folder / 'build').mkdir()
		for name in ('stack.build.build_dir', 'stack.space.build_dir'):
			patch = mock.patch(name, return_value=self.folder / 'build')
			patch.start()
			self.addCleanup(patch.stop)
		patch = mock.patch.object(space.shutil, 'disk_usage', side_effect=lambda path: _Usage(self.free[path]))
		patch.start()
		self.addCleanup(patch.stop)

	def failure(self, text, step):
		def run(argv, log, *rest, **how):
			Path(log).write_text(text)
			return 1

		with (mock.patch.object(build.processes, 'run_logged', side_effect=run), contextlib.redirect_stdout(io.StringIO()),
		      self.assertRaises(Failure) as failed):
			step()
		return failed.exception

	def build(self):
		build._run(['ninja'], 'compile', self.fail)

	def module(self):
		kmod._run_logged(['make'], 'nvdla.ko', self.folder, 'kmd', self.fail)

	def test_the_disk_is_named(self):
		full = 'FAILED: a.o\nc++ -c a.cpp\nfatal error: error writing to a.o: No space left on device\n'
		for step in (self.build, self.module):
			failure = self.failure(full, step)
			self.assertRegex(str(failure), r'^a disk is full: fatal error: error writing to a.o: No space left on device; '
					 fr'{self.folder}/build has 1024 MiB free; log: ')
			self.assertNotIsInstance(failure, build.DoesNotCompile)

	def test_a_disk_that_left_no_room_for_the_log(self):
		self.free[self.folder / 'build'] = 4096
		for step in (self.build, self.module):
			self.assertIn('/build is full (0 MiB free)', str(self.failure('', step)))

	def test_the_disk_of_temporary_files(self):
		self.free[Path(tempfile.gettempdir())] = 4096
		self.assertRegex(str(self.failure('', self.build)), f'^the disk of {tempfile.gettempdir()} is full .* TMPDIR')

	def test_a_wrong_source_is_not_the_disk(self):
		for step in (self.build, self.module):
			self.assertIsInstance(self.failure('FAILED: a.o\na.c:1:1: error: no such type\n', step), build.DoesNotCompile)


if __name__ == '__main__':
	unittest.main()
