# SPDX-License-Identifier: MIT
"""Kernels known to work (scripts/lib/kernels), and how failures with newer ones are treated."""

import os
import re

from .paths import ROOT

_LIST = ROOT / 'scripts' / 'lib' / 'kernels'


def known():
	"""The known series, oldest first: ("6.12", ...)."""
	lines = (line.split('#')[0].strip() for line in _LIST.read_text().splitlines())
	return tuple(line for line in lines if line)


def number(text):
	"""The two numbers that a series ("7.3") or a release begins with, to sort or compare
	kernels."""
	return tuple(int(part) for part in re.match(r'(\d+)\.(\d+)', text).groups())


def oldest():
	"""The number of the oldest kernel that the driver supports."""
	return number(known()[0])


def is_newer(series):
	"""Whether the kernel @series is newer than all known ones."""
	return number(series) > number(known()[-1])


def is_excused(series):
	"""Whether it is no failure if the driver does not build for @series: true for a series
	newer than all known ones, but not in continuous integration (CI=true), which has to report
	it."""
	return is_newer(series) and os.environ.get('CI') != 'true'


def excuse(release, reason):
	"""The message that says why the kernel @release is skipped."""
	return f'Linux {release}, newer than the known ones ({", ".join(known())}), is passed over: {reason}'
