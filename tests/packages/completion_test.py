# SPDX-License-Identifier: MIT
"""Completion in bash: every program's options, as its --help has them."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

COMPLETION, PROGRAMS = Path(sys.argv[1]), [Path(path) for path in sys.argv[2:]]
# What the package bash-completion has, as far as it is used.
SHELL = '''
_init_completion() { cur=${words_now[-1]} prev=${words_now[-2]}; }
_filedir() { COMPREPLY=(a-file); }
. "$1"
program=$2
shift 2
words_now=("$program" "$@")
_nvdla "$program" "${words_now[-1]}" "${words_now[-2]}"
printf '%s\\n' "${COMPREPLY[@]}"
'''


def complete(program, *words):
	said = subprocess.run(['bash', '-c', SHELL, 'bash', str(COMPLETION), str(program), *words],
			      capture_output=True, text=True, check=True)
	return said.stdout.split()


class Completion(unittest.TestCase):
	def test_options_are_those_of_the_help(self):
		for program in PROGRAMS:
			with self.subTest(program.name):
				text = subprocess.run([program, '--help'], capture_output=True, text=True, check=True).stdout
				options = set(re.findall(r'^  (?:-\w,)?(--[a-z-]+)', text, re.MULTILINE))
				self.assertIn('--help', options)
				self.assertLessEqual(options, set(complete(program, '--')))

	def test_a_started_option(self):
		run = next(program for program in PROGRAMS if program.name == 'nvdla-run')
		self.assertEqual(complete(run, '--rep'), ['--repeat'])

	def test_devices(self):
		self.assertIn('embedded', complete(PROGRAMS[0], '--device', ''))

	def test_anything_else_is_a_file(self):
		self.assertEqual(complete(PROGRAMS[0], 'x'), ['a-file'])

	def test_every_program_has_it(self):
		names = {program.name for program in PROGRAMS}
		self.assertLessEqual(names, set(COMPLETION.read_text().split()))
		packages = ''.join(path.read_text() for path in COMPLETION.parent.glob('*.bash-completion'))
		self.assertEqual({line.split()[1] for line in packages.splitlines()}, names)


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
