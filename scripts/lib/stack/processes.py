# SPDX-License-Identifier: MIT
"""Child processes that never outlive this one."""

import contextlib
import ctypes
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from .console import Failure

_PR_SET_PDEATHSIG = 1
_NO_PROGRESS = re.compile(r'W: |make(?:\[\d+\])?: (?:Entering|Leaving) directory ')
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with(parent):
	"""Return a function for a child process to call: from then on, the kernel kills the child when the process with
	the ID @parent ends for any reason."""

	def prepare():
		_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
		# End now if the parent ended between fork() and prctl().
		if os.getppid() != parent:
			os._exit(127)

	return prepare


def _prepare(parent):
	"""Return a function that does what _die_with()'s function does, and copies the niceness of the child to the
	autogroup of the child's session. With autogroups, the kernel divides processor time among sessions by
	the niceness of their autogroups, not of processes."""
	die = _die_with(parent)

	def prepare():
		die()
		with contextlib.suppress(OSError), open('/proc/self/autogroup', 'w') as autogroup:
			autogroup.write(str(os.nice(0)))

	return prepare


def spawn(argv, own_group=True, **options):
	"""Start the command @argv as a child that is killed when this process ends.

	With @own_group the child leads a new session, so Ctrl-C in the terminal reaches only this process, which then
	ends the child.
	"""
	try:
		return subprocess.Popen([str(a) for a in argv], start_new_session=own_group,
					preexec_fn=(_prepare if own_group else _die_with)(os.getpid()), **options)
	except FileNotFoundError:
		raise Failure(f'{argv[0]} is not there: run scripts/setup') from None


def end(process, patience=2.0):
	"""End a child that was started in its own group, and all its processes: first with SIGTERM, then with
	SIGKILL."""
	if process is None:
		return
	for number in (signal.SIGTERM, signal.SIGKILL):
		with contextlib.suppress(ProcessLookupError, PermissionError):
			os.killpg(process.pid, number)
		with contextlib.suppress(subprocess.TimeoutExpired):
			process.wait(patience)
			if number == signal.SIGTERM:
				# The process itself has ended; kill the rest of its group.
				with contextlib.suppress(ProcessLookupError, PermissionError):
					os.killpg(process.pid, signal.SIGKILL)
			return


def tail(path, lines):
	"""Return the last @lines lines of a text file, as one string."""
	with open(path, errors='replace') as log:
		return ''.join(log.readlines()[-lines:])


def children(parent):
	"""Return a list of the children of the process @parent, the oldest first: [(seconds since the child began,
	words of its command line)]."""
	return [(seconds, words) for seconds, _, words in _children(parent)]


def descendant(parent, name):
	"""Return the process ID of a child of the process @parent, or of a child of a child and so on, that runs the program
	@name; None if there is none."""
	for _, pid, words in _children(parent):
		found = pid if words and Path(words[0]).name == name else descendant(pid, name)
		if found:
			return found
	return None


def _children(parent):
	found = []
	uptime = float(Path('/proc/uptime').read_text().split()[0])
	for folder in Path('/proc').glob('[0-9]*'):
		# A process may end while its files are read.
		with contextlib.suppress(OSError):
			# The fields behind the name, which may itself contain spaces and parentheses: state, parent,
			# ... The 20th field is the start time.
			fields = (folder / 'stat').read_text(errors='replace').rpartition(')')[2].split()
			if int(fields[1]) == parent:
				words = (folder / 'cmdline').read_text(errors='replace').replace('\0', ' ').split()
				found.append((uptime - int(fields[19]) / os.sysconf('SC_CLK_TCK'), int(folder.name), words))
	return sorted(found, reverse=True)


def last_line(pid, log):
	"""Return the last line of the file @log, to which the process @pid writes, that says what is being done: no
	warning of apt or mmdebstrap, and no folder that make enters."""
	lines = [line.strip() for line in tail(log, 50).splitlines()]
	return next((line for line in reversed(lines) if line and not _NO_PROGRESS.match(line)), '')[:90]


def run_logged(argv, log, progress, cwd=None, env=None, every=10.0, describe=last_line):
	"""Run @argv with its output in the file @log. Every @every seconds, call @progress with the
	text that @describe(process ID, @log) returns.

	Returns the exit status.
	"""
	with open(log, 'w') as out:
		child = spawn(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
			      cwd=cwd, env=env)
		try:
			said = time.monotonic()
			while True:
				try:
					return child.wait(0.2)
				except subprocess.TimeoutExpired:
					pass
				if time.monotonic() - said >= every:
					said = time.monotonic()
					progress(describe(child.pid, log) or 'working')
		finally:
			if child.poll() is None:
				end(child)


class _Call:
	"""A call of @function in a new process, which begins at once. The function must not raise: no exception reaches
	the caller."""

	def __init__(self, function):
		context = multiprocessing.get_context('fork')
		self.connection, theirs = context.Pipe(duplex=False)
		self.child = context.Process(target=_send_result, args=(_die_with(os.getpid()), function, theirs))
		self.child.start()
		theirs.close()

	def result(self):
		"""Wait for @function's return value; None if its process was killed."""
		result = None
		with contextlib.suppress(EOFError):
			result = self.connection.recv()
		self.child.join()
		return result


def _interrupt(calls):
	"""Interrupt all running @calls first, and then wait for all of them."""
	for call in calls:
		call.child.terminate()
	for call in calls:
		call.child.join()


def _send_result(prepare, function, connection):
	prepare()
	with contextlib.suppress(KeyboardInterrupt):
		connection.send(function())


def side_by_side(tasks, most):
	"""Call each of the functions @tasks in a new process, at most @most at the same time. They are started in their
	order.

	Returns their return values in the order of @tasks, with None for a task whose process was killed. A task
	handles its own errors. If this process is interrupted, the tasks are interrupted, too.
	"""
	results = [None] * len(tasks)
	waiting = list(enumerate(tasks))
	running = {}
	try:
		while waiting or running:
			while waiting and len(running) < most:
				index, task = waiting.pop(0)
				call = _Call(task)
				running[call.connection] = (index, call)
			for ready in multiprocessing.connection.wait(list(running)):
				index, call = running.pop(ready)
				results[index] = call.result()
	finally:
		_interrupt([call for _, call in running.values()])
	return results


@contextlib.contextmanager
def meanwhile(task):
	"""Call @task in a new process while the body of the with statement runs.

	Yields a function that waits for the task's return value, None if its process was killed.
	The task is interrupted (SIGTERM) when the body ends.
	"""
	call = _Call(task)
	try:
		yield call.result
	finally:
		_interrupt([call])
