# SPDX-License-Identifier: MIT
"""Packages: which sources they are made of, what they depend on."""

import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stack import package, packagetest, results
from stack.console import Failure
from stack.paths import ROOT


class Sources(unittest.TestCase):
	def test_everything_but_what_was_made(self):
		with tempfile.TemporaryDirectory() as folder:
			target = Path(folder, 'nvdla')
			package._copy_sources(target)
			for name in ('meson.build', 'scripts/build-kmd', 'scripts/lib/stack/build.py', 'umd/meson.build'):
				self.assertEqual((target / name).read_bytes(), (ROOT / name).read_bytes())
			for name in ('build', 'out', '.git'):
				self.assertFalse((target / name).exists())

	def test_what_is_gone_goes_and_what_was_compiled_stays(self):
		with tempfile.TemporaryDirectory() as folder:
			target = Path(folder, 'nvdla')
			for name in ('kmd/gone.c', 'gone.txt', 'obj-x/kept.o'):
				(target / name).parent.mkdir(parents=True, exist_ok=True)
				(target / name).touch()
			package._copy_sources(target)
			self.assertFalse((target / 'kmd/gone.c').exists() or (target / 'gone.txt').exists())
			self.assertTrue((target / 'obj-x/kept.o').exists())


class Control(unittest.TestCase):
	def test_build_depends_are_names(self):
		names = package._build_depends()
		self.assertIn('meson', names)
		self.assertIn('pkgconf', names)
		for name in names:
			self.assertTrue(re.fullmatch(r'[a-z0-9][a-z0-9.+-]+', name), name)

	def test_nothing_is_left_to_fill_in(self):
		with tempfile.TemporaryDirectory() as folder:
			package._write_debian(Path(folder), 13, package.default_version(13))
			for path in Path(folder, 'debian').glob('*'):
				if path.is_file():
					self.assertIsNone(re.search(r'@[A-Z_]+@', path.read_text()), path.name)
			changelog = Path(folder, 'debian/changelog').read_text()
		self.assertTrue(changelog.startswith(f'nvdla ({package.project_version()}~deb13) trixie;'), changelog)


class Guest(unittest.TestCase):
	def test_without_a_system_to_install_in(self):
		for ci, outcome in (('true', results.FAILED), ('', results.SKIPPED)):
			with self.subTest(ci=ci), mock.patch.dict('os.environ', CI=ci), \
					mock.patch('stack.debian_tree.ensure', side_effect=Failure('the mirror is gone')):
				case, = packagetest.run(None, lambda text: None)
				self.assertEqual(case.outcome, outcome)
				self.assertIn('the mirror is gone', case.message)


if __name__ == '__main__':
	unittest.main()
