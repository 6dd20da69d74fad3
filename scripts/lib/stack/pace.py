# SPDX-License-Identifier: MIT
"""How slow this machine is just now, for whatever ends what takes too long.

A limit of time is there to end what hangs. What is slow because the machine is, or has other work, must
not meet it. So limits are written down for a machine like the one that Documentation/build-times.md names,
with nothing else to do, and grow with what a piece of work takes here that takes _USUAL seconds there.
"""

import os
import time

from . import processes

_LOOPS = 3_000_000
# What the loops below take on an idle machine of the kind above.
_USUAL = 0.17


def _piece():
	began = time.monotonic()
	count = 0
	for number in range(_LOOPS):
		count += number & 3
	return time.monotonic() - began


def slowness():
	"""How many times as long as it should everything takes now, at least 1.

	Each processor is kept busy at the niceness of this process, as tests do it.
	"""
	number = len(os.sched_getaffinity(0))
	took = [seconds for seconds in processes.side_by_side([_piece] * number, number) if seconds]
	return max([1.0, *(seconds / _USUAL for seconds in took)])


class Limit:
	"""The end of what may take @seconds on an idle machine, from now on.

	How slow the machine is, is looked at when they have passed, and again when as many more have. @grows: False for
	a limit that somebody asked for.
	"""

	def __init__(self, seconds, grows=True):
		self._seconds = self._allowed = seconds
		self._grows = grows
		self._began = time.monotonic()

	def is_over(self):
		"""Whether it has passed."""
		took = time.monotonic() - self._began
		if took > self._allowed and self._grows:
			self._allowed = max(self._allowed, self._seconds * slowness())
		return took > self._allowed
