# SPDX-License-Identifier: MIT
"""Which kernels there are, which one is taken, and what becomes of one that the driver does not build for."""

import contextlib
import dataclasses
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stack import archive, debug_kernel, guest, guest_tree, kernels, kmod, results, suites, testrun
from stack.console import Failure
from stack.guest import Guest, Kernel

_BUILDS = 'modules:\n\ttouch $(M)/nvdla.ko\n'
_REFUSES = 'modules:\n\t@echo "nvdla_gem.c:7:2: error: no such interface"; exit 2\n'
_BREAKS = 'modules:\n\t@echo "cc1: fatal error: the disk is full"; exit 2\n'
# Newer than every kernel there will be.
_NEWER = '999.0'


class Packages:
	"""An archive.Archive that has these packages."""

	flavour = 'amd64'

	def __init__(self, *names):
		self._names = set(names)

	def names(self, prefix):
		return {name for name in self._names if name.startswith(prefix)}


class Known(unittest.TestCase):
	def test_the_list_is_in_order(self):
		self.assertEqual(list(kernels.known()), sorted(kernels.known(), key=kernels.number))

	def test_the_number_of_a_series_and_of_releases(self):
		for text in ('7.3', '7.3.4+deb13-amd64', '7.3-amd64', '7.3~rc7'):
			self.assertEqual(kernels.number(text), (7, 3))

	def test_only_one_newer_than_all_known_is_excused_and_not_in_ci(self):
		newest = kernels.known()[-1]
		with mock.patch.dict(os.environ, CI=''):
			self.assertTrue(kernels.is_excused(_NEWER))
			self.assertFalse(kernels.is_excused(newest))
			self.assertFalse(kernels.is_excused(kernels.known()[0]))
		with mock.patch.dict(os.environ, CI='true'):
			self.assertFalse(kernels.is_excused(_NEWER))


class Sources(unittest.TestCase):
	def choose(self, *series):
		with mock.patch.object(kernels, 'known', return_value=('6.12', '7.2', '7.3')):
			return debug_kernel.choose_source([f'linux-source-{text}' for text in series])

	def test_the_newest_known_comes_first(self):
		self.assertEqual(self.choose('6.12', '7.3', '7.2', '7.10'), 'linux-source-7.3')
		self.assertEqual(self.choose('6.12', '7.2'), 'linux-source-7.2')

	def test_then_the_newest(self):
		self.assertEqual(self.choose('6.1', '7.9', '7.10'), 'linux-source-7.10')

	def test_none(self):
		with self.assertRaisesRegex(Failure, 'no source of a kernel from 6.12 on'):
			self.choose('6.1', '')


class Archives(unittest.TestCase):
	packages = Packages(
		'linux-headers-7.2.9+deb13-amd64', 'linux-headers-7.2.12+deb13-amd64', 'linux-headers-7.2.12+deb13-common',
		'linux-headers-7.2.12+deb13-cloud-amd64', 'linux-headers-7.2.12+deb13-common-rt', 'linux-headers-amd64',
		'linux-headers-7.3-amd64', 'linux-image-7.2.12+deb13-amd64', 'linux-image-7.2.9+deb13-amd64',
		'linux-image-7.1.13+deb13-amd64', 'linux-modules-7.2.12+deb13-amd64', 'linux-kbuild-7.2.12+deb13')

	def test_headers_by_number_without_variants(self):
		self.assertEqual(archive.headers(self.packages),
				 ['7.2.9+deb13-amd64', '7.2.12+deb13-amd64', '7.3-amd64'])

	def test_kernels_have_an_image_too(self):
		self.assertEqual(archive.kernels(self.packages), ['7.2.9+deb13-amd64', '7.2.12+deb13-amd64'])

	def test_a_kernel_is_the_packages_that_are_there(self):
		self.assertEqual(archive.parts_of(self.packages, '7.2.12+deb13-amd64'), {
			'linux-headers-7.2.12+deb13-amd64', 'linux-headers-7.2.12+deb13-common',
			'linux-image-7.2.12+deb13-amd64', 'linux-modules-7.2.12+deb13-amd64', 'linux-kbuild-7.2.12+deb13'})


class Errors(unittest.TestCase):
	def explain(self, text):
		with tempfile.TemporaryDirectory() as folder:
			log = Path(folder, 'apt.log')
			log.write_text(text)
			return archive.explain(log, Path('/cache'))

	def test_an_expired_archive(self):
		said = self.explain('Get:1 http://mirror testing InRelease\nE: Release file for http://mirror/dists/testing/InRelease is expired '
				    '(invalid since 24d 3h 1min 2s). Updates for this repository will not be applied.\n')
		self.assertTrue(said.startswith('Release file for http://mirror/dists/testing/InRelease is expired (invalid since 24d 3h 1min '
						'2s): name another mirror in apt\'s configuration, or allow an old one: echo '), said)

	def test_what_was_to_be_fetched_is_named(self):
		with self.assertRaisesRegex(Failure, '^the model checker cannot be fetched: no network$'), archive.needed_for('the model checker'):
			raise Failure('no network')


class Suites(unittest.TestCase):
	def setUp(self):
		# Names are looked up in the archive, too.
		names = mock.patch.object(archive, 'code_name', lambda name: name)
		names.start()
		self.addCleanup(names.stop)

	def check(self, headers, **build):
		"""The rows of an archive in which every suite has @headers and modules are built by @build."""
		opened = mock.patch.object(archive, 'opened', lambda *_: contextlib.nullcontext(Packages(*headers)))
		with (opened, mock.patch.object(guest_tree, 'unpack'), mock.patch.object(guest_tree, 'finish_tools'),
		      mock.patch.object(guest_tree, 'require_space'), mock.patch.object(kmod, 'build', **build),
		      tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()),
		      mock.patch.dict(os.environ, NVDLA_BUILD_DIR=folder, XDG_CACHE_HOME=folder, CI='')):
			Path(folder, 'nvdla').mkdir()
			rows = suites.check(lambda text: None)
			return rows, suites.failed(rows)

	def test_a_suite_out_of_reach_is_passed_over(self):
		with mock.patch.object(archive, 'opened', side_effect=Failure('404')), \
				contextlib.redirect_stdout(io.StringIO()):
			rows = suites.check(lambda text: None)
		self.assertEqual({(row.result, row.reason) for row in rows}, {(suites.PASSED_OVER, '404')})
		self.assertFalse(suites.failed(rows))

	def test_a_suite_with_old_kernels_is_passed_over(self):
		rows, failed = self.check(['linux-headers-6.1.3-amd64'])
		self.assertEqual({(row.kernel, row.result) for row in rows}, {('-', suites.PASSED_OVER)})
		self.assertFalse(failed)

	def test_only_a_kernel_that_is_too_new_may_fail(self):
		refusal = kmod.DoesNotBuild('nvdla.ko', 'a.c:1: error: gone', Path('make.log'))
		headers = [f'linux-headers-{_NEWER}.1-amd64', f'linux-headers-{kernels.known()[0]}.9-amd64']
		rows, failed = self.check(headers[:1], side_effect=refusal)
		self.assertEqual({(row.result, row.reason) for row in rows}, {(suites.FAILED, refusal.reason)})
		self.assertFalse(failed)
		rows, failed = self.check(headers, side_effect=refusal)
		self.assertEqual(rows[0].kernel, f'{_NEWER}.1-amd64')
		self.assertTrue(failed)

	def test_the_table_is_aligned(self):
		rows = [suites.Row('stable', '6.12.9-amd64', suites.OK, log='x/make.log'),
			suites.Row('stable-backports', '-', suites.PASSED_OVER, 'why')]
		self.assertEqual(suites.table(rows), ['suite             kernel        result       log',
						      'stable            6.12.9-amd64  ok           x/make.log',
						      'stable-backports  -             passed over  why'])


class Folders(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		variables = mock.patch.dict(os.environ, NVDLA_BUILD_DIR=str(self.folder / 'build'),
					    XDG_CACHE_HOME=str(self.folder), NVDLA_GUEST='host', CI='')
		variables.start()
		self.addCleanup(variables.stop)


class Gone(Folders):
	def add(self, *wanted, **archive_opened):
		with mock.patch.object(archive, 'opened', **archive_opened):
			return guest_tree.add_kernels(self.folder, wanted, lambda text: None)

	def test_what_the_archive_lacks_is_not_looked_for_again(self):
		empty = contextlib.nullcontext(Packages())
		self.assertRegex(self.add('7.2', return_value=empty)['7.2'], 'has it no more')
		self.assertRegex(self.add('7.2', side_effect=AssertionError)['7.2'], 'has it no more')

	def test_an_archive_out_of_reach_is_no_answer(self):
		self.assertEqual(self.add('7.2', side_effect=Failure('no network')), {'7.2': 'no network'})
		self.assertEqual(self.add('7.2', side_effect=Failure('still none')), {'7.2': 'still none'})


class Choice(Folders):
	def guest(self, **makefiles):
		"""A Guest whose kernels are built for with these makefiles: {release: text}."""
		found = []
		for release, text in makefiles.items():
			build = self.folder / release
			build.mkdir()
			(build / 'Makefile').write_text(text)
			found.append(Kernel(release, Path('/boot/vmlinuz'), Path('/lib/modules') / release, build))
		return Guest('a test', None, ('qemu',), {}, tuple(found), Path('/bin/busybox'))

	def choose(self, found, wanted=None):
		"""(the release taken, what was printed)"""
		said = io.StringIO()
		with contextlib.redirect_stdout(said):
			_, kernel, module = kmod.choose(found, wanted)
		self.assertTrue(module.is_file())
		return kernel.release, said.getvalue()

	def test_the_newest_that_builds(self):
		found = self.guest(**{'6.12.1-a': _BUILDS, '7.3.4-a': _BUILDS, f'{_NEWER}.1-a': _REFUSES})
		release, said = self.choose(found)
		self.assertEqual(release, '7.3.4-a')
		self.assertRegex(said, fr'^\[.*\] module: Linux {_NEWER}.1-a is passed over, .*'
				 r': kmd/nvdla_gem.c:7:2: error: no such interface; log: \S+/make.log\n$')

	def choose_twice(self, makefile):
		"""What choose() gives after the newest kernel, whose makefile failed at first, was mended."""
		found = self.guest(**{'6.12.1-a': _BUILDS, f'{_NEWER}.1-a': makefile})
		self.assertRegex(self.choose(found)[1], 'passed over')
		(self.folder / f'{_NEWER}.1-a' / 'Makefile').write_text(_BUILDS)
		return self.choose(found)

	def test_what_the_compiler_refused_is_not_tried_again(self):
		release, said = self.choose_twice(_REFUSES)
		self.assertEqual(release, '6.12.1-a')
		self.assertRegex(said, 'passed over, .*: error: no such interface; log: ')

	def test_any_other_failure_is_tried_again(self):
		self.assertEqual(self.choose_twice(_BREAKS), (f'{_NEWER}.1-a', ''))

	def test_one_asked_for_is_not_passed_over(self):
		found = self.guest(**{'6.12.1-a': _BUILDS, f'{_NEWER}.1-a': _REFUSES})
		with self.assertRaisesRegex(kmod.DoesNotBuild, 'nvdla.ko for 999.0.1-a does not build: kmd/nvdla_gem.c'):
			kmod.choose(found, _NEWER)
		self.assertEqual(self.choose(found, '6.12')[0], '6.12.1-a')

	def test_none_builds(self):
		found = self.guest(**{'6.12.1-a': _REFUSES, f'{_NEWER}.1-a': _REFUSES})
		with contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(kmod.DoesNotBuild, _NEWER):
			kmod.choose(found, None)

	def test_an_error_for_a_known_kernel_is_the_drivers(self):
		"""Of the guest tree: no other kernel is tried."""
		found = dataclasses.replace(self.guest(**{'6.12.1-a': _BUILDS, '7.3.4-a': _BUILDS}), root=self.folder)
		failure = kmod.DoesNotBuild('7.3.4-a', 'a typo', self.folder / 'make.log')
		with (mock.patch.object(kmod, 'build', side_effect=failure) as built,
		      self.assertRaisesRegex(kmod.DoesNotBuild, 'a typo')):
			kmod.choose(found, None)
		built.assert_called_once()

	def test_the_guest_tree_comes_after_this_machine(self):
		machine, tree = self.guest(**{f'{_NEWER}.1-a': _REFUSES}), self.guest(**{'6.12.1-a': _BUILDS})
		os.environ['NVDLA_GUEST'] = 'auto'
		with mock.patch.object(guest, 'tree', return_value=tree):
			self.assertEqual(self.choose(machine)[0], '6.12.1-a')

	def test_headers_made_anew_are_tried_again(self):
		release = f'{_NEWER}.1-a'
		for part in ('vmlinuz', f'lib/modules/{release}/kernel', 'headers/Makefile', 'headers/Module.symvers'):
			(self.folder / part).parent.mkdir(parents=True, exist_ok=True)
			(self.folder / part).write_text(_REFUSES)
		own = guest.kernel_in(self.folder, None)
		found = self.guest(**{'6.12.1-a': _BUILDS})
		found = dataclasses.replace(found, kernels=(*found.kernels, own))
		self.assertEqual(self.choose(found)[0], '6.12.1-a')
		(self.folder / 'headers/Makefile').write_text(_BUILDS)
		self.assertEqual(self.choose(found)[0], '6.12.1-a')
		os.utime(self.folder / 'headers/Module.symvers', (1, 1))
		self.assertEqual(self.choose(found)[0], release)

	def outcome(self, release):
		"""What scripts/test makes of a test on a kernel for which the driver does not build."""
		found = self.guest(**{release: _REFUSES})
		series = found.series()[0]
		modules = testrun._modules(found, series, sparse=False)
		wanted = [mock.Mock()]
		wanted[0].name = 'smoke'
		with mock.patch.object(testrun, 'guest_programs', return_value={}):
			case, = testrun._guarded(found, series, 'iommu', wanted, modules)
		self.assertEqual(case.name, f'vm-{series}-iommu.smoke')
		self.assertIn('no such interface', case.message)
		return case

	def test_a_newer_kernel_is_skipped_in_words(self):
		with contextlib.redirect_stdout(io.StringIO()):
			case = self.outcome(f'{_NEWER}.1-a')
		self.assertEqual(case.outcome, results.SKIPPED)
		self.assertRegex(case.message, f'Linux {_NEWER}.1-a, newer than the known ones .*passed over: nvdla.ko')

	def test_it_is_a_failure_in_ci(self):
		os.environ['CI'] = 'true'
		with contextlib.redirect_stdout(io.StringIO()):
			self.assertEqual(self.outcome(f'{_NEWER}.1-a').outcome, results.FAILED)

	def test_a_known_kernel_is_a_failure(self):
		with contextlib.redirect_stdout(io.StringIO()):
			self.assertEqual(self.outcome(f'{kernels.known()[-1]}.9-a').outcome, results.FAILED)


if __name__ == '__main__':
	unittest.main()
