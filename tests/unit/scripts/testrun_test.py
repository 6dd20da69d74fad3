# SPDX-License-Identifier: MIT
"""scripts/test before it runs anything: its list of tests, and what it builds for those that are asked for."""

import argparse
import contextlib
import io
import unittest
from pathlib import Path
from unittest import mock

from stack import build, debug_kernel, guest, guest_tree, kernels, packagetest, results, setup, suite_tree, testrun
from stack.console import Failure
from stack.paths import build_dir

_NEVER = AssertionError('not for a list of names')


class TestCase(unittest.TestCase):
	def setUp(self):
		self.patch(build, 'configure_anew')
		self.patch(build, 'tests', return_value=[
			{'name': 'arith', 'suite': ['nvdla:arith'], 'depends': ['arith-test@exe']},
			{'name': 'uapi-embedded', 'suite': ['nvdla:umd'], 'depends': ['other@exe']},
			{'name': 'scripts-vm', 'suite': ['nvdla:scripts'], 'depends': []},
			{'name': 'qtest', 'suite': ['nvdla:qtest', 'nvdla:qemu'], 'depends': []},
			{'name': 'kernel-form', 'suite': ['nvdla:scripts', 'nvdla:kernels'], 'depends': []},
			{'name': 'python', 'suite': ['nvdla:python'], 'depends': []},
			{'name': 'install', 'suite': ['nvdla:install'], 'depends': ['other@exe']}])
		self.patch(build, 'programs', return_value=['umd/tools/nvdla-run'])
		self.patch(build, '_introspect', return_value=[
			{'id': 'arith-test@exe', 'filename': [str(build_dir() / 'tests/arith-test')]},
			{'id': 'other@exe', 'filename': [str(build_dir() / 'tests/other')]}])
		self.patch(debug_kernel, 'path', return_value=Path('/nowhere'))
		self.patch(suite_tree, 'path', return_value=Path('/nowhere'))

	def patch(self, module, name, **options):
		return self.enterContext(mock.patch.object(module, name, **options))


class List(TestCase):
	def listed(self, *arguments):
		"""The lines of scripts/test --list, which compiles nothing and makes nothing."""
		for module, name in ((build, 'build'), (guest_tree, 'ensure'), (guest, 'find'), (suite_tree, 'ensure'),
				     (packagetest, 'run')):
			self.patch(module, name, side_effect=_NEVER)
		self.patch(guest, 'series_there', return_value=['6.12', '7.3'])
		said = io.StringIO()
		with mock.patch('sys.argv', ['test', '--list', *arguments]), contextlib.redirect_stdout(said):
			self.assertEqual(testrun.main(), 0)
		return said.getvalue().splitlines()

	def test_everything(self):
		listed = self.listed()
		for name in ('arith', 'tflite', 'open-outputs', 'kmd.checkpatch', 'vm-6.12-iommu.uapi', 'vm-7.3-none.platform', 'packages'):
			self.assertIn(name, listed)
		self.assertFalse([line for line in listed if ' ' in line])

	def test_what_a_filter_chooses(self):
		self.assertEqual(self.listed('*uapi'), ['vm-6.12-iommu.uapi', 'vm-7.3-iommu.uapi'])

	def test_without_guests(self):
		self.assertFalse([line for line in self.listed('--quick') if line.startswith('vm-') or line == 'packages'])

	def test_one_kernel(self):
		listed = self.listed('--kernel', '6.12')
		self.assertEqual({line.split('-')[1] for line in listed if line.startswith('vm-')}, {'6.12'})
		self.assertIn('vm-6.12-cma.platform', listed)

	def test_the_debug_kernel(self):
		self.assertTrue(all(line.startswith('vm-debug-') for line in self.listed('--debug-kernel')))


class Filters(TestCase):
	def said(self, *arguments):
		"""The error, before anything is built or made."""
		for module, name in ((build, 'build'), (guest_tree, 'ensure'), (guest, 'find'), (suite_tree, 'ensure'),
				     (setup, 'test_data_meanwhile'), (setup, 'guest_tree_meanwhile')):
			self.patch(module, name, side_effect=_NEVER)
		self.patch(guest, 'series_there', return_value=['6.12', '7.3'])
		with mock.patch('sys.argv', ['test', *arguments]), self.assertRaises(Failure) as raised:
			testrun.main()
		self.assertEqual(raised.exception.status, 2)
		return str(raised.exception)

	def test_a_name_that_no_test_has(self):
		self.assertEqual(self.said('nosuchtest'), 'no test has nosuchtest in its name; scripts/test --list prints all names')
		self.assertEqual(self.said('arihth'), 'no test has arihth in its name; did you mean arith? scripts/test --list prints all names')
		self.assertIn('vm-6.12-iommu.uapi', self.said('vm-6.12-iomu.uapi'))
		self.assertIn('platform', self.said('plattform'))

	def test_beside_one_that_a_test_has(self):
		self.assertIn('arihth', self.said('install', 'arihth'))

	def test_only_those_of_the_options(self):
		for arguments in (['--quick', 'vm-7.3'], ['--list', 'nosuchtest'], ['--kernel', '6.12', 'vm-7.3']):
			with self.subTest(arguments):
				self.said(*arguments)


class Kernels(unittest.TestCase):
	def test_those_that_a_guest_tree_would_have(self):
		with (mock.patch.object(guest, '_choice', return_value='tree'), mock.patch.object(guest.kernels, 'known',
				return_value=('6.12', '7.3')), mock.patch.object(guest_tree, 'path', return_value=Path('/nowhere'))):
			self.assertEqual(guest.series_there(), ['6.12', '7.3'])


class Needs(TestCase):
	"""What is installed and fetched for the tests that are asked for."""

	def setUp(self):
		super().setUp()
		self.patch(guest, 'series_there', return_value=['6.12', '7.2', '7.3'])
		self.patch(kernels, 'known', return_value=('6.12', '7.2', '7.3'))

	def of(self, need, *filters, **options):
		arguments = argparse.Namespace(**{'quick': False, 'kernel': None, 'arch': None, 'filters': filters, **options})
		return need(arguments, results.chooser(filters))

	def packages(self, *filters, **options):
		return setup.test_packages(self.of(testrun._names, *filters, **options))

	def test_packages_of_the_tests(self):
		self.assertEqual(self.packages('arith', 'vm-7.3-iommu.smoke'), [])
		self.assertEqual(self.packages('onnxruntime'), ['libonnx-testdata'])
		self.assertIn('python3-matplotlib', self.packages('python'))
		self.assertEqual(self.packages(arch='riscv64'), ['device-tree-compiler'])
		self.assertEqual(self.packages(kernel=guest.DEBUG), [])
		self.assertIn('mandoc', setup.test_packages())

	def test_kernels_of_the_tests(self):
		for filters, wanted in ((['arith', 'scripts-vm'], None), (['vm-7.3-iommu.smoke'], ['7.3']), (['graph'], ['7.3']),
					(['stress'], ['6.12', '7.3']), (['uapi'], ['6.12', '7.2', '7.3']), (['packages'], []),
					(['qtest'], []), (['kernel-form'], ['6.12', '7.2', '7.3']), ([], ['6.12', '7.2', '7.3'])):
			with self.subTest(filters):
				self.assertEqual(self.of(testrun._kernels, *filters), wanted)
		self.assertIsNone(self.of(testrun._kernels, 'arith', quick=True))
		self.assertIsNone(self.of(testrun._kernels, quick=True))

	def test_the_suite_tree(self):
		for filters, wanted in ((['arith'], False), (['vm-7.3-iommu.smoke'], False), (['vm-7.3-iommu.tflite'], True),
					(['host-parts'], True), (['install'], True), ([], True)):
			with self.subTest(filters):
				self.assertEqual(self.of(testrun._needs_suite_tree, *filters), wanted)
		self.assertFalse(self.of(testrun._needs_suite_tree, kernel=guest.DEBUG))

	def guest(self, needed, *fetched):
		"""What testrun._guest() gives, with @fetched for each call of guest.find(): the series that the Guest then has."""
		guests = [mock.Mock(**{'series.return_value': list(series)}) for series in fetched]
		self.patch(guest, 'find', side_effect=guests)
		with contextlib.redirect_stdout(io.StringIO()):
			_, series = testrun._guest(argparse.Namespace(kernel=None), needed)
		self.assertEqual(guest.find.call_count, len(fetched))
		return series

	def test_a_kernel_that_is_not_fetched_still_is_the_newest(self):
		self.assertEqual(self.guest(['7.2'], ['6.12', '7.2']), ['6.12', '7.2', '7.3'])

	def test_a_kernel_that_the_archive_has_no_more(self):
		self.assertEqual(self.guest(['7.3'], ['6.12'], ['6.12', '7.2']), ['6.12', '7.2'])


class Targets(TestCase):
	def targets(self, *filters):
		arguments = argparse.Namespace(quick=False, kernel=None, arch=None, filters=filters)
		return testrun._targets(arguments, results.chooser(filters), ['6.12', '7.3'], print)

	def test_all_for_all(self):
		self.assertIsNone(self.targets())

	def test_a_test_in_the_guest_takes_its_program_and_what_is_in_every_guest(self):
		self.assertEqual(self.targets('vm-7.3-iommu.uapi'), ['umd/tools/nvdla-run', 'tests/uapi/uapi-test'])

	def test_a_script_takes_the_programs_that_it_is_given(self):
		self.assertEqual(self.targets('vm-7.3-none.platform'),
				 ['umd/tools/nvdla-run', 'tests/uapi/power-test', 'tests/uapi/uapi-test'])

	def test_one_on_the_host_takes_what_it_runs(self):
		self.assertEqual(self.targets('arith'), ['tests/arith-test'])
		self.assertEqual(self.targets('scripts-vm'), [])
		self.assertEqual(self.targets('uapi'), ['tests/other', 'umd/tools/nvdla-run', 'tests/uapi/uapi-test'])

	def test_what_is_installed_takes_all(self):
		self.assertIsNone(self.targets('install'))

	def test_nothing_is_left_out_for_what_is_no_test(self):
		self.assertIsNone(self.targets('kmd.checkpatch'))

	def test_all_that_the_suite_tree_makes_possible(self):
		self.assertIsNone(self.targets('host-parts', 'arith'))
		self.patch(suite_tree, 'path', return_value=Path('/'))
		self.assertEqual(self.targets('host-parts', 'arith'), ['tests/arith-test'])

	def test_so_do_those_with_more_than_a_program(self):
		for name in ('vm-7.3-iommu.tflite', 'vm-7.3-pair.python', 'packages', 'onnxruntime'):
			self.assertIsNone(self.targets(name))


if __name__ == '__main__':
	unittest.main(argv=['testrun_test'])
