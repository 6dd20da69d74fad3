# SPDX-License-Identifier: MIT
"""The shell of scripts/vm: its prompt, and programs that it leaves running."""

import os
import pty
import signal
import subprocess
import sys
import threading
import unittest

from stack.paths import ROOT

_PROMPT = b'nvdla guest:'
_SECONDS = 300
# A process in the background that has the device open when the shell ends.
_LINES = [b'sleep 1000 3<>/dev/accel/accel0 &\n', b'exit\n']


def said_to(guest, terminal):
	"""What @guest writes to @terminal. It gets a line of _LINES at each prompt."""
	said, lines, prompts = b'', list(_LINES), 0
	while True:
		try:
			more = os.read(terminal, 4096)
		except OSError:  # the guest has closed its end
			return said
		if not more:
			return said
		said += more
		while lines and said.count(_PROMPT + b'/') > prompts:
			prompts += 1
			os.write(terminal, lines.pop(0))


class Shell(unittest.TestCase):
	def test_what_it_leaves_running_is_ended(self):
		ours, its = pty.openpty()
		self.addCleanup(os.close, ours)
		# The errors, which are about the guest, must not come through the terminal.
		guest = subprocess.Popen([ROOT / 'scripts/vm'], stdin=its, stdout=its, stderr=subprocess.PIPE, text=True,
					 start_new_session=True, cwd=ROOT)
		os.close(its)
		too_long = threading.Timer(_SECONDS, os.killpg, (guest.pid, signal.SIGKILL))
		too_long.start()
		self.addCleanup(too_long.cancel)
		errors = []
		reader = threading.Thread(target=lambda: errors.append(guest.stderr.read()))
		reader.start()
		said = said_to(guest, ours)
		status = guest.wait()
		reader.join()
		guest.stderr.close()
		self.assertEqual(status, 0, said.decode(errors='replace') + errors[0])
		self.assertGreaterEqual(said.count(_PROMPT), len(_LINES))


if __name__ == '__main__':
	if 'NVDLA_QEMU' not in os.environ:
		print('no guest is asked for: scripts/test without --quick runs this')
		sys.exit(77)
	unittest.main()
