# SPDX-License-Identifier: MIT
"""Packages: which sources they are made of, what they depend on."""

import re
import shutil
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
		for release, has_onnx in ((12, False), (13, True)):
			names = package._build_depends(release)
			self.assertIn('meson', names)
			self.assertIn('pkgconf', names)
			self.assertEqual('libonnxruntime-dev' in names, has_onnx)
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


class CompiledForTheGuest(unittest.TestCase):
	"""Two versions of the packages have the same driver in them."""

	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		self.runs = 0

	def job(self, version, source='a', status=0):
		"""What comes of a job that make.sh has made in the guest: the module, or None."""
		job = self.folder / 'job'
		shutil.rmtree(job, ignore_errors=True)
		(job / 'build/kmd').mkdir(parents=True)
		(job / 'build/kmd/nvdla.c').write_text(source)
		(job / 'build/dkms.conf').write_text(version)
		(job / 'build/make.log').write_text(version)
		(job / 'directory').write_text(f'/var/lib/dkms/{version}\n')
		(job / 'arguments').write_text(f'-C\n/headers\nM=/var/lib/dkms/{version}/kmd\n')

		def make(*arguments):
			self.runs += 1
			if status == 0:
				(job / 'build/kmd/nvdla.ko').write_text(f'module of {source}')
			return status

		with (mock.patch.object(packagetest.namespace, 'inside'),
		      mock.patch.object(packagetest.processes, 'run_logged', side_effect=make)):
			packagetest._compile(Path('/system'), job, self.folder / 'compiled')
		self.assertEqual((job / 'status').read_text(), f'{status}\n')
		self.assertEqual((job / 'build/dkms.conf').read_text(), version)
		module = job / 'build/kmd/nvdla.ko'
		return module.read_text() if module.is_file() else None

	def test_the_next_version_is_not_compiled_again(self):
		self.assertEqual([self.job('1'), self.job('2'), self.runs], ['module of a', 'module of a', 1])

	def test_other_sources_are(self):
		self.assertEqual([self.job('1'), self.job('2', 'b'), self.runs], ['module of a', 'module of b', 2])

	def test_a_failure_is_not_kept(self):
		self.assertEqual([self.job('1', status=2), self.job('2'), self.runs], [None, 'module of a', 2])


if __name__ == '__main__':
	unittest.main()
