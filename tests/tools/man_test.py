# SPDX-License-Identifier: MIT
"""Manual pages: each program has one, with the options of its --help, no more and no fewer."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

PAGES = Path(sys.argv[1])
PROGRAMS = [Path(argument) for argument in sys.argv[2:]]


def options_of_help(text):
	"""The options that a help text lists: its lines that begin with one, up to the first blank."""
	return {option for line in text.splitlines() if line.startswith('  -')
		for option in line.split()[0].rstrip(',').split(',')}


def options_of_page(text):
	"""The options that a page in mdoc lists: .It Fl x , Fl -long Ar value"""
	return {'-' + option for line in text.splitlines() if line.startswith('.It Fl')
		for option in re.findall(r'\bFl (\S+)', line)}


class ManualPages(unittest.TestCase):
	def test_options(self):
		self.assertTrue(PROGRAMS)
		for program in PROGRAMS:
			with self.subTest(program.name):
				page = (PAGES / f'{program.name}.1').read_text()
				said = subprocess.run([program, '--help'], capture_output=True, text=True, check=True)
				self.assertEqual(options_of_page(page), options_of_help(said.stdout))

	def test_no_page_without_a_program(self):
		names = {program.name for program in PROGRAMS}
		self.assertEqual({page.stem for page in PAGES.glob('*.1')}, names)

	@unittest.skipUnless(shutil.which('mandoc'), 'mandoc is not installed')
	def test_mandoc_has_no_complaint(self):
		for page in sorted(PAGES.glob('*.1')):
			with self.subTest(page.name):
				said = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning', page], capture_output=True,
						      text=True)
				self.assertEqual(said.stdout + said.stderr, '')


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
