# SPDX-License-Identifier: MIT
"""What all scripts have in common: a help with an example, and wrong options named in one line."""

import os
import subprocess
import unittest
from concurrent import futures

from stack.paths import ROOT

_SCRIPTS = ('build-kmd', 'check-arm64', 'check-kmd', 'kernel-debug', 'package', 'run', 'setup', 'test', 'upstream', 'vm')


class EachScript(unittest.TestCase):
	def each(self, option, scripts=_SCRIPTS):
		"""(script, what it says to this option), all at the same time."""
		def run(script):
			return subprocess.run([ROOT / 'scripts' / script, option], capture_output=True, text=True,
					      env=dict(os.environ, COLUMNS='100'))
		with futures.ThreadPoolExecutor() as pool:
			return list(zip(scripts, pool.map(run, scripts)))

	def test_help_has_an_example(self):
		for script, said in self.each('--help', (*_SCRIPTS, 'gen-registers', 'public-traces')):
			with self.subTest(script):
				lines = said.stdout.splitlines()
				self.assertTrue(any(line.startswith(f'Example: scripts/{script}') for line in lines))
				self.assertLessEqual(max(map(len, lines)), 100)

	def test_a_wrong_option_is_named_in_one_line(self):
		for script, said in self.each('--hepl'):
			with self.subTest(script):
				self.assertEqual((said.returncode, said.stderr), (2, (
					f'scripts/{script}: there is no option --hepl; did you mean --help?; see scripts/{script} --help\n')))


if __name__ == '__main__':
	unittest.main()
