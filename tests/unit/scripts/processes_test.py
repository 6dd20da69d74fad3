# SPDX-License-Identifier: MIT
"""Processes side by side: order, number, and what becomes of one that is killed."""

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from stack import processes

_PATIENCE = 60


def _meet(barrier):
	barrier.wait(_PATIENCE)
	return os.getpid()


def _count(running, most, number):
	with running.get_lock():
		running.value += 1
		most.value = max(most.value, running.value)
	with running.get_lock():
		running.value -= 1
	return number


def _die(number):
	os.kill(os.getpid(), number)


class SideBySide(unittest.TestCase):
	def test_they_run_at_the_same_time(self):
		barrier = multiprocessing.Barrier(2)
		pids = processes.side_by_side([functools.partial(_meet, barrier)] * 2, 2)
		self.assertEqual(len({*pids, os.getpid()}), 3)

	def test_results_are_in_the_order_of_the_tasks(self):
		running, most = multiprocessing.Value('i', 0), multiprocessing.Value('i', 0)
		tasks = [functools.partial(_count, running, most, number) for number in range(9)]
		self.assertEqual(processes.side_by_side(tasks, 3), list(range(9)))
		self.assertLessEqual(most.value, 3)

	def test_one_that_is_killed_has_no_result(self):
		tasks = [functools.partial(_die, signal.SIGKILL), lambda: 'there', functools.partial(_die, signal.SIGINT)]
		self.assertEqual(processes.side_by_side(tasks, 1), [None, 'there', None])

	def test_nothing_to_do(self):
		self.assertEqual(processes.side_by_side([], 2), [])


class Meanwhile(unittest.TestCase):
	def test_it_runs_beside_the_body(self):
		barrier = multiprocessing.Barrier(2)
		with processes.meanwhile(functools.partial(_meet, barrier)) as result:
			self.assertEqual(_meet(barrier), os.getpid())
			self.assertNotEqual(result(), os.getpid())

	def test_one_that_is_killed_has_no_result(self):
		with processes.meanwhile(functools.partial(_die, signal.SIGKILL)) as result:
			self.assertIsNone(result())

	def test_it_ends_with_the_body(self):
		begun, ended = multiprocessing.Event(), multiprocessing.Event()

		def run():
			begun.set()
			ended.wait()

		with self.assertRaises(KeyError), processes.meanwhile(run):
			begun.wait()
			raise KeyError
		self.assertEqual(multiprocessing.active_children(), [])


class Children(unittest.TestCase):
	def test_the_oldest_is_the_first(self):
		script = 'import time; print(flush=True); time.sleep(60)'
		begun = []
		for name in ('one', 'two'):
			begun.append(subprocess.Popen([sys.executable, '-c', script, name], stdout=subprocess.PIPE))
			# The kernel counts begin in ticks.
			time.sleep(2 / os.sysconf('SC_CLK_TCK'))
		try:
			for child in begun:
				child.stdout.readline()
			found = processes.children(os.getpid())
		finally:
			for child in begun:
				child.kill()
				child.communicate()
		self.assertEqual([words[-1] for _, words in found], ['one', 'two'])
		self.assertLessEqual(0, found[1][0])
		self.assertLessEqual(found[1][0], found[0][0])
		self.assertEqual(processes.children(begun[0].pid), [])


class Descendants(unittest.TestCase):
	def test_one_is_found_by_its_name(self):
		shell = subprocess.Popen(['sh', '-c', 'sleep 60 & echo $!; wait'], stdout=subprocess.PIPE, text=True)
		sleep = int(shell.stdout.readline())
		try:
			while processes.descendant(os.getpid(), 'sleep') is None:
				time.sleep(0.01)
			self.assertEqual(processes.descendant(os.getpid(), 'sleep'), sleep)
			self.assertIsNone(processes.descendant(os.getpid(), 'ninja'))
		finally:
			os.kill(sleep, signal.SIGKILL)
			shell.communicate()


class Progress(unittest.TestCase):
	def test_a_line_that_says_nothing_of_progress_is_passed_over(self):
		with tempfile.NamedTemporaryFile('w', suffix='.log') as log:
			for text, wanted in (('', ''), ('done: 3\n', 'done: 3'), ('W: gpg --version failed\n', 'done: 3'),
					     ("make: Entering directory '/usr/src'\nmake[1]: Leaving directory '/mnt/kmd'\n", 'done: 3'),
					     ('  CC [M]  nvdla.o\n', 'CC [M]  nvdla.o')):
				with self.subTest(text):
					log.write(text)
					log.flush()
					self.assertEqual(processes.last_line(0, log.name), wanted)


if __name__ == '__main__':
	unittest.main(argv=['processes_test'])
