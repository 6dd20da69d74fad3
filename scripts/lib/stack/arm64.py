# SPDX-License-Identifier: MIT
"""scripts/check-arm64: the programs built for arm64, and their tests on an emulated processor."""

import argparse
import json
import subprocess
from pathlib import Path

from . import console, debian_tree, namespace, processes, results
from .console import Failure
from .paths import ROOT, build_dir, reference_data

_RELEASE = 13
_PACKAGES = ROOT / 'scripts' / 'lib' / 'packages.arm64'
# Folders inside the system; /tmp itself may have other files of this machine.
_SOURCES, _BUILD, _DATA = (Path('/tmp', name) for name in ('sources', 'build', 'data'))
# Test suites that are left out: they start programs that would need the emulator, too, or use this machine's Python.
_NOT_THERE = ('install', 'packages', 'python', 'qtest', 'scripts', 'tools')
# Factor by which everything takes longer there.
_FACTOR = 30


def _parse():
	parser = argparse.ArgumentParser(prog='scripts/check-arm64', description=(
		'Build everything for arm64 with Debian 13\'s cross compiler, and run the tests that need neither a guest '
		'nor a device on an emulated processor (qemu-user): those of the device model, with NEON, and of the '
		'runtime. The Debian system for this is made the first time. The last line is "N passed, N failed".'))
	parser.add_argument('--list', action='store_true', help='show the names of the tests and run none')
	parser.add_argument('filters', metavar='FILTER', nargs='*', help=(
		'run only the tests with this in their name, or that match a pattern with * in it'))
	return parser.parse_args()


def _system(progress):
	lines = (line.split('#')[0].strip() for line in _PACKAGES.read_text().splitlines())
	return debian_tree.ensure('arm64', _RELEASE, [*filter(None, lines)], progress, other='arm64')


def _inside(system, argv):
	folder = build_dir() / 'arm64'
	folder.mkdir(parents=True, exist_ok=True)
	data = reference_data()
	folders = {ROOT: _SOURCES, folder: _BUILD, **({data: _DATA} if data else {})}
	variables = [f'NVDLA_REFERENCE_DATA={_DATA}'] if data else []
	return namespace.inside(system, folders, ['env', *variables, *argv], owners=True)


def _run(system, argv, name, progress):
	log = build_dir() / 'arm64' / f'{name}.log'
	if processes.run_logged(_inside(system, argv), log, progress) != 0:
		print(processes.tail(log, 30), end='', flush=True)
		raise Failure(f'the project does not {name} for arm64; log: {log}')


def _build(system, progress):
	if not (build_dir() / 'arm64' / 'build.ninja').is_file():
		progress('configuring')
		_run(system, ['meson', 'setup', '-Dwerror=true', '-Dtests=enabled', '-Dpython=disabled', f'--cross-file='
			      f'{_SOURCES / "scripts" / "lib" / "arm64.ini"}', _BUILD, _SOURCES], 'configure', progress)
	progress('compiling')
	_run(system, ['ninja', '-C', _BUILD], 'compile', progress)


def _tests(system):
	said = subprocess.run(_inside(system, ['meson', 'introspect', '--tests', _BUILD]), capture_output=True, text=True,
			      check=True).stdout
	return [test['name'] for test in json.loads(said) if not set(suite.partition(':')[2] for suite in test['suite'])
		& set(_NOT_THERE)]


def main():
	arguments = _parse()
	with console.stage('system') as progress:
		system = _system(progress)
	with console.stage('build') as progress:
		_build(system, progress)
	names = list(filter(results.chooser(arguments.filters), _tests(system)))
	if arguments.list:
		print(*names, sep='\n')
		return 0
	if not names:
		raise Failure(f'no test has {" or ".join(arguments.filters)} in its name: --list shows the names')
	logs = build_dir() / 'arm64' / 'meson-logs'
	for stale in logs.glob('testlog*'):
		stale.unlink()
	with console.stage('tests') as progress:
		processes.run_logged(_inside(system, ['meson', 'test', '-C', _BUILD, '--no-rebuild', '-t', _FACTOR, *names]),
				     build_dir() / 'arm64' / 'tests.log', progress)
	if not (logs / 'testlog.json').is_file():
		raise Failure(f'meson test ran nothing; log: {build_dir() / "arm64" / "tests.log"}')
	cases = results.from_meson(logs)
	print(*results.details(cases), results.summary(cases), sep='\n', flush=True)
	return 1 if any(case.outcome == results.FAILED for case in cases) else 0


if __name__ == '__main__':
	console.run_program(main)
