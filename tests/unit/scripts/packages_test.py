# SPDX-License-Identifier: MIT
"""Which packages the scripts install, on a made-up system: programs that stand for apt's and dpkg's."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stack import namespace, setup

SOURCE = Path(sys.argv.pop(1))
LISTS = SOURCE / 'scripts/lib'

_WITH_HELP = ('build-kmd', 'check-arm64', 'check-kmd', 'kernel-debug', 'package', 'run', 'setup', 'test', 'upstream', 'vm')
# $STATE/installed and $STATE/known: names, one a line.
_PROGRAMS = {
	'dpkg-query': '''shift 3
printf '%s\\n' "$@" | grep -xFf - "$STATE/installed" | sed "s/^/ii  /"; exit 0''',
	'apt-cache': '''shift 2; echo >>"$STATE/calls"
printf '%s\\n' "$@" | grep -xFf - "$STATE/known" | sed "s/^/Package: /"; exit 100''',
	'apt-get': '''for word; do case $word in update) exit 0 ;; install) install=1 ;; esac; done
[ "$install" ] || exit 1
for word; do case $word in
-* | install | DPkg* ) ;;
*) grep -qx "$word" "$STATE/known" || { echo "E: Unable to locate package $word"; exit 100; }
	echo "$word" >>"$STATE/installed" ;;
esac; done''',
	'id': 'echo "${USER_NUMBER:-0}"',
	'sudo': '[ "$1" = -v ] || exec "$@"',
	'unshare': '[ ! -f "$STATE/refusal" ] || { cat "$STATE/refusal" >&2; exit 1; }',
	'qemu-system-x86_64': 'exit 1',
}


def listed(name):
	"""The first word of each line."""
	lines = (line.split('#')[0].split() for line in (LISTS / f'packages.{name}').read_text().splitlines())
	return {line[0] for line in lines if line}


_ALL = set().union(*map(listed, ('debian', 'vm', 'test', 'test-data')))


class Packages(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.state = Path(folder.name)
		for name, text in _PROGRAMS.items():
			program = self.state / 'bin' / name
			program.parent.mkdir(exist_ok=True)
			program.write_text(f'#!/bin/bash\n{text}\n')
			program.chmod(0o755)
		self.system(set(), _ALL)

	def system(self, installed, known):
		for name, names in (('installed', installed), ('known', known)):
			(self.state / name).write_text(''.join(f'{entry}\n' for entry in sorted(names)))

	def environment(self, **more):
		return {**os.environ, 'PATH': f'{self.state}/bin:{os.environ["PATH"]}', 'STATE': str(self.state),
			'TMPDIR': str(self.state), **more}

	def ensure(self, *uses):
		return subprocess.run(['bash', '-c', f'set -euo pipefail; . "{LISTS}/common.sh"; ensure_packages "$@"; '
				       'echo went on', 'scripts/setup', *uses], env=self.environment(), capture_output=True, text=True)

	def installed(self):
		return set((self.state / 'installed').read_text().split())

	def test_only_what_the_use_takes(self):
		for uses in ([], ['vm'], ['vm', 'test'], ['vm', 'test', 'test-data']):
			with self.subTest(uses):
				self.system(set(), _ALL)
				said = self.ensure(*uses)
				self.assertEqual(said.returncode, 0, said.stderr)
				self.assertEqual(self.installed(), set().union(*map(listed, ['debian', *uses])))

	def test_apt_is_asked_once_for_all_names(self):
		"""Once whether it has lists, and once before and after they are fetched anew."""
		said = self.ensure('vm', 'test', 'test-data')
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertLessEqual(len((self.state / 'calls').read_text().splitlines()), 3)

	def test_what_only_tests_use_is_passed_over(self):
		for uses, missing in ((['test'], 'libgtest-dev'), (['test-data'], 'dt-schema')):
			with self.subTest(uses):
				wanted = set().union(*map(listed, ['debian', *uses])) - {missing}
				self.system(set(), wanted)
				said = self.ensure(*uses)
				self.assertEqual(said.returncode, 0, said.stderr)
				self.assertIn(f'{missing} is not in this release', said.stderr)
				self.assertEqual(self.installed(), wanted)
				again = self.ensure(*uses)
				self.assertIn(f'{missing} is not in this release', again.stderr)
				self.assertNotIn('installing', again.stdout)

	def test_apt_that_fails_stops_no_test(self):
		self.system(listed('debian'), listed('debian') | listed('test'))
		(self.state / 'bin/apt-get').write_text('#!/bin/sh\necho "E: Could not connect to mirror"\nexit 100\n')
		said = self.ensure('test')
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertIn('mirror cannot be reached', said.stderr)
		self.assertIn('went on', said.stdout)

	def fails(self, *words):
		"""The error of ensure_packages with an apt-get that ends with this message."""
		self.system(set(), _ALL)
		(self.state / 'bin/apt-get').write_text(f'#!/bin/bash\necho "E: {" ".join(words)}"\nexit 100\n')
		said = self.ensure()
		self.assertEqual(said.returncode, 1)
		return said.stderr

	def test_an_error_says_for_which_packages_and_what_to_do(self):
		number = len(listed('debian')) - 3
		for words, remedy in (('Could not connect to mirror', 'check the network'), ('No space left on device', 'free some'),
				      ('Could not get lock /x. It is held by process 123 (apt-get)',
				       'process 123 (apt-get) is using apt: wait until it is done'),
				      ('Release file for http://mirror is expired (invalid since 24d)', 'name another mirror'),
				      ('Something else', 'apt failed: Something else; what to do by hand: apt-get update')):
			with self.subTest(words):
				said = self.fails(words)
				self.assertRegex(said, fr'^scripts/setup: packages cannot be installed \(ccache \S+ \S+ and {number} more\): ')
				self.assertIn(remedy, said)

	def test_another_apt_is_named_once(self):
		"""Not once for each of apt's own lines."""
		self.system(set(), _ALL)
		apt = self.state / 'bin/apt-get'
		wait = 'Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 123 (apt-get)...'
		apt.write_text(f'#!/bin/bash\nfor i in 1 2 3; do echo "{wait} ${{i}}s"; sleep 0.5; done\n' + apt.read_text())
		said = self.ensure()
		self.assertEqual(said.returncode, 0, said.stderr)
		waits = [line.split('] ')[1] for line in said.stdout.splitlines() if 'waits' in line]
		self.assertEqual(waits, [f'  apt-get {command}: waits for process 123 (apt-get), which is using apt'
					 for command in ('update', 'install')])

	def test_what_building_takes_is_an_error(self):
		self.system(set(), listed('debian') - {'meson'})
		said = self.ensure()
		self.assertEqual(said.returncode, 1)
		self.assertIn('meson', said.stderr)
		self.assertNotIn('went on', said.stdout)

	def script(self, name, *arguments, **environment):
		"""A script of the project on the made-up system, with a Python that says what it is told to run."""
		python = self.state / 'bin' / 'python3'
		python.write_text('#!/bin/sh\necho "python $*"\n')
		python.chmod(0o755)
		copy = self.state / 'scripts'
		shutil.copytree(LISTS, copy / 'lib', ignore=shutil.ignore_patterns('stack'), dirs_exist_ok=True)
		shutil.copy(SOURCE / 'scripts' / name, copy)
		common = copy / 'lib/common.sh'
		common.write_text(common.read_text().replace('NVDLA_PYTHON=/usr/bin/python3', f'NVDLA_PYTHON={python}'))
		return subprocess.run([copy / name, *arguments], env=self.environment(**environment), capture_output=True, text=True)

	def test_help_takes_nothing_but_python(self):
		for script in _WITH_HELP:
			with self.subTest(script):
				asked = self.script(script, '--help')
				self.assertEqual(asked.returncode, 0, asked.stderr)
				self.assertRegex(asked.stdout, r'^python -m stack\.\w+ --help\n$')
				self.assertEqual(self.installed(), set())
				# -S: none of the modules that packages bring.
				said = subprocess.run([sys.executable, '-S', *asked.stdout.split()[1:]], capture_output=True, text=True,
						      env={'PYTHONPATH': str(LISTS), 'PATH': '/nonexistent', 'PYTHONDONTWRITEBYTECODE': '1'})
				self.assertEqual(said.returncode, 0, said.stderr)
				self.assertIn(f'usage: scripts/{script}', said.stdout)

	def test_version_of_packages_is_no_question(self):
		"""scripts/package makes packages of the version; any other script prints its own and takes nothing."""
		for script, taken in (('vm', set()), ('package', listed('debian') | listed('vm'))):
			with self.subTest(script):
				self.system(set(), _ALL)
				self.assertEqual(self.script(script, '--version', '1').returncode, 0)
				self.assertEqual(self.installed(), taken)

	def test_help_among_options(self):
		for arguments in (['-h'], ['--quick', '--help'], ['--version']):
			with self.subTest(arguments):
				self.assertEqual(self.script('test', *arguments).stdout, f'python -m stack.testrun {" ".join(arguments)}\n')

	def test_the_help_of_a_command_or_of_qemu_is_not_ours(self):
		for script, *arguments in (('vm', 'uapi-test', '--help'), ('vm', '--', 'ls', '--help'), ('qemu', '--help')):
			with self.subTest(script=script, arguments=arguments):
				self.system(set(), listed('debian') | listed('vm'))
				said = self.script(script, *arguments)
				self.assertEqual(said.returncode, 0, said.stderr)
				self.assertTrue(said.stdout.endswith(f'{" ".join(arguments)}\n'), said.stdout)
				self.assertEqual(self.installed(), listed('debian') | listed('vm'))

	def test_every_script_asks_for_what_it_uses(self):
		for arguments, uses in ((['test'], ['vm', 'test']), (['test', '--quick'], ['test']), (['run'], ['vm']),
					(['run', '--device', 'embedded'], []), (['setup'], ['vm', 'test', 'test-data']),
					(['upstream', '--check'], ['vm']), (['upstream'], [])):
			with self.subTest(arguments):
				self.system(set(), _ALL)
				said = self.script(*arguments)
				self.assertEqual(said.returncode, 0, said.stderr)
				self.assertEqual(self.installed(), set().union(*map(listed, ['debian', *uses])))

	def test_no_mounts_is_said_before_anything_is_installed(self):
		"""With the command that helps; a machine with a QEMU of its own may need no mounts."""
		chroot, container = 'cannot change root filesystem propagation: Invalid argument', 'unshare failed: Operation not permitted'
		for refusal, user, remedy in ((chroot, '0', 'mount --rbind FOLDER FOLDER && chroot FOLDER'),
					      (container, '0', 'docker run --privileged'), (container, '1000', 'run this as root, outside of a chroot or with its root folder as a mount point\n')):
			(self.state / 'refusal').write_text(f'{refusal}\n')
			for script in ('run', 'test'):
				with self.subTest(script=script, remedy=remedy):
					said = self.script(script, USER_NUMBER=user, NVDLA_GUEST='tree', NVDLA_SYSCTL=str(self.state))
					self.assertEqual(said.returncode, 1)
					self.assertIn(refusal, said.stderr)
					self.assertIn(remedy, said.stderr)
					self.assertIn('scripts/run --device embedded', said.stderr)
					self.assertEqual(self.installed(), set())
		for words, choice in ((('run', '--device', 'embedded'), 'tree'), (('test', '--quick'), 'tree'), (('run',), 'host'),
				      (('run',), 'auto')):
			said = self.script(*words, NVDLA_GUEST=choice)
			self.assertEqual(said.returncode, 0, said.stderr)

	def test_only_settings_that_exist_are_advised(self):
		(self.state / 'refusal').write_text('unshare failed: Operation not permitted\n')
		(self.state / 'kernel').mkdir()
		(self.state / 'kernel/unprivileged_userns_clone').write_text('0\n')
		said = self.script('vm', USER_NUMBER='1000', NVDLA_GUEST='tree', NVDLA_SYSCTL=str(self.state))
		self.assertIn('or before it: sudo sysctl -w kernel.unprivileged_userns_clone=1\n', said.stderr)

	def test_setup_installs_without_the_right_to_mount(self):
		"""And leaves out the guest tree, in words: most pages of Documentation begin with scripts/setup and need no guest."""
		(self.state / 'refusal').write_text('unshare failed: Operation not permitted\n')
		said = self.script('setup', NVDLA_GUEST='tree')
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertTrue(listed('debian') <= self.installed())
		with (mock.patch('sys.argv', ['setup']), mock.patch.object(setup.build, 'look_again'),
		      mock.patch.object(setup.guest, 'find', side_effect=namespace.Refused('no mounts here')),
		      contextlib.redirect_stdout(io.StringIO()) as told):
			self.assertEqual(setup.main(), 0)
		self.assertIn('guest tree: skipped: no mounts here', told.getvalue())
		self.assertIn('scripts/run --device embedded', told.getvalue())

	def meanwhile(self, names=None, user=0):
		"""What is printed by a process of this user that works while the packages of these tests are installed."""
		environment = self.environment(PYTHONPATH=str(LISTS), PYTHONDONTWRITEBYTECODE='1', USER_NUMBER=str(user))
		return subprocess.run([sys.executable, '-c', f'import os\nos.geteuid = lambda: {user}\nfrom stack import setup\n'
				       f'with setup.test_data_meanwhile({names}):\n\tprint("worked", flush=True)'], env=environment,
				      capture_output=True, text=True)

	def test_who_may_have_to_give_a_password_gives_it_before(self):
		self.system(listed('debian'), _ALL)
		said = self.meanwhile(user=1000)
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertRegex(said.stdout, '(?s)root rights are needed.*packages: done.*worked')
		self.assertEqual(self.installed(), listed('debian') | listed('test-data'))

	def test_only_those_of_the_chosen_tests(self):
		for names, wanted in ((['arith', 'vm-7.3-iommu.smoke'], set()), (['manual-pages'], {'mandoc'}),
				      (['bindings', 'host-parts'], {'device-tree-compiler', 'dt-schema', 'libonnx-testdata'})):
			with self.subTest(names):
				self.system(listed('debian'), _ALL)
				said = self.meanwhile(names)
				self.assertEqual(said.returncode, 0, said.stderr)
				self.assertIn('worked', said.stdout)
				self.assertEqual(self.installed(), listed('debian') | wanted)

	def test_the_list_names_tests_that_exist(self):
		known = ''.join(file.read_text() for file in (SOURCE / 'tests').rglob('meson.build'))
		for line in (LISTS / 'packages.test-data').read_text().splitlines():
			words = line.split('#')[0].split()
			self.assertNotEqual(len(words), 1, f'{line}: no test is named')
			for name in words[1:]:
				self.assertTrue(f"'{name}'" in known or name.startswith('vm-'), name)

	def test_test_data_is_installed_meanwhile(self):
		self.system(listed('debian'), _ALL)
		said = self.meanwhile()
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertIn('worked', said.stdout)
		self.assertEqual(self.installed(), listed('debian') | listed('test-data'))

	def test_test_data_that_cannot_be_installed_stops_nothing(self):
		self.system(listed('debian'), _ALL)
		(self.state / 'bin/apt-get').write_text('#!/bin/sh\necho "E: Could not connect to mirror"\nexit 100\n')
		said = self.meanwhile()
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertIn('worked', said.stdout)
		self.assertIn('mirror cannot be reached', said.stderr)


if __name__ == '__main__':
	unittest.main(argv=['packages_test'])
