# SPDX-License-Identifier: MIT
"""scripts/check-arm64: the programs built for arm64, and their tests on an emulated processor."""

import json
import subprocess

from . import architectures, console, guest, processes, programs, results
from .console import Failure

# Test suites that are left out. Their tests start further arm64 programs, which this machine can only run by an
# explicit call of the emulator, or they use this machine's Python.
_NOT_THERE = ('install', 'packages', 'python', 'qtest', 'scripts', 'tools')
# Factor for the tests' time limits, because the emulated processor is slower.
_FACTOR = 30


def _parse():
	parser = console.Parser('scripts/check-arm64', 'conv', description=(
		'Build the runtime, the programs, the device model (an NVDLA accelerator in software) and their tests for arm64 '
		'with Debian 13\'s cross compiler. Then run, on an emulated processor (qemu-user), the tests that need neither a '
		'guest (virtual machine) nor an NVDLA. The first call installs packages (as root or with sudo), and unpacks the compiler, the libraries for arm64 and the emulator into '
		'~/.cache/nvdla. The last line is "N passed, N failed", and ", N skipped" if tests were skipped.'))
	parser.add_argument('--list', action='store_true', help='build, then print the names of the tests, and run none')
	parser.add_argument('filters', metavar='FILTER', nargs='*', help=(
		'run only the tests whose name contains FILTER or, if FILTER has a *, matches this pattern; with several, those that fit any of them'))
	return parser.parse_args()


def _tests(found):
	said = subprocess.run(programs.inside(found, ['meson', 'introspect', '--tests', programs.BUILD]), capture_output=True, text=True,
			      check=True).stdout
	return [test['name'] for test in json.loads(said) if not set(suite.partition(':')[2] for suite in test['suite'])
		& set(_NOT_THERE)]


def main():
	arguments = _parse()
	with console.stage('tree') as progress:
		found = guest.cross(architectures.named('arm64'), progress)
	with console.stage('build') as progress:
		built = programs.build(found, [], progress)
	names = list(filter(results.chooser(arguments.filters), _tests(found)))
	if arguments.list:
		print(*names, sep='\n')
		return 0
	if not names:
		raise Failure(f'no test has {" or ".join(arguments.filters)} in its name: --list shows the names', 2)
	logs = built / 'meson-logs'
	for stale in logs.glob('testlog*'):
		stale.unlink()
	with console.stage('tests') as progress:
		processes.run_logged(programs.inside(found, ['meson', 'test', '-C', programs.BUILD, '--no-rebuild', '-t', _FACTOR, *names]),
				     built / 'tests.log', progress)
	if not (logs / 'testlog.json').is_file():
		raise Failure(f'meson test ran nothing; log: {built / "tests.log"}')
	cases = results.from_meson(logs)
	print(*results.details(cases), results.summary(cases), sep='\n', flush=True)
	return 1 if any(case.outcome == results.FAILED for case in cases) else 0


if __name__ == '__main__':
	console.run_program(main)
