# SPDX-License-Identifier: MIT
"""Kernels known to work (scripts/lib/kernels), and how failures with newer ones are treated."""

import os
import re

from .paths import ROOT

_LIST = ROOT / 'scripts' / 'lib' / 'kernels'


def known():
	"""Return the series of the known kernels, oldest first: ("6.12", ...)."""
	lines = (line.split('#')[0].strip() for line in _LIST.read_text().splitlines())
	return tuple(line for line in lines if line)


def number(text):
	"""Return the first two numbers of a series ("7.3") or a release as a tuple, by which kernels can be sorted or
	compared."""
	return tuple(int(part) for part in re.match(r'(\d+)\.(\d+)', text).groups())


def oldest():
	"""Return the number() of the oldest kernel that the driver supports."""
	return number(known()[0])


def is_newer(series):
	"""Whether the kernel @series is newer than all known ones."""
	return number(series) > number(known()[-1])


def is_excused(series):
	"""Return whether the driver may fail to build for @series: true for a series newer than all known ones. In
	continuous integration (CI=true) always false, so that the failure is reported."""
	return is_newer(series) and os.environ.get('CI') != 'true'


def excuse(release, reason):
	"""Return the message that says why the kernel @release is skipped."""
	return f'Linux {release}, newer than the known ones ({", ".join(known())}), is passed over: {reason}'
