# SPDX-License-Identifier: MIT
"""Configuring and building the project with Meson."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import locks, pace, processes, space, suite_tree
from .console import Failure
from .paths import ROOT, build_dir

_HEADERS = ('registers.h', 'register_table.h')
# Program of the device model (an NVDLA in software), which every guest needs.
MODEL = 'firmware-sim/tools/nvdla-sim'
_SECONDS_BETWEEN_LINES = 5
# A step that runs longer than this, in seconds, is named in the progress: ninja itself reports steps only when they
# end.
_LONG_STEP = 5


class DoesNotCompile(Failure):
	"""Sources that cannot be configured or compiled."""


def _environment():
	"""The environment of Meson and ninja. /usr/bin comes first in PATH, because the system's Python has the modules
	that the build needs. With CCACHE_BASEDIR, all clones of the repository share the entries of ccache; that is
	possible because meson.build keeps the clone's path out of compiled files."""
	return {'CCACHE_BASEDIR': str(ROOT), **os.environ, 'PATH': f'/usr/bin:{os.environ.get("PATH", "")}'}


def _linker():
	"""Environment variables for Meson's setup that choose a faster linker, if one is installed."""
	found = next((name for name, program in (('mold', 'mold'), ('lld', 'ld.lld')) if shutil.which(program)), None)
	return {f'{language}_LD': found for language in ('CC', 'CXX')} if found else {}


def _tool(name):
	path = shutil.which(name, path=_environment()['PATH'])
	if not path:
		raise Failure(f'{name} is missing: run scripts/setup')
	return path


def steps_done(ninja, log):
	"""Return the progress of the process @ninja as text: from its @log the number of steps done, and the step that
	has run longest."""
	done = re.findall(r'^\[(\d+)/(\d+)\]', log.read_text(errors='replace'), re.MULTILINE)
	texts = []
	if done:
		number, of = map(int, done[-1])
		texts.append(f'{number} of {of} steps done ({100 * number // of} %)')
	for seconds, words in processes.children(ninja)[:1]:
		if seconds >= _LONG_STEP and '-o' in words[:-1]:
			texts.append(f'{seconds:.0f} s on {words[words.index("-o") + 1].removesuffix(".o")}')
	return ', '.join(texts)


def alone(progress):
	"""Hold the lock of the build directory while the body of the with statement runs: two ninjas in one directory would
	compile the same files at the same time."""
	return locks.held(build_dir() / 'scripts.lock', progress, 'waiting for another run in this clone')


def _run(argv, name, progress, environment=None, **how):
	with alone(progress):
		_run_alone(argv, name, progress, environment, **how)


def _run_alone(argv, name, progress, environment, **how):
	log = build_dir() / f'{name}.log'
	if processes.run_logged(argv, log, progress, cwd=ROOT, env={**(environment or {}), **_environment()}, **how) != 0:
		space.check(log)
		text = log.read_text(errors='replace').splitlines()
		start = next((index for index, line in enumerate(text) if 'FAILED:' in line or 'ERROR:' in line), 0)
		print('\n'.join(text[start:start + 40]), flush=True)
		raise DoesNotCompile(f'the project does not {name}; log: {log}')


def configure(progress=lambda text: None, tests=False):
	"""Configure the build directory unless it is configured. With CI=true in the environment, warnings are errors.

	Without @tests, tests are built only if their packages are installed. With @tests, plug-ins and
	modules are linked with libraries of the suite tree (packages of a newer Debian) if it is there.
	"""
	build = build_dir()
	wanted = {'werror': 'true'} if os.environ.get('CI') == 'true' else {}
	if tests:
		wanted['tests'] = 'enabled'
	if tests and suite_tree.path().is_dir():
		wanted['suite_tree'] = str(suite_tree.path())
	options = [f'-D{name}={value}' for name, value in wanted.items()]
	if not (build / 'build.ninja').is_file():
		with alone(progress):
			# Another run may have configured it while this one waited.
			if not (build / 'build.ninja').is_file():
				progress('configuring')
				_run([_tool('meson'), 'setup', *options, build, ROOT], 'configure', progress, _linker())
	if options and not wanted.items() <= _options().items():
		# Packages may have been installed since the last configuration, so Meson looks again for those that
		# it did not find.
		_run([_tool('meson'), 'configure', '--clearcache', *options, build], 'configure', progress)


def look_again(progress=lambda text: None):
	"""If the build directory is configured, make Meson look again for packages that it did not find before, so that
	the user's next build uses packages that were installed since."""
	build = build_dir()
	if (build / 'build.ninja').is_file():
		progress('configuring again')
		_run([_tool('meson'), 'configure', '--clearcache', build], 'configure', progress)
		_run([_tool('meson'), 'setup', '--reconfigure', build, ROOT], 'configure', progress)


def _options():
	return {option['name']: _text(option['value']) for option in _introspect('buildoptions')}


def _text(value):
	return str(value).lower() if isinstance(value, bool) else value


def build(progress=lambda text: None, targets=None, tests=False):
	"""Build @targets, paths in the build directory or None for all, unless they are up to date.

	@tests: whether tests are among the targets.
	"""
	configure(progress, tests=tests or targets is None)
	if targets == []:
		return
	ninja = [_tool('ninja'), '-C', str(build_dir()), *(targets or [])]
	pending = subprocess.run([*ninja, '-n'], capture_output=True, text=True, env=_environment())
	if pending.returncode == 0 and 'no work to do' in pending.stdout:
		return
	progress('compiling')
	_run(ninja, 'compile', progress, every=_SECONDS_BETWEEN_LINES, describe=steps_done)


def suite_module(progress, target):
	"""Build the module @target with libraries of the suite tree (packages of a newer Debian); returns its path. The
	module has a build directory of its own: in the user's build directory, programs of this system would find the
	module and could not load it."""
	folder = build_dir() / suite_tree.path().name
	if not (folder / 'build.ninja').is_file():
		progress('configuring for the suite tree')
		options = [f'-Dsuite_tree={suite_tree.path()}', '-Dtests=disabled', '-Dpython=disabled']
		_run([_tool('meson'), 'setup', *options, folder, ROOT], 'configure', progress, _linker())
	_run([_tool('ninja'), '-C', folder, target], 'compile', progress)
	return folder / target


def build_programs(progress, is_wanted):
	"""Build the programs whose name makes @is_wanted(name) true, and all programs that were built before, so that
	none is out of date. Tests do not count as programs."""
	configure_anew(progress)
	build(progress, [path for path in programs() if is_wanted(Path(path).name) or (build_dir() / path).is_file()])


def configure_anew(progress=lambda text: None, tests=False):
	"""Configure the build directory, and again if a meson.build has changed since, so that tests() and programs()
	are up to date."""
	configure(progress, tests)
	_run([_tool('ninja'), '-C', str(build_dir()), 'build.ninja'], 'configure', progress)


def programs():
	"""Return the ninja targets of the installed programs (so not those of tests)."""
	targets = _introspect('targets')
	return [os.path.relpath(target['filename'][0], build_dir()) for target in targets
		if target['type'] == 'executable' and target['installed']]


def _introspect(what):
	"""Return what Meson wrote about @what ("tests", "targets", ...) when it configured the build directory."""
	return json.loads((build_dir() / 'meson-info' / f'intro-{what}.json').read_text())


def generate(progress=lambda text: None):
	"""Make the generated headers, and nothing else."""
	configure(progress)
	_run([_tool('ninja'), '-C', build_dir(), *(f'include/nvdla/hw/{name}' for name in _HEADERS)],
	     'compile', progress)


def tests():
	"""Return Meson's tests: a list of {name, suite, ...}."""
	return _introspect('tests')


def targets_of(names):
	"""Return the targets that the Meson tests @names need; None stands for all targets, which a test that installs
	the project needs."""
	wanted = [test for test in tests() if test['name'] in names]
	if any(suite.endswith('install') for test in wanted for suite in test['suite']):
		return None
	files = {target['id']: target['filename'] for target in _introspect('targets')}
	return sorted({os.path.relpath(name, build_dir()) for test in wanted for target in test['depends'] for name in files[target]})


def needed_by(program):
	"""Return absolute paths of the built files that the tests of @program need in addition to this program."""
	files = {target['id']: [Path(name) for name in target['filename']] for target in _introspect('targets')}
	wanted = {path for test in tests() if str(program) in (str(build_dir() / word) for word in test['cmd'])
		  for target in test['depends'] for path in files[target]}
	return sorted(wanted - {program})


def run_tests(names, environment, progress):
	"""Run the Meson tests @names, which leave their results in meson-logs/. Time limits are longer on a slow
	machine."""
	for stale in (build_dir() / 'meson-logs').glob('testlog*'):
		stale.unlink()
	log = build_dir() / 'tests.log'
	processes.run_logged([_tool('meson'), 'test', '-C', build_dir(), '--no-rebuild', '--print-errorlogs',
			      '--timeout-multiplier', f'{pace.slowness():.1f}', *names], log, progress, cwd=ROOT,
			     env=dict(_environment(), **environment))
	return log
