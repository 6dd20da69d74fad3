# SPDX-License-Identifier: MIT
"""Which packages the scripts install, on a made-up system: programs that stand for apt's and dpkg's."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1))
LISTS = SOURCE / 'scripts/lib'

_WITH_HELP = ('build-kmd', 'check-arm64', 'check-kmd', 'kernel-debug', 'package', 'run', 'setup', 'test', 'upstream', 'vm')
# $STATE/installed and $STATE/known: names, one a line.
_PROGRAMS = {
	'dpkg-query': '''shift 3
for name; do grep -qx "$name" "$STATE/installed" && echo "ii  $name"; done; exit 0''',
	'apt-cache': 'shift 2; exec grep -qx "$1" "$STATE/known"',
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
	lines = (line.split('#')[0].strip() for line in (LISTS / f'packages.{name}').read_text().splitlines())
	return {line for line in lines if line}


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
				       'echo went on', 'bash', *uses], env=self.environment(), capture_output=True, text=True)

	def installed(self):
		return set((self.state / 'installed').read_text().split())

	def test_only_what_the_use_takes(self):
		for uses in ([], ['vm'], ['vm', 'test'], ['vm', 'test', 'test-data']):
			with self.subTest(uses):
				self.system(set(), _ALL)
				said = self.ensure(*uses)
				self.assertEqual(said.returncode, 0, said.stderr)
				self.assertEqual(self.installed(), set().union(*map(listed, ['debian', *uses])))

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

	def test_help_among_options(self):
		for arguments in (['-h'], ['--quick', '--help']):
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
					      (container, '0', 'docker run --privileged'), (container, '1000', 'sudo sysctl -w kernel.')):
			(self.state / 'refusal').write_text(f'{refusal}\n')
			for script in ('run', 'test'):
				with self.subTest(script=script, remedy=remedy):
					said = self.script(script, USER_NUMBER=user, NVDLA_GUEST='tree')
					self.assertEqual(said.returncode, 1)
					self.assertIn(refusal, said.stderr)
					self.assertIn(remedy, said.stderr)
					self.assertIn('scripts/run --device embedded', said.stderr)
					self.assertEqual(self.installed(), set())
		for words, choice in ((('run', '--device', 'embedded'), 'tree'), (('test', '--quick'), 'tree'), (('run',), 'host'),
				      (('run',), 'auto')):
			said = self.script(*words, NVDLA_GUEST=choice)
			self.assertEqual(said.returncode, 0, said.stderr)

	def test_who_may_have_to_give_a_password_gives_it_at_once(self):
		said = self.script('test', USER_NUMBER='1000')
		self.assertEqual(said.returncode, 0, said.stderr)
		self.assertEqual(self.installed(), _ALL)

	def meanwhile(self):
		"""What is printed by a process of root's that works while test data is installed."""
		environment = self.environment(PYTHONPATH=str(LISTS), PYTHONDONTWRITEBYTECODE='1')
		return subprocess.run([sys.executable, '-c', 'import os\nos.geteuid = lambda: 0\nfrom stack import setup\n'
				       'with setup.test_data_meanwhile():\n\tprint("worked")'], env=environment,
				      capture_output=True, text=True)

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
