#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measure again what Documentation/performance.md shows.

In the page, "<!-- PROGRAM ARGUMENTS -->" is followed by what the program printed, up to "<!-- end -->".
Variables of the environment in the arguments are replaced.
"""

import os
import re
import subprocess
import sys

BLOCK = re.compile(r'<!-- (?P<command>\S+-bench.*?) -->\n.*?<!-- end -->', re.DOTALL)


def main(programs, page):
	def measure(block):
		command = block['command']
		print(command, flush=True)
		program, *arguments = os.path.expandvars(command).split()
		output = subprocess.run([os.path.join(programs, program), *arguments], check=True, text=True,
					stdout=subprocess.PIPE).stdout
		return f'<!-- {command} -->\n{output.strip()}\n<!-- end -->'

	with open(page, encoding='utf-8') as file:
		text = file.read()
	text = BLOCK.sub(measure, text)
	with open(page, 'w', encoding='utf-8') as file:
		file.write(text)


if __name__ == '__main__':
	if len(sys.argv) != 3:
		sys.exit(f'usage: {sys.argv[0]} PROGRAMS PAGE')
	main(sys.argv[1], sys.argv[2])
