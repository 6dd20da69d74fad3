# SPDX-License-Identifier: MIT
"""scripts/vm --gdb: gdb stops in the driver and shows the line of the source tree."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import unittest

from stack.paths import ROOT

# What the program below makes the driver do: {function: its file}.
_STOPS = {'nvdla_pci_probe': 'kmd/nvdla_pci.c', 'nvdla_open': 'kmd/nvdla_drv.c'}
_COMMAND = ['sh', '-c', 'exec 3<>/dev/accel/accel0; echo opened']
_SECONDS = 300


def lines_of(function, name):
	"""The numbers of the lines of a C @function in the file @name, and the file's lines."""
	lines = (ROOT / name).read_text().splitlines()
	first = next(number for number, line in enumerate(lines, 1)
		     if re.match(rf'\w.*\b{function}\(', line) and not line.endswith(';'))
	last = next(number for number in range(first, len(lines)) if lines[number - 1] == '}')
	return range(first, last + 1), lines


class Gdb(unittest.TestCase):
	def guest(self):
		"""A guest that waits for gdb: its process, and the command line that it says."""
		with socket.create_server(('127.0.0.1', 0)) as free:
			port = free.getsockname()[1]
		guest = subprocess.Popen([ROOT / 'scripts/vm', '--gdb', str(port), '--timeout', str(_SECONDS), '--', *_COMMAND],
					 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
		self.addCleanup(guest.stdout.close)
		self.addCleanup(guest.wait)
		self.addCleanup(guest.terminate)
		said = []
		for line in guest.stdout:
			said.append(line)
			found = re.search(r'(gdb -x \S+)$', line)
			if found:
				return guest, found.group(1).split()
		self.fail(''.join(said))

	def test_it_stops_in_the_driver(self):
		guest, gdb = self.guest()
		said = []
		reader = threading.Thread(target=lambda: said.extend(guest.stdout))
		reader.start()
		words = ['break ' + function for function in _STOPS] + ['continue', 'bt 1'] * len(_STOPS) + ['detach']
		ran = subprocess.run([*gdb, '-batch', '-nx', *(word for line in words for word in ('-ex', line))],
				     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, timeout=_SECONDS)
		stops = re.findall(r'Breakpoint \d+, (\w+) \(.*\) at (\S+):(\d+)\n(\d+)\t(.*)', ran.stdout)
		self.assertEqual([stop[0] for stop in stops], list(_STOPS), ran.stdout)
		for function, path, number, shown, text in stops:
			numbers, lines = lines_of(function, _STOPS[function])
			self.assertEqual(path, str(ROOT / _STOPS[function]))
			self.assertIn(int(number), numbers)
			self.assertEqual((shown, text), (number, lines[int(number) - 1]))
		reader.join()
		self.assertEqual(guest.wait(), 0, ''.join(said))
		self.assertIn('opened\n', said)


if __name__ == '__main__':
	if 'NVDLA_QEMU' not in os.environ:
		print('no guest is asked for: scripts/test without --quick runs this')
		sys.exit(77)
	if not shutil.which('gdb'):
		print('gdb is not installed')
		sys.exit(77)
	unittest.main()
