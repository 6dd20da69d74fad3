# SPDX-License-Identifier: MIT
"""What Documentation/coming-from-nvdla-sw.md promises: its commands run, and what its tables name is there."""

import os
import re
import shlex
import shutil
import unittest
from pathlib import Path

from programs import PROGRAMS, ProgramTest, call

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = (_ROOT / 'Documentation' / 'coming-from-nvdla-sw.md').read_text()
_DATA = Path(os.environ.get('NVDLA_REFERENCE_DATA') or _ROOT.parent / 'shared') / 'loadables'
_LENET = _DATA / 'compiled' / 'lenet_trained' / 'nv_full_int8_fast-math.nvdla'
_SEVEN = _DATA / 'nv_small' / 'lenet_mnist' / 'seven.pgm'
_CAFFE = _DATA / 'nv_small' / 'rgbnet'
# The name that the installed link has.
PROGRAMS['nvdla_runtime'] = PROGRAMS['nvdla-run']


def _section(name):
	return re.search(rf'^## {name}\n(.*?)(?=^## |\Z)', _PAGE, re.MULTILINE | re.DOTALL)[1]


def _commands():
	"""The lines of the page that are for a shell."""
	return [shlex.split(line) for block in re.findall(r'^```sh\n(.*?)^```', _PAGE, re.MULTILINE | re.DOTALL)
		for line in block.splitlines()]


def _cells(section, column):
	return ' '.join(line.split('|')[column] for line in section.splitlines() if line.startswith('| ') and line.count('|') >= 3)


@unittest.skipUnless(all(path.exists() for path in (_LENET, _SEVEN, _CAFFE)), 'no reference data')
class CommandsTest(ProgramTest):
	def setUp(self):
		super().setUp()
		for path, name in ((_LENET, 'lenet.nvdla'), (_SEVEN, 'seven.pgm'), (_CAFFE / 'net.prototxt', 'deploy.prototxt'),
				   (_CAFFE / 'net.caffemodel', 'deploy.caffemodel'), (_CAFFE / 'calib.json', 'table.json'),
				   (_ROOT / 'umd/examples/chelsea.png', 'cat.png')):
			shutil.copy(path, self.folder / name)

	def run_in_folder(self, command):
		said = call(*command, cwd=self.folder)
		self.assertEqual(said.returncode, 0, f'{command}: {said.stderr}')
		return said

	def test_each_command_runs(self):
		self.assertEqual(len(_commands()), 3)
		for command in _commands():
			self.run_in_folder(command)
		self.assertTrue((self.folder / 'output.dimg').is_file())
		self.assertTrue((self.folder / 'net.nvdla').is_file())

	def test_what_the_loadable_holds(self):
		self.assertIn('input: data 1x1x28x28', self.run_in_folder(['nvdla-info', 'lenet.nvdla']).stdout)

	def test_the_model_device_is_said(self):
		self.assertIn('on embedded', self.run_in_folder(_commands()[0]).stdout)

	def test_the_server_is_refused(self):
		for option in ('-s', '-i'):
			self.assertNotEqual(call('nvdla_runtime', option, 'x', cwd=self.folder).returncode, 0)

	def test_options_of_the_table_are_taken(self):
		pictures = self.folder / 'pictures'
		pictures.mkdir()
		shutil.copy(self.folder / 'cat.png', pictures)
		for options in (('--calibrate', 'pictures/'), ('--calibration-table', 'table.json'), ('--calibrate', 'pictures/', '--target', 'nv_small'),
				('--calibration-table', 'table.json', '--target', 'nv_small'), ('--strategy', 'auto')):
			self.run_in_folder(['nvdla-compile', 'deploy.prototxt', '-o', 'net.nvdla', *options])

	def test_a_batch_is_the_files(self):
		net = (self.folder / 'deploy.prototxt').read_text()
		(self.folder / 'deploy.prototxt').write_text(net.replace('dim: 1 ', 'dim: 2 ', 1))
		self.run_in_folder(['nvdla-compile', 'deploy.prototxt', '-o', 'net.nvdla'])
		self.assertIn('input: data 2x3x24x24', self.run_in_folder(['nvdla-info', 'net.nvdla']).stdout)


class NamesTest(unittest.TestCase):
	def test_options_exist(self):
		helps = call('nvdla-run', '--help').stdout + call('nvdla-compile', '--help').stdout
		known = set(re.findall(r'--[a-z][a-z-]*', helps))
		section = _section('Run a loadable that you have')
		named = set(re.findall(r'`(?:nvdla-run )?(--[a-z][a-z-]*)', section + _cells(_section('Compile a Caffe net'), 2)))
		self.assertGreater(len(named), 8)
		self.assertLessEqual(named, known)

	def test_functions_exist(self):
		headers = '\n'.join(path.read_text() for path in (_ROOT / 'umd/include/nvdla').glob('*.h'))
		named = set(re.findall(r'(\w+)\(', _cells(_section('Port a program').split('| ioctl')[0], 2)))
		self.assertGreater(len(named), 8)
		for name in named:
			self.assertRegex(headers, rf'\b{name}\(')

	def test_ioctls_exist(self):
		header = (_ROOT / 'include/uapi/drm/nvdla_accel.h').read_text()
		named = set(re.findall(r'DRM_IOCTL_NVDLA_\w+', _PAGE))
		self.assertEqual(len(named), 4)
		for name in named:
			self.assertRegex(header, rf'#define {name}\b')

	def test_compatibles_are_the_drivers(self):
		driver = '\n'.join(path.read_text() for path in (_ROOT / 'kmd').glob('*.c'))
		named = set(re.findall(r'`(nvidia,\w+)`', _PAGE))
		self.assertEqual(named, set(re.findall(r'"(nvidia,nv\w+)"', driver)))


if __name__ == '__main__':
	unittest.main(argv=[__file__])
