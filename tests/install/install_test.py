# SPDX-License-Identifier: MIT
"""The installed package: an application finds all it needs with pkg-config, and runs."""

import json
import os
import site
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

MESON, COMPILER, BUILD, SOURCE, PREFIX = sys.argv[1:6]
TUTORIAL = Path(SOURCE) / 'Documentation/tutorial/classify.cpp'


def run(*command, **options):
	return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


class Installed(unittest.TestCase):
	@classmethod
	def setUpClass(cls):
		folder = tempfile.TemporaryDirectory()
		cls.addClassCleanup(folder.cleanup)
		cls.root = Path(folder.name)
		said = run(MESON, 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', cls.root)
		if said.returncode:
			raise AssertionError(said.stdout + said.stderr)
		cls.prefix = cls.root / PREFIX.lstrip('/')
		cls.package = next(cls.prefix.rglob('nvdla.pc'))
		cls.environment = dict(os.environ, PKG_CONFIG_PATH=str(cls.package.parent))
		cls.application = cls.root / 'classify'
		cls.build(TUTORIAL, cls.application)
		cls.environment['LD_LIBRARY_PATH'] = str(cls.package.parent.parent)

	@classmethod
	def build(cls, source, program, package='nvdla'):
		flags = run('pkg-config', '--cflags', '--libs', package, env=cls.environment, check=True).stdout.split()
		said = run(*COMPILER.split(), '-std=c++20', '-Wall', '-Wextra', '-Werror', source, '-o', program, *flags)
		if said.returncode:
			raise AssertionError(said.stderr)

	def good(self, *command):
		said = run(*command, env=self.environment)
		self.assertEqual(said.returncode, 0, said.stderr)
		return said.stdout

	def program(self, name):
		return self.prefix / 'bin' / name

	def test_classify_an_image(self):
		net, picture = self.root / 'net.nvdla', self.root / 'in.ppm'
		self.good(self.program('nvdla-example-net'), '-o', net, '--width', 16, '--height', 16)
		picture.write_bytes(b'P6 16 16 255\n' + bytes(range(256)) * 3)
		said = json.loads(self.good(self.program('nvdla-run'), '--loadable', net, '--input', picture, '--top', 1,
					    '--json'))
		self.assertEqual(int(self.good(self.application, net, picture)),
				 said['outputs'][0]['top'][0]['index'])

	def test_the_page_shows_the_application(self):
		shown = TUTORIAL.parent.with_suffix('.md').read_text().split('```cpp\n')[1].split('```')[0]
		code = TUTORIAL.read_text()
		self.assertGreater(len(shown.splitlines()), 10)
		for line in shown.splitlines():
			self.assertIn(line.split('    //')[0].strip(), code)

	def test_python_finds_its_package(self):
		searched = [folder for folder in site.getsitepackages() if folder.startswith(PREFIX + '/')]
		modules = [Path('/', path.relative_to(self.root)) for path in self.root.rglob('nvdla/_nvdla*.so')]
		if not searched or not modules:
			self.skipTest(f'Python searches nothing below {PREFIX}, or the package was not built')
		self.assertIn(str(modules[0].parent.parent), searched)

	def test_the_build_folder_is_enough(self):
		"""As Meson's nvdla-uninstalled.pc says."""
		program = self.root / 'uninstalled'
		with mock.patch.dict(self.environment, PKG_CONFIG_PATH=f'{BUILD}/meson-uninstalled'):
			self.build(TUTORIAL, program, 'nvdla-uninstalled')
			folder, = (word.removeprefix('-L') for word in run('pkg-config', '--libs-only-L', 'nvdla-uninstalled',
				   env=self.environment).stdout.split())
		said = run(program, '/nonexistent', 'x', env=dict(os.environ, LD_LIBRARY_PATH=folder))
		self.assertEqual(said.returncode, 1)
		self.assertIn('/nonexistent', said.stderr)

	def test_digits(self):
		data = Path(os.environ.get('NVDLA_REFERENCE_DATA', Path(SOURCE).parent / 'shared')) / 'loadables'
		if not data.is_dir():
			self.skipTest('no reference data: set NVDLA_REFERENCE_DATA')
		for digit, name in ((1, 'one'), (3, 'three'), (4, 'four'), (5, 'five'), (7, 'seven')):
			said = self.good(self.application, data / 'NN_L0_0_fbuf', data / f'digits/{name}.pgm')
			self.assertEqual(int(said), digit)

	def test_errors_come_out(self):
		said = run(self.application, '/nonexistent', 'x', env=self.environment)
		self.assertEqual(said.returncode, 1)
		self.assertIn('/nonexistent', said.stderr)

	def test_every_header_stands_alone(self):
		headers = self.prefix / 'include/libnvdla'
		names = [path.relative_to(headers) for path in headers.rglob('*.h')]
		self.assertIn(Path('drm/nvdla_accel.h'), names)
		self.assertIn(Path('drm/nvdla_descriptors.h'), names)
		source = self.root / 'headers.cpp'
		for name in sorted(names):
			with self.subTest(str(name)):
				source.write_text(f'#include <{name}>\n#include <{name}>\nint main() {{}}\n')
				self.build(source, self.root / 'headers')

	def test_programs_are_a_target_of_their_own(self):
		"""All that is installed, and none of the tests."""
		said = run(MESON, 'introspect', '--targets', BUILD, check=True).stdout
		installed = {Path(name).relative_to(BUILD) for target in json.loads(said) if target['installed']
			     for name in target['filename'] if not name.endswith('.sh')}
		lines = (Path(BUILD) / 'build.ninja').read_text().splitlines()
		target = next(line for line in lines if line.startswith('build programs: phony '))
		built = set(map(Path, target.split()[3:]))
		self.assertEqual(installed - built, set())
		self.assertEqual([path for path in built if path.parts[0] == 'tests'], [])

	def test_every_library_is_found(self):
		"""Nothing needs a library that only the suite tree has."""
		paths = [path for path in self.prefix.rglob('*') if path.is_file() and path.read_bytes()[:4] == b'\x7fELF']
		self.assertIn(self.program('nvdla-run'), paths)
		for path in paths:
			with self.subTest(path.name):
				self.assertNotIn('not found', self.good('ldd', path))

	def test_programs_have_their_pages(self):
		programs = {path.name for path in (self.prefix / 'bin').iterdir()}
		pages = {path.stem for path in (self.prefix / 'share/man/man1').iterdir()}
		self.assertIn('nvdla-run', programs)
		self.assertEqual(programs, pages)


if __name__ == '__main__':
	unittest.main(argv=sys.argv[:1])
