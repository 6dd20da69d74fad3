#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Insert the output of programs into a page of the documentation.

The text between "<!-- PROGRAM ARGUMENTS -->" and "<!-- end -->" in the page is replaced by what the
program prints. If the old text was in a code block, the new text is in one, too. Environment
variables in the arguments are replaced. The old text stays if such a variable is not set, or if the
program is not one of the given programs. The programs run in a temporary folder; pictures (*.svg)
that they write there are moved to the folder of the page.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r'<!-- (?P<command>(?P<program>[\w-]+)( .*?)?) -->\n(?P<old>.*?)<!-- end -->', re.DOTALL)
FENCE = '```\n'


def fill(text, programs, folder):
	"""Return the text of a page with the new output of its programs, which run in the folder.
	programs: {name: path}."""
	def run(block):
		command = os.path.expandvars(block['command'])
		if block['program'] not in programs:
			return block[0]
		if '$' in command:
			print(f'left alone, for lack of a variable: {command}', flush=True)
			return block[0]
		print(command, flush=True)
		output = subprocess.run([programs[block['program']], *shlex.split(command)[1:]], check=True, text=True,
					cwd=folder, stdout=subprocess.PIPE).stdout
		output = output.strip('\n') + '\n' if output.strip() else ''
		if block['old'].startswith(FENCE):
			output = f'{FENCE}{output}{FENCE}'
		return f'<!-- {block["command"]} -->\n{output}<!-- end -->'

	return BLOCK.sub(run, text)


def put(path, content, check):
	"""Write a file. With check, exit instead with an error if the file has other content."""
	if not check:
		path.write_text(content, encoding='utf-8')
	elif not path.exists() or path.read_text(encoding='utf-8') != content:
		sys.exit(f'{path} is not what the programs print: have it written anew, without --check')


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('page', type=Path, help='the page (Markdown)')
	parser.add_argument('programs', metavar='program', nargs='*', type=Path, help='path of a program that may run')
	parser.add_argument('--check', action='store_true', help='change nothing; fail if something would change')
	options = parser.parse_args()
	programs = {path.name: path.resolve() for path in options.programs}
	with tempfile.TemporaryDirectory() as folder:
		put(options.page, fill(options.page.read_text(encoding='utf-8'), programs, folder), options.check)
		for picture in Path(folder).glob('*.svg'):
			put(options.page.parent / picture.name, picture.read_text(encoding='utf-8'), options.check)


if __name__ == '__main__':
	main()
