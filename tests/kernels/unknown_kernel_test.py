# SPDX-License-Identifier: MIT
"""A day on which the newest kernel is one that the driver does not build for: scripts/run makes its
picture all the same, and scripts/test says what it did not test.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pretend
from stack.paths import ROOT


class UnknownKernel(unittest.TestCase):
	@classmethod
	def setUpClass(cls):
		folder = tempfile.TemporaryDirectory()
		cls.addClassCleanup(folder.cleanup)
		cls.folder = Path(folder.name)
		cls.kernel = pretend.make(cls.folder / 'kernel')

	def script(self, name, *arguments, status=0, **variables):
		"""What scripts/@name prints."""
		environment = dict(os.environ, NVDLA_GUEST='tree', NVDLA_KERNEL=str(self.kernel), **variables)
		ran = subprocess.run([ROOT / 'scripts' / name, *arguments], env=environment, text=True,
				     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
		self.assertEqual(ran.returncode, status, ran.stdout)
		return ran.stdout

	def test_run_takes_the_next_one_and_says_so_in_one_line(self):
		picture = self.folder / 'edges.png'
		said = self.script('run', '--output', str(picture))
		self.assertTrue(picture.read_bytes().startswith(b'\x89PNG'))
		line, = [line for line in said.splitlines() if 'passed over' in line]
		self.assertRegex(line, fr'Linux {pretend.RELEASE} is passed over, .*\.c:\d+:\d+: error: .*{pretend.MISSING}')
		log = Path(re.search(r'log: (\S+)$', line).group(1))
		self.assertIn(pretend.MISSING, log.read_text())
		self.assertNotIn(f'Linux {pretend.RELEASE} (iommu)', said)

	def test_test_skips_it_in_words(self):
		in_ci = os.environ.get('CI') == 'true'
		said = self.script('test', '--kernel', pretend.SERIES, f'vm-{pretend.SERIES}-iommu.smoke', status=in_ci)
		lines = said.splitlines()
		if in_ci:
			self.assertEqual(lines[-1], '0 passed, 1 failed')
		else:
			self.assertEqual(lines[-1], '0 passed, 0 failed, 1 skipped')
			self.assertRegex(lines[-2], fr'^skipped: vm-{pretend.SERIES}-iommu.smoke: Linux {pretend.RELEASE}, newer '
					 fr'than the known ones \(.*\), is passed over: .*{pretend.MISSING}.*; log: /\S+$')


if __name__ == '__main__':
	if 'NVDLA_QEMU' not in os.environ:
		print('no guest is asked for: scripts/test without --quick runs this')
		sys.exit(77)
	unittest.main()
