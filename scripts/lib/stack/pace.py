# SPDX-License-Identifier: MIT
"""Measures how slow this machine is at the moment, and lengthens time limits by this factor.

A time limit has to end work that hangs, but not work that is slow because the machine is slow or busy. The limits in
the code are for the idle reference machine of Documentation/build-times.md, on which a measuring loop takes _USUAL
seconds. If the loop takes N times as long on this machine, the limits are N times as long, too.
"""

import os
import time

from . import processes

_LOOPS = 3_000_000
# Seconds that the loops below take on an idle machine of the reference kind.
_USUAL = 0.17


def _piece():
	began = time.monotonic()
	count = 0
	for number in range(_LOOPS):
		count += number & 3
	return time.monotonic() - began


def slowness():
	"""The factor by which this machine is slower now than the idle reference machine, at least 1.

	The measuring loop runs on every processor, at this process's niceness, because tests do the same.
	"""
	number = len(os.sched_getaffinity(0))
	took = [seconds for seconds in processes.side_by_side([_piece] * number, number) if seconds]
	return max([1.0, *(seconds / _USUAL for seconds in took)])


class Limit:
	"""A limit of time, from now on, for work that may take @seconds on the idle reference machine.

	When the limit has passed, slowness() is measured, and the limit becomes @seconds times this
	factor if that is longer. This is done again when the longer limit has passed. @grows: False
	for a limit that the user gave, which stays the same.
	"""

	def __init__(self, seconds, grows=True):
		self._seconds = self._allowed = seconds
		self._grows = grows
		self._began = time.monotonic()

	def is_over(self):
		"""Whether the limit has passed."""
		took = time.monotonic() - self._began
		if took > self._allowed and self._grows:
			self._allowed = max(self._allowed, self._seconds * slowness())
		return took > self._allowed
