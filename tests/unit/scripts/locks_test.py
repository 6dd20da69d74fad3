# SPDX-License-Identifier: MIT
"""Two scripts in one clone: the second one waits, says so, and goes on."""

import multiprocessing
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from stack import build, locks

_PATIENCE = 60
_WAITING = 'waiting for another run in this clone'


def _hold(path, begun, ended):
	with locks.held(path, lambda text: None, ''):
		begun.set()
		# Not ended.wait(): set() of an event waits for those that wait, also for a killed process.
		while not ended.is_set():
			time.sleep(0.01)


class Locks(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.path = Path(folder.name, 'build', 'scripts.lock')

	def other(self):
		"""Another process that holds the lock; returns it, and the event that ends it."""
		begun, ended = multiprocessing.Event(), multiprocessing.Event()
		other = multiprocessing.Process(target=_hold, args=(self.path, begun, ended))
		other.start()
		self.addCleanup(other.join)
		self.addCleanup(ended.set)
		self.assertTrue(begun.wait(_PATIENCE))
		return other, ended

	def test_the_second_one_says_that_it_waits(self):
		"""At once, and again every few seconds."""
		_, ended = self.other()
		told = []

		def progress(text):
			told.append(text)
			if len(told) == 3:
				ended.set()

		with mock.patch.object(locks, '_SECONDS_BETWEEN_LINES', 0.1), locks.held(self.path, progress, 'waiting'):
			self.assertEqual(told[0], 'waiting')
			self.assertRegex(told[1], r'^waiting \(\d s so far\)$')

	def test_nobody_waits_for_one_that_was_killed(self):
		other, _ = self.other()
		other.kill()
		other.join()
		with locks.held(self.path, self.fail, 'waiting'):
			pass

	def test_it_can_be_taken_again(self):
		with locks.held(self.path, self.fail, ''), locks.held(self.path, self.fail, ''):
			pass
		with locks.held(self.path, self.fail, ''):
			pass

	def test_a_process_that_goes_on_does_not_keep_it(self):
		with locks.held(self.path, self.fail, ''):
			child = multiprocessing.Process(target=time.sleep, args=(_PATIENCE,))
			child.start()
		try:
			subprocess.run(['flock', '--nonblock', self.path, 'true'], check=True)
		finally:
			child.kill()
			child.join()

	def test_each_meson_and_ninja_waits(self):
		_, ended = self.other()
		told, ran = [], []

		def run(*rest, **how):
			ran.append(rest)
			return 0

		def progress(text):
			self.assertFalse(ran)
			told.append(text)
			ended.set()

		with (mock.patch.object(build, 'build_dir', return_value=self.path.parent),
		      mock.patch.object(build.processes, 'run_logged', side_effect=run)):
			build._run(['ninja'], 'compile', progress)
		self.assertEqual((told, len(ran)), ([_WAITING], 1))

	def test_a_build_directory_that_another_run_configured_is_not_configured_again(self):
		_, ended = self.other()

		def progress(text):
			self.assertEqual(text, _WAITING)
			(self.path.parent / 'build.ninja').touch()
			ended.set()

		with (mock.patch.object(build, 'build_dir', return_value=self.path.parent), mock.patch.dict(os.environ),
		      mock.patch.object(build.processes, 'run_logged', side_effect=AssertionError)):
			os.environ.pop('CI', None)  # which asks for an option
			build.configure(progress)


if __name__ == '__main__':
	unittest.main()
