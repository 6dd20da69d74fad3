#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Mesa's test_teflon on the TensorFlow Lite delegate, with the device model in its process.

Mesa's tests compare single operators and the layers of three models with and without a delegate. Debian's source package
of Mesa has them; they are built in the cache, outside the sources. Tests that fail have to be those of teflon.txt, and the
delegate has to take all nodes of all others but those that are listed there as well.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'scripts/lib'))
from stack import archive, console, guest_tree, suite_tree
from stack.console import Failure
from stack.paths import ROOT, cache_dir

_BUILD = Path(os.environ.get('NVDLA_BUILD_DIR', ROOT / 'build'))
_DELEGATE = _BUILD / 'umd/frameworks/tflite/libnvdla_tflite.so'
_TESTS = 'src/gallium/targets/teflon'
_SPACE = 1 << 30
# Random numbers for the tests: headers only.
_HEADERS = ['libxtensor-dev', 'xtl-dev']


def _run(words, folder):
	done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False)
	if done.returncode:
		raise Failure(f'{words[0]} fails: {done.stderr.strip()[-2000:]}')


def _fetch(folder, progress):
	"""Fill @folder with Mesa's tests and the headers that they need."""
	progress('downloading the source package of Mesa')
	with archive.opened((guest_tree.SUITE,), progress) as packages:
		for package in packages.download(_HEADERS, folder, progress):
			_run(['dpkg', '-x', package, folder], folder)
		packages.download_source('mesa', folder, progress)
	source = next(folder.glob('mesa_*.orig.tar.*'))
	_run(['tar', 'xf', source, '--strip-components=1', '--wildcards', f'*/{_TESTS}', '*/src/util/macros.h'], folder)


def _build(folder, progress):
	progress('building test_teflon')
	tree = suite_tree.ensure(progress)
	tests = folder / _TESTS
	_run(['flatc', '--cpp', '--cpp-ptr-type', 'std::shared_ptr', '--gen-object-api', '-o', folder,
	      next(tests.glob('tflite-schema-*.fbs'))], folder)
	library = next(tree.glob('usr/lib/*/libtensorflow-lite.so'))
	_run(['c++', '-std=c++17', '-O1', '-w', f'-I{folder}', f'-I{folder}/src', f'-I{folder}/usr/include',
	      f'-I{tree}/headers', tests / 'test_teflon.cpp', tests / 'test_executor.cpp', '-o', 'test_teflon',
	      '-lgtest', '-lgtest_main', '-ldl', library, '-Wl,--allow-shlib-undefined'], folder)


def _ensure(progress):
	"""The folder with test_teflon and its models, made unless it is there."""
	folder = cache_dir() / 'teflon'
	with guest_tree.locked('teflon', progress):
		if folder.is_dir():
			return folder
		guest_tree.require_space(_SPACE, 'Mesa\'s tests')
		partial = folder.with_name('teflon.incomplete')
		shutil.rmtree(partial, ignore_errors=True)
		partial.mkdir()
		_fetch(partial, progress)
		_build(partial, progress)
		partial.rename(folder)
	return folder


def _expected():
	"""What the list has: {test: reason} for tests that fail, and for those of which nodes are left."""
	known = {'fails': {}, 'leaves': {}}
	for line in (Path(__file__).parent / 'teflon.txt').read_text().splitlines():
		if line and not line.startswith('#'):
			test, kind, reason = line.split(' ', 2)
			known[kind][test] = reason
	return known


def _taken(said):
	"""{test: (nodes taken, nodes)} of what test_teflon printed."""
	taken, test = {}, None
	for line in said.splitlines():
		if found := re.match(r'\[ RUN +\] (\S+)', line):
			test = found[1]
		elif found := re.match(r'nvdla: takes (\d+) of (\d+) nodes', line):
			taken[test] = (int(found[1]), int(found[2]))
	return taken


def _failed(results):
	return {f'{suite["name"]}.{test["name"]}' for suite in json.loads(results.read_text())['testsuites']
		for test in suite['testsuite'] if test.get('failures')}


def _judge(taken, failed, ran):
	"""Lines about what differs from the list, of the tests that @ran."""
	known = _expected()
	left = {test for test in ran if taken.get(test, (0, 1))[0] < taken.get(test, (0, 1))[1]}
	for kind, found in ('fails', failed), ('leaves', left):
		for test in sorted(found - known[kind].keys()):
			yield f'{test} {kind}: {taken.get(test, "nothing")} taken; it is not in teflon.txt'
		for test in sorted((known[kind].keys() & ran) - found):
			yield f'{test} is in teflon.txt as one that {kind}, and does not: take it out'


def main():
	"""Run what is chosen, compare with the list."""
	parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
	parser.add_argument('--filter', default='*', help='run only the tests that match this pattern of gtest\n'
			    '(default: all, which takes some minutes)')
	arguments = parser.parse_args()
	with console.stage('test_teflon') as progress:
		folder = _ensure(progress)
	if not _DELEGATE.is_file():
		raise Failure(f'{_DELEGATE} is missing: ninja -C {_BUILD} {_DELEGATE.relative_to(_BUILD)}, with the suite tree')
	shim = folder / 'embedded_delegate.so'
	_run(['cc', '-shared', '-fPIC', '-o', shim, Path(__file__).parent / 'embedded_delegate.c', '-ldl'], folder)
	results = folder / 'results.json'
	environment = dict(os.environ, TEFLON_TEST_DATA=str(folder / _TESTS / 'tests'), TEFLON_TEST_DELEGATE=str(shim),
			   NVDLA_TFLITE=str(_DELEGATE))
	run = subprocess.run(suite_tree.loader_command(folder / 'test_teflon', f'--gtest_filter={arguments.filter}',
						       f'--gtest_output=json:{results}'),
			     env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
	taken = _taken(run.stdout)
	ended = re.findall(r'^\[ +(?:OK|FAILED) +\] (\S+?),? .*\(\d+ ms\)$', run.stdout, re.MULTILINE)
	if run.returncode not in (0, 1) or not ended:
		raise Failure(f'test_teflon ends with {run.returncode}: {run.stdout[-2000:]}')
	failed = _failed(results)
	wrong = list(_judge(taken, failed, set(ended)))
	whole = sum(a == b for a, b in taken.values())
	print('\n'.join(wrong + [f'{len(ended)} tests, {len(ended) - len(failed)} passed; of {whole} the device took all nodes']))
	return 1 if wrong else 0


if __name__ == '__main__':
	sys.exit(console.run_program(main))
