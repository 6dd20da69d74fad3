# SPDX-License-Identifier: MIT
"""Limits of time: those of a slow machine are further away, and something that hangs meets them all the same."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stack import build, machine, pace, vm, vmtests
from stack.console import Failure


class Clock:
	"""A clock that goes when it is told to."""

	def __init__(self):
		self.now = 0.0

	def __call__(self):
		return self.now


class Limits(unittest.TestCase):
	def setUp(self):
		self.clock = Clock()
		self.enterContext(mock.patch.object(pace.time, 'monotonic', self.clock))

	def is_over_at(self, limit, seconds, slowness=AssertionError('nobody has to ask')):
		self.clock.now = seconds
		behaviour = {'side_effect': slowness} if isinstance(slowness, Exception) else {'return_value': slowness}
		with mock.patch.object(pace, 'slowness', **behaviour):
			return limit.is_over()

	def test_before_it_nobody_asks_how_slow_the_machine_is(self):
		self.assertFalse(self.is_over_at(pace.Limit(10), 9.9))

	def test_an_idle_machine(self):
		self.assertTrue(self.is_over_at(pace.Limit(10), 10.1, 1.0))

	def test_a_slow_machine_has_as_much_more(self):
		limit = pace.Limit(10)
		self.assertFalse(self.is_over_at(limit, 10.1, 6.0))
		self.assertFalse(self.is_over_at(limit, 59.0))
		self.assertTrue(self.is_over_at(limit, 60.1, 6.0))

	def test_other_work_may_come_later(self):
		limit = pace.Limit(10)
		self.assertFalse(self.is_over_at(limit, 10.1, 2.0))
		self.assertFalse(self.is_over_at(limit, 20.1, 9.0))
		self.assertTrue(self.is_over_at(limit, 90.1, 1.0))

	def test_what_somebody_asked_for_stays(self):
		self.assertTrue(self.is_over_at(pace.Limit(10, grows=False), 10.1))


class Slowness(unittest.TestCase):
	def measured(self, *seconds):
		with mock.patch.object(pace.processes, 'side_by_side', return_value=list(seconds)):
			return pace.slowness()

	def test_it_is_the_slowest_processors(self):
		self.assertAlmostEqual(self.measured(2 * pace._USUAL, 7 * pace._USUAL, None), 7.0)

	def test_a_fast_machine_has_no_less_time(self):
		self.assertEqual(self.measured(pace._USUAL / 3), 1.0)

	def test_here(self):
		self.assertGreaterEqual(pace.slowness(), 1.0)


class WhatIsEndedByTime(unittest.TestCase):
	"""All that scripts/test ends by time has more of it on a slow machine."""

	def setUp(self):
		self.enterContext(mock.patch.object(pace, 'slowness', return_value=4.0))

	def test_the_hosts_tests(self):
		# Not where this very test writes what came of it.
		with (tempfile.TemporaryDirectory() as folder, mock.patch.object(build, 'build_dir', return_value=Path(folder)),
		      mock.patch.object(build.processes, 'run_logged') as run):
			build.run_tests(['one'], {}, print)
		argv = list(map(str, run.call_args.args[0]))
		self.assertEqual(argv[argv.index('--timeout-multiplier') + 1], '4.0')

	def test_the_guests_tests(self):
		test, = [test for test in vmtests.tests() if test.name == 'smoke']
		grown = vmtests.with_time([test], is_debug=False)
		self.assertEqual([test.timeout for test in grown], [4 * test.timeout])
		self.assertGreater(vmtests.with_time([test], is_debug=True)[0].timeout, grown[0].timeout)

	def wait_for_guest(self, **options):
		"""Wait for a guest that never ends; whether anybody asked how slow the machine is."""
		qemu = mock.Mock()
		qemu.wait.side_effect = subprocess.TimeoutExpired('qemu', 0)
		with tempfile.TemporaryDirectory() as folder:
			log = Path(folder, 'log')
			log.touch()
			guest = vm.Machine(mock.Mock(), vm.Options(timeout=0.01, logs=log, **options))
			self.assertEqual(guest._wait(qemu, log, lambda: False, lambda: None), 'time')
		return pace.slowness.called

	def test_the_guest(self):
		self.assertTrue(self.wait_for_guest())

	def test_a_guest_with_a_time_of_the_users(self):
		self.assertFalse(self.wait_for_guest(is_exact=True))

	def test_the_start_of_the_device_model(self):
		with (tempfile.TemporaryDirectory() as folder, mock.patch.object(machine, 'listens', return_value=False),
		      mock.patch.object(machine, 'model_program'), mock.patch.object(machine.processes, 'end'),
		      mock.patch.object(machine.processes, 'spawn', return_value=mock.Mock(**{'poll.return_value': None}))):
			with self.assertRaisesRegex(Failure, 'does not listen'):
				machine.start_model('/nowhere', Path(folder, 'log'), patience=0.01)
		pace.slowness.assert_called()


if __name__ == '__main__':
	unittest.main(argv=['pace_test'])
