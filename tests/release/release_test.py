# SPDX-License-Identifier: MIT
"""A source release has everything that the repository has, and asks for no git."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

MESON, BUILD, SOURCE = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
GENERATED = ('include/nvdla/hw/registers.h', 'include/nvdla/hw/register_table.h')
# What they are generated from, and with.
ORIGINS = ('include/nvdla/hw', 'scripts/gen-registers', 'scripts/lib/registers')
# Containers often show a clone that belongs to somebody else.
TRUSTING = dict(os.environ, GIT_CONFIG_COUNT='1', GIT_CONFIG_KEY_0='safe.directory', GIT_CONFIG_VALUE_0='*')


def git(*words):
	return subprocess.run(['git', '-C', SOURCE, *words], capture_output=True, text=True, env=TRUSTING, check=True).stdout


class Release(unittest.TestCase):
	@classmethod
	def setUpClass(cls):
		if not (SOURCE / '.git').exists() or not shutil.which('git'):
			raise unittest.SkipTest('a release is made from a clone, with git: these sources are none, or there is no git')
		folder = tempfile.TemporaryDirectory()
		cls.addClassCleanup(folder.cleanup)
		root = Path(folder.name)
		said = subprocess.run([MESON, 'dist', '-C', BUILD, '--no-tests', '--allow-dirty', '--formats', 'gztar'],
				      capture_output=True, text=True, env=TRUSTING)
		if said.returncode:
			raise AssertionError(said.stdout + said.stderr)
		project = json.loads(cls.introspect(BUILD, '--projectinfo'))
		cls.name, cls.version = f'nvdla-{project["version"]}', project['version']
		with tarfile.open(BUILD / 'meson-dist' / f'{cls.name}.tar.gz') as archive:
			cls.files = {member.name for member in archive if not member.isdir()}
			archive.extractall(root)
		# Who asks for git is written down.
		cls.asked = root / 'asked'
		trap = root / 'trap' / 'git'
		trap.parent.mkdir()
		trap.write_text(f'#!/bin/sh\necho "$PPID: git $*" >>"{cls.asked}"\nexit 127\n')
		trap.chmod(0o755)
		cls.environment = dict(os.environ, PATH=f'{trap.parent}:{os.environ["PATH"]}')
		cls.build = root / 'build'
		said = cls.run_in_release(MESON, 'setup', cls.build)
		if said.returncode:
			raise AssertionError(said.stdout + said.stderr)

	@classmethod
	def run_in_release(cls, *command):
		return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=cls.environment,
				      cwd=cls.build.parent / cls.name)

	@staticmethod
	def introspect(build, what):
		return subprocess.run([MESON, 'introspect', what, build], capture_output=True, text=True, check=True).stdout

	def good(self, *command):
		said = self.run_in_release(*command)
		self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
		self.assertFalse(self.asked.exists(), self.asked.read_text() if self.asked.exists() else '')

	def test_everything_is_in_it(self):
		tracked = {f'{self.name}/{path}' for path in git('ls-tree', '-rz', '--name-only', 'HEAD').split('\0') if path}
		self.assertEqual(self.files ^ tracked, set())

	def test_it_is_configured_without_git(self):
		self.good('true')
		self.assertEqual(json.loads(self.introspect(self.build, '--projectinfo'))['version'], self.version)

	def test_every_file_that_the_build_takes_is_there(self):
		self.good('ninja', '-C', self.build, '-n')

	def test_what_is_generated_is_the_same(self):
		if git('status', '--porcelain', '--', *ORIGINS):
			self.skipTest(f'what is in {" and ".join(ORIGINS)} is not committed')
		self.good('ninja', '-C', self.build, *GENERATED)
		for name in GENERATED:
			self.assertEqual((self.build / name).read_bytes(), (BUILD / name).read_bytes(), name)

	def test_the_scripts_work(self):
		tests = json.loads(self.introspect(self.build, '--tests'))
		# Patches are made, and looked at, with git.
		names = [test['name'] for test in tests
			 if test['name'].startswith('scripts-') and test['name'] != 'scripts-upstream']
		self.assertTrue(names)
		self.good(MESON, 'test', '-C', self.build, '--no-rebuild', '--print-errorlogs', *names)


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
