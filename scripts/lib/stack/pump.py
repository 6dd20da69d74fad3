# SPDX-License-Identifier: MIT
"""Pipes through which the guest's outputs reach this process."""

import contextlib
import os
import threading


class Pump(threading.Thread):
	"""Passes the output of a pipe to a callable, until the writer closes it."""

	def __init__(self, sink):
		super().__init__(daemon=True)
		self._sink = sink
		self._reader, self.writer = os.pipe()
		os.set_inheritable(self.writer, True)

	def run(self):
		while chunk := os.read(self._reader, 65536):
			# If nobody reads this program's output any more, drop the output, but go on reading the pipe:
			# the guest would wait if the pipe were full.
			with contextlib.suppress(BrokenPipeError):
				self._sink(chunk)
		os.close(self._reader)

	def close_writer(self):
		"""Close this process's copy of the pipe's write end, so that the pipe ends when QEMU closes its
		own."""
		os.close(self.writer)
		self.writer = None

	def finish(self):
		if self.writer is not None:
			self.close_writer()
		self.join(2.0)
