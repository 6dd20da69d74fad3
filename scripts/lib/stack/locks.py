# SPDX-License-Identifier: MIT
"""Locks between scripts that run at the same time."""

import contextlib
import fcntl
import time

_SECONDS_BETWEEN_LINES = 5
# Paths of the locks that this process holds.
_held = set()


@contextlib.contextmanager
def held(path, progress, waiting):
	"""Hold the lock file @path while the body of the with statement runs. As long as another process holds the
	lock, @progress is called with the text @waiting: at once, and then every few seconds with the seconds so far.

	A process may take a lock again that it holds. The lock ends with the process, however that ends.
	"""
	if path in _held:
		yield
		return
	path.parent.mkdir(parents=True, exist_ok=True)
	with open(path, 'w') as lock:
		_wait(lock, progress, waiting)
		_held.add(path)
		try:
			yield
		finally:
			_held.remove(path)
			# A process that was started meanwhile may have a copy of the file's descriptor, which would keep the lock.
			fcntl.flock(lock, fcntl.LOCK_UN)


def _wait(lock, progress, waiting):
	began = said = None
	while True:
		with contextlib.suppress(BlockingIOError):
			fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
			return
		now = time.monotonic()
		if began is None:
			began = said = now
			progress(waiting)
		elif now - said >= _SECONDS_BETWEEN_LINES:
			said = now
			progress(f'{waiting} ({now - began:.0f} s so far)')
		time.sleep(0.2)
