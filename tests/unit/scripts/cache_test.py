# SPDX-License-Identifier: MIT
"""The compiler's cache: what one clone has compiled, another one has as well."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stack import build
from stack.paths import ROOT, build_dir

_PREFIX_MAP = '-ffile-prefix-map='
# The one file that may know where the clone is, and what of it is given a path of this system.
_PLACES = 'tests/support/places.cpp'


def commands():
	return json.loads((build_dir() / 'compile_commands.json').read_text())


class Commands(unittest.TestCase):
	def setUp(self):
		if ROOT not in build_dir().parents:
			self.skipTest('the build directory is not in the clone: its paths are absolute')

	def test_they_do_not_say_where_the_clone_is(self):
		"""A path would be part of what the cache is asked for."""
		for command in commands():
			if command['file'].endswith(_PLACES):
				continue
			words = [word for word in shlex.split(command['command']) if not word.startswith(_PREFIX_MAP)]
			with self.subTest(command['file']):
				self.assertFalse([word for word in words if str(ROOT) in word])

	def test_nor_does_what_is_compiled(self):
		for command in commands():
			if command['command'].split()[-1].endswith(('.c', '.cpp')):
				self.assertIn(f'{_PREFIX_MAP}{ROOT}=.', command['command'], command['file'])


@unittest.skipUnless(shutil.which('ccache') and shutil.which('g++'), 'there is no ccache')
class Clones(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name).resolve()

	def clone(self, name):
		"""A folder with a source that has its own name in it, and one that Meson makes of such for a group."""
		root = self.folder / name
		for path, text in {'source/name.h': 'inline const char *name() { return __FILE__; }\n',
				   'source/one.cpp': '#include "name.h"\nint one() { return *name(); }\n',
				   'build/group.cpp': f'#include<{root}/source/one.cpp>\n'}.items():
			(root / path).parent.mkdir(parents=True, exist_ok=True)
			(root / path).write_text(text)
		return root

	def compile(self, root, source):
		"""Compile @source as ninja would in this clone; returns what the object depends on."""
		variables = {name: value for name, value in os.environ.items() if not name.startswith('CCACHE_')}
		with mock.patch.object(build, 'ROOT', root), mock.patch.dict(os.environ, variables, clear=True):
			environment = build._environment()
		environment |= {'CCACHE_DIR': str(self.folder / 'cache'), 'CCACHE_CONFIGPATH': '/dev/null'}
		subprocess.run(['ccache', 'g++', '-g1', f'{_PREFIX_MAP}{root}=.', '-MD', '-MF', 'one.d', '-c', source, '-o', 'one.o'],
			       cwd=root / 'build', env=environment, check=True)
		said = subprocess.run(['ccache', '--print-stats'], env=environment, check=True, capture_output=True, text=True).stdout
		counters = dict(line.split('\t')[:2] for line in said.splitlines())
		self.hits = int(counters['direct_cache_hit']) + int(counters['preprocessed_cache_hit'])
		return (root / 'build/one.d').read_text()

	def test_a_second_one_compiles_nothing(self):
		first, second = self.clone('first'), self.clone('second')
		for hits, source in enumerate(('../source/one.cpp', 'group.cpp'), 1):
			with self.subTest(source):
				self.compile(first, source)
				depends = self.compile(second, source)
				self.assertEqual(self.hits, hits)
				# It is compiled again when its own files change.
				self.assertNotIn(str(first), depends)
				self.assertEqual((first / 'build/one.o').read_bytes(), (second / 'build/one.o').read_bytes())


if __name__ == '__main__':
	unittest.main(argv=['cache_test'])
