# SPDX-License-Identifier: MIT
"""Progress with elapsed time, and one-line errors with their remedy."""

import argparse
import contextlib
import difflib
import errno
import os
import re
import signal
import sys
import textwrap
import time
from pathlib import Path

from .paths import project_version


_EXITS = 'Exit status: 0 if all went well, 2 if an argument is wrong, another number after any other error.\n'


class Failure(Exception):
	"""A failure to report to the user. The message is one line that includes the remedy; @details are lines that
	are printed before it."""

	details = ''

	def __init__(self, message, status=1):
		super().__init__(message)
		self.status = status


class _WholeNames(argparse.HelpFormatter):
	"""Breaks lines of the help at spaces only, so that a name such as nvdla-dkms stays whole."""

	def _split_lines(self, text, width):
		return textwrap.wrap(' '.join(text.split()), width, break_on_hyphens=False)

	def _fill_text(self, text, width, indent):
		return textwrap.fill(' '.join(text.split()), width, initial_indent=indent, subsequent_indent=indent,
				     break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
	"""Parser for the options of a script. The message about a wrong argument is one line, with the option that was
	probably meant.

	@example: arguments of the help's example. @exits: the help's last line, about the exit
	status. @tells_version: False for a script whose option --version has another meaning.
	"""

	def __init__(self, script, example, epilog='', exits=_EXITS, tells_version=True, **arguments):
		global _script
		_script = script
		self._exits = exits
		super().__init__(prog=script, epilog=f'{epilog}Example: {script} {example}'.rstrip(),
				 **{'formatter_class': _WholeNames, **arguments})
		if tells_version:
			self.add_argument('--version', action='version', version=f'{script} {project_version()}',
					  help='print the version of the project and exit')

	def format_help(self):
		return super().format_help() + self._exits

	def error(self, message):
		unknown = re.match(r'unrecognized arguments: (-[^\s=]+)', message)
		if unknown:
			similar = difflib.get_close_matches(unknown[1], self._option_string_actions, 1)
			message = f'there is no option {unknown[1]}' + ''.join(f'; did you mean {option}?' for option in similar)
		self.exit(2, f'{self.prog}: {message}; see {self.prog} --help\n')


# Name of the script, with which its failures begin. Parser() sets it; a program without options has the name of its file.
_script = Path(sys.argv[0]).name


def script():
	"""Return the name of the script that runs, such as scripts/vm."""
	return _script


def tell_failure(text):
	"""Print a failure: a line that begins with the script's name, as the failures of the project's programs begin with
	theirs."""
	print(f'{_script}: {text}', file=sys.stderr)


def check_folder(option, path):
	"""Raise Failure unless @path, the value of @option, is a folder in which files can be made, or can become one."""
	there = next(folder for folder in (path.absolute(), *path.absolute().parents) if os.path.lexists(folder))
	if not os.path.isdir(there):
		raise Failure(f'{option} {path}: {there} is no folder, name another', 2)
	if not os.access(there, os.W_OK | os.X_OK):
		raise Failure(f'{option} {path}: {there} cannot be written, make it yours or name another', 2)


# Durations of this program's stages: {name: (seconds, processor time in seconds)}.
durations = {}
# Names of the stages that ran beside others: their seconds in durations are only the wait for their end.
beside = set()

# Start time of the outermost script; scripts that it calls inherit the variable.
_start = float(os.environ.setdefault('NVDLA_START', f'{time.time():.3f}'))
# Seconds that the shell scripts took before this program began, mostly to look for packages and install them.
before = time.time() - _start


def elapsed():
	"""Seconds since the first script began."""
	return time.time() - _start


# True if progress is printed on stderr, because stdout is for the output of the user's command.
stdout_is_the_commands = False


def say(text, file=None, end='\n'):
	"""Print a line of progress, with the seconds since the first script began."""
	print(f'[{elapsed():6.1f} s] {text}', file=file or (sys.stderr if stdout_is_the_commands else sys.stdout), end=end, flush=True)


def _busy():
	"""Return the processor time, in seconds, of this program and of its children that have ended."""
	return sum(os.times()[:4])


@contextlib.contextmanager
def stage(name, quiet_below=0.5):
	"""Run the body of the with statement as the stage @name; at its end, print its duration and its processor time.
	For a stage without messages, these are only printed if it took @quiet_below seconds or more.

	Yields a function that prints a message about the progress of the stage.
	"""
	began, busy = time.monotonic(), _busy()
	announced = False

	def progress(text):
		nonlocal announced
		announced = True
		say(f'{name}: {text}')

	yield progress
	took, worked = time.monotonic() - began, _busy() - busy
	_add(name, took, worked)
	if announced or took >= quiet_below:
		say(f'{name}: done in {took:.1f} s, {worked:.1f} s of processor time')


def _add(name, took, worked):
	before_seconds, before_busy = durations.get(name, (0, 0))
	durations[name] = (before_seconds + took, before_busy + worked)


@contextlib.contextmanager
def waiting(name):
	"""Run the body of the with statement, which waits for a process that did the stage @name while other stages ran.
	That process printed the stage's messages and duration."""
	began, busy = time.monotonic(), _busy()
	yield
	_add(name, time.monotonic() - began, _busy() - busy)
	beside.add(name)


def say_durations():
	"""Print the time of each stage, and the time since the first script began."""
	say(f'  {"packages":12} {before:7.1f} s')
	for name, (seconds, busy) in durations.items():
		if seconds >= 0.05:
			note = ' (it ran beside other steps; this is only the wait for its end)' if name in beside else ''
			say(f'  {name:12} {seconds:7.1f} s, {busy:7.1f} s of processor time{note}')
	say(f'  {"all":12} {elapsed():7.1f} s')


def restore_terminal():
	"""Return a function that restores the terminal's present mode, because QEMU may leave the terminal in raw
	mode."""
	if not sys.stdin.isatty():
		return lambda: None
	import termios
	mode = termios.tcgetattr(sys.stdin)
	return lambda: termios.tcsetattr(sys.stdin, termios.TCSADRAIN, mode)


def _interrupt(number, frame):
	raise KeyboardInterrupt


def run_program(main):
	"""Run the function @main as a program; its return value becomes the exit status. A failure is told with the name of
	the Parser that @main made.

	SIGTERM and SIGHUP unwind like Ctrl-C, so that every ``finally`` runs and no process or file is left.
	"""
	signal.signal(signal.SIGTERM, _interrupt)
	signal.signal(signal.SIGHUP, _interrupt)
	sys.stdout.reconfigure(line_buffering=True)
	try:
		status = main()
	except Failure as failure:
		if failure.details:
			print(failure.details, flush=True)
		tell_failure(failure)
		status = failure.status
	except KeyboardInterrupt:
		tell_failure('interrupted')
		status = 130
	except BrokenPipeError:
		os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
		status = 1
	except OSError as error:
		where = error.filename or 'the system'
		remedy = {errno.ENOSPC: ': free some space there', errno.EDQUOT: ': free some space there',
			  errno.EACCES: ': make it yours', errno.EPERM: ': make it yours'}.get(error.errno, '')
		tell_failure(f'{where}: {error.strerror}{remedy}')
		status = 1
	sys.exit(status)
